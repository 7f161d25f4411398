"""What a loss asks for: its target logit and its pull, over the angle between an embedding and its class."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from torch import Tensor

import losses
from benchmark.plots import EACH_APART, Arrays, Context, Drawn, Floats, Look, Picture, Skipped, file_name, plot
from benchmark.plots._histories import last_row
from benchmark.plots._style import GREY, SMALL, loss_panels, short, styled
from benchmark.store import Run
from benchmark.text import listed, number
from benchmark.training.history import COLUMNS

ANGLES = np.linspace(1e-3, math.pi - 1e-3, 61)  # at 0 and π themselves a slope by θ means nothing
CLIPPED_BEYOND = 4.0  # times the median loss's largest value: one huge scale does not flatten all other panels
SATURATED = 1e-12  # from a cross-entropy below this, its logit can no longer be computed


@dataclass(frozen=True)
class Shape:
    """Of one loss, at ANGLES."""

    logit: Floats | None  # the target's logit less that of the others; None: the loss is not a cross-entropy
    pull: Floats  # the loss's slope over θ, per radian


@plot("Target logits and gradients", "losses", place=1, most_losses=EACH_APART)
def draw(context: Context) -> Drawn:
    for dataset in context.datasets:
        names = file_name("target-logits", dataset), file_name("pulls", dataset)
        titles = f"Target logits, {dataset}", f"Gradients, {dataset}"
        shapes = {loss: of_run(run) for loss, _, run in context.first_runs(dataset)}
        with_logit = {loss: shape for loss, shape in shapes.items() if shape.logit is not None}
        for name, title, shown, quantity in zip(names, titles, (with_logit, shapes), ("logit", "pull"), strict=True):
            if not shown:
                yield Skipped(name, title, "every run diverged, or its loss cannot be drawn", "losses")
                continue
            words = caption(quantity, context.first_seeds(dataset)) + context.without_a_run(dataset)
            without = [loss for loss in shapes if loss not in shown]
            words += f" Not a softmax, so without a target logit: {listed(without)}." if without else ""
            drawn = figure(shown, quantity, context.baseline, context.looks)
            yield Picture(name, title, words, drawn, "losses", finding(shown, quantity))


def of_run(run: Run) -> Shape:
    """A loss with a run's settings, its adapted numbers, and the median lengths of embeddings and weights."""
    cell, arrays = run.cell["cell"], run.arrays("weight", "test/embeddings")
    classes = len(arrays["weight"])
    head = losses.create(cell["loss"], num_classes=classes, dim=max(3, cell["dim"]), **cell["hyper"])
    take_state(head, last_row(run))
    return measure(head, _usual_length(arrays, "test/embeddings"), _usual_length(arrays, "weight"))


def _usual_length(arrays: Arrays, name: str) -> float:
    lengths = np.linalg.norm(arrays[name].astype(np.float64), axis=1) if name in arrays else np.ones(1)
    return float(np.median(lengths)) or 1.0


def take_state(head: losses.Head, row: Mapping[str, float]) -> None:
    """Gives a head the numbers that a history's row holds, under the names that the history has for them."""
    for name, buffer in head.named_buffers():
        if not buffer.is_floating_point():
            continue
        value = row.get(COLUMNS.get(name, name)) if buffer.ndim == 0 else row.get(f"{name}_mean")
        if value is not None and math.isfinite(value) and buffer.shape in ((), (head.num_classes,)):
            buffer.fill_(value)


def measure(head: losses.Head, length: float = 1.0, weight_length: float = 1.0) -> Shape:
    """The head as it is, on embeddings that turn from their own class's weight to its opposite while they stay at
    right angles to all other weights."""
    head.double().train()
    head.update_state = lambda batch: None  # type: ignore[method-assign]
    directions = torch.eye(3, head.dim, dtype=torch.float64)  # of the own class, of all others, and the way between
    weight = weight_length * directions[[0] + [1] * (head.num_classes - 1)]
    with torch.no_grad():
        for parameter in head.parameters():
            if parameter.ndim > 1 and parameter.shape[0] == head.num_classes and parameter.shape[-1] == head.dim:
                parameter.copy_(weight.view(head.num_classes, *[1] * (parameter.ndim - 2), head.dim))
    points = [_at(head, float(angle), length * directions) for angle in ANGLES]
    logits, pulls = (np.array(values, dtype=np.float64) for values in zip(*points, strict=True))
    return Shape(logits if head.is_cross_entropy else None, pulls)


def _at(head: losses.Head, angle: float, directions: Tensor) -> tuple[float, float]:
    """Target logit and slope at one angle."""
    theta = torch.tensor(angle, dtype=torch.float64, requires_grad=True)
    embedding = (theta.cos() * directions[0] + theta.sin() * directions[2])[None]
    label, index = torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)
    head.generator.manual_seed(0)
    loss = head(embedding, label, index=index)
    (slope,) = torch.autograd.grad(loss, theta)
    with torch.no_grad():
        if isinstance(head, losses.CosineHead):
            return _logit_of(head, losses.Batch(embedding.detach(), label, index, head.weight.detach())), float(slope)
        return _logit_from(float(loss), head.num_classes), float(slope)


def _logit_of(head: losses.CosineHead, batch: losses.Batch) -> float:
    """What the loss puts in the place of the target's cosine less what it puts in the place of the others', scaled."""
    head.generator.manual_seed(0)
    cosines, cosine = head.cosines(batch)
    target = head.target_value(cosine, batch)
    others = head.negative_values(cosines, target, batch)[:, 1]
    return float(torch.as_tensor(head.scale(batch.embeddings)) * (target - others))


def _logit_from(loss: float, classes: int) -> float:
    """The logit by which the target is above C − 1 equal others when the cross-entropy is `loss`."""
    return math.log(classes - 1) - math.log(math.expm1(loss)) if SATURATED < loss < 700.0 else math.nan


@styled
def figure(shapes: Mapping[str, Shape], quantity: str, baseline: str, looks: Mapping[str, Look]) -> Figure:
    """A panel for each loss, with the baseline dashed; `quantity` is "logit" or "pull"."""
    shown = [loss for loss in shapes if loss != baseline or len(shapes) == 1]
    drawn, axes = loss_panels(shown, 1.6, sharex=True, sharey=True)
    degrees = np.degrees(ANGLES)
    ends = _limits([getattr(shape, quantity) for shape in shapes.values()])
    for loss, panel in axes.items():
        if baseline in shapes and loss != baseline:
            panel.plot(degrees, getattr(shapes[baseline], quantity), color=looks[baseline].colour, linestyle="--", lw=1)
        panel.plot(degrees, getattr(shapes[loss], quantity), color=looks[loss].colour, linewidth=1.8)
        panel.axhline(0.0, color=GREY, linewidth=0.6)
        _say_what_is_outside(panel, getattr(shapes[loss], quantity), ends)
        panel.set(xlim=(0, 180), ylim=ends)
        panel.xaxis.set_major_locator(MultipleLocator(60))
    drawn.supxlabel("angle θ between the embedding and its class's weight, degrees")
    drawn.supylabel("target logit − others' logit" if quantity == "logit" else "gradient ∂L/∂θ, per radian")
    if baseline in shapes and len(shapes) > 1:
        drawn.suptitle(f"in colour the loss, dashed {short(baseline)}", color=GREY, fontsize=9)
    return drawn


def _limits(curves: Sequence[Floats]) -> tuple[float, float]:
    """The ends of the axis that all panels share."""
    known = [curve[np.isfinite(curve)] for curve in curves]
    known = [curve for curve in known if len(curve)]
    if not known:
        return -1.0, 1.0
    low, high = min(float(curve.min()) for curve in known), max(float(curve.max()) for curve in known)
    most = CLIPPED_BEYOND * float(np.median([np.abs(curve).max() for curve in known])) or 1.0
    low, high = max(low, -most), min(high, most)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _say_what_is_outside(axes: Axes, curve: Floats, ends: tuple[float, float]) -> None:
    low, high = np.nanmin(curve, initial=ends[0]), np.nanmax(curve, initial=ends[1])
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    at: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "fontsize": SMALL, "bbox": paper}
    if high > ends[1]:
        axes.text(0.98, 0.95, f"up to {number(high, 0)}", va="top", **at)
    if low < ends[0]:
        axes.text(0.98, 0.05, f"down to {number(low, 0)}", va="bottom", **at)


def caption(quantity: str, seeds: str) -> str:
    """How to read the picture."""
    what = {
        "logit": "By how much the target's logit is above the others', over the angle θ.",
        "pull": "How hard the loss pulls an embedding towards its class, over the angle θ.",
    }[quantity]
    return (
        f"{what} Hyper-parameters are the experiment's; what a loss adapts, and the median lengths of embeddings and "
        f"weights, are as training left them, {seeds}. All other classes are at right angles to the embedding; a "
        "random margin is drawn once."
    )


def finding(shapes: Mapping[str, Shape], quantity: str) -> str:
    """The losses with the largest and the smallest peak."""
    curves = {loss: getattr(shape, quantity) for loss, shape in shapes.items()}
    peaks = {loss: float(np.nanmax(curve)) for loss, curve in curves.items() if not np.isnan(curve).all()}
    if not peaks:
        return ""
    ranked = sorted(peaks, key=lambda loss: peaks[loss])
    shown = [
        f"{loss} with {number(peaks[loss], 1)} at {np.degrees(ANGLES[int(np.nanargmax(curves[loss]))]):.0f}°"
        for loss in dict.fromkeys([ranked[-1], ranked[0]])
    ]
    what = {"logit": "target logit", "pull": "gradient"}[quantity]
    lowest = f", the smallest {shown[1]}" if len(shown) > 1 else ""
    return f"The largest {what} has {shown[0]}{lowest}."
