"""The two curves of a loss over the angle, as SVG for the light and for the dark theme."""

import io
from collections.abc import Mapping

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import losses
from benchmark.plots.loss_shapes import ANGLES, Shape, measure

CLASSES, DIM = 100, 64
INK, LOSS, BASELINE = "#333333", "#0068b5", "#8a8a8a"
THEMES = {"light": {}, "dark": {INK: "#d0d0d0", LOSS: "#5ab0f5", BASELINE: "#9a9a9a"}}
"""Which colours of the light theme another theme replaces."""
QUANTITIES = {"logit": "target logit − logit of the others", "pull": "gradient ∂L/∂θ, per radian"}


def shapes_of(name: str) -> dict[str, Shape]:
    """The loss with its defaults, and normface at the same scale where there is one."""
    head = losses.create(name, num_classes=CLASSES, dim=DIM)
    scale = getattr(head, "s", 1.0)
    found = {name: measure(head)}
    if name != "normface" and head.is_cross_entropy and head.scale_on == "cosine":
        found["normface"] = measure(losses.create("normface", num_classes=CLASSES, dim=DIM, s=float(scale)))
    return found


def draw(shapes: Mapping[str, Shape]) -> dict[tuple[str, str], bytes]:
    """An SVG for each quantity that the loss has and each theme. Narrow pictures can stand below each other."""
    loss = next(iter(shapes.values()))
    drawn = {key: _draw(shapes, key) for key in QUANTITIES if getattr(loss, key) is not None}
    return {(key, theme): _recoloured(drawn[key], THEMES[theme]) for key in drawn for theme in THEMES}


def _recoloured(picture: str, colours: Mapping[str, str]) -> bytes:
    for old, new in colours.items():
        picture = picture.replace(old, new)
    return picture.encode()


def _draw(shapes: Mapping[str, Shape], quantity: str) -> str:
    figure = Figure(figsize=(3.7, 2.8), layout="constrained")
    axes = figure.subplots()
    for place, (name, shape) in enumerate(shapes.items()):
        colour, dashes, width = (BASELINE, "--", 1.2) if place else (LOSS, "-", 2.0)
        values = getattr(shape, quantity)
        axes.plot(np.degrees(ANGLES), values, color=colour, linestyle=dashes, linewidth=width, label=name)
    axes.set(xlim=(0, 180), xticks=range(0, 181, 30), xlabel="angle θ, degrees", ylabel=QUANTITIES[quantity])
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=INK, fontsize=9)
    if len(shapes) > 1:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    file = io.StringIO()
    with rc_context({"svg.hashsalt": "marginbench"}):  # the same picture is the same bytes
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()


def words(shape: Shape) -> dict[str, str]:
    """What each picture shows, for those who cannot see it: the ends of the logit, the peak of the gradient."""
    said = {}
    if shape.logit is not None:
        known = shape.logit[np.isfinite(shape.logit)]
        said["logit"] = f"Target logit over the angle: {known[0]:.3g} at 0°, {known[-1]:.3g} at 180°"
    steepest = int(np.nanargmax(np.abs(shape.pull)))
    said["pull"] = (
        f"Gradient over the angle: at most {shape.pull[steepest]:.3g}, at {np.degrees(ANGLES[steepest]):.0f}°"
    )
    return said
