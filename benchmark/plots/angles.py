"""Histograms of angles: to the own class and to the nearest other one, or within same and different pairs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from benchmark import metrics
from benchmark.metrics._inputs import unit_rows
from benchmark.plots import EACH_APART, Arrays, Context, Drawn, Floats, Picture, Skipped, file_name, plot
from benchmark.plots._style import BETTER, SMALL, WORSE, loss_panels, styled
from benchmark.text import counted

BINS = [3.0 * step for step in range(61)]
KINDS = {"closed": ("own class", "nearest other class"), "open": ("pairs of one identity", "pairs of two identities")}


@dataclass(frozen=True)
class Angles:
    """Degrees: to the own class and to the nearest other one, or within pairs of one and of two identities."""

    own: Floats
    other: Floats


@plot("Angles", "geometry", place=1, most_losses=EACH_APART)
def draw(context: Context) -> Drawn:
    for dataset in context.datasets:
        name, title = file_name("angles", dataset), f"Angles, {dataset}"
        stored = {loss: _read(context, dataset, loss) for loss in context.losses}
        closed = any("test/logits" in run for runs in stored.values() for run in runs)
        measure = to_classes if closed else within_pairs
        by_seed = {loss: [measure(run) for run in runs] for loss, runs in stored.items() if runs}
        pooled = {
            loss: Angles(np.concatenate([one.own for one in seeds]), np.concatenate([one.other for one in seeds]))
            for loss, seeds in by_seed.items()
        }
        found = {loss: angles for loss, angles in pooled.items() if len(angles.own) and len(angles.other)}
        if not found:
            yield Skipped(name, title, "no run has test embeddings; every run diverged or is missing", "geometry")
            continue
        protocol = "closed" if closed else "open"
        seeds = max(len(runs) for runs in stored.values())
        words = caption(protocol, seeds) + context.without_a_run(dataset)
        yield Picture(name, title, words, figure(found, protocol), "geometry", finding(found, protocol))


def _read(context: Context, dataset: str, loss: str) -> list[Arrays]:
    names = ("test/embeddings", "test/labels", "test/pairs", "test/same", "test/logits", "weight")
    runs = [run.arrays(*names) for _, run in context.runs(dataset, loss)]
    return [run for run in runs if "test/embeddings" in run]


def to_classes(run: Arrays) -> Angles:
    """Closed sets: of every test embedding, the angle to its class's weight and to the nearest other weight."""
    unit, has_direction = unit_rows(run["test/embeddings"])
    weight, has_weight = unit_rows(run["weight"])
    labels = run["test/labels"].astype(np.int64)
    cosines = unit @ weight.T
    cosines[:, ~has_weight] = -np.inf
    rows = np.arange(len(labels))
    own = cosines[rows, labels].copy()
    cosines[rows, labels] = -np.inf
    nearest = cosines.max(axis=1)
    kept = has_direction & np.isfinite(own) & np.isfinite(nearest)
    return Angles(_degrees(own[kept]), _degrees(nearest[kept]))


def within_pairs(run: Arrays) -> Angles:
    """Open sets: test identities have no weights, so the angle between the two embeddings of every test pair."""
    scores, scored = metrics.pair_scores(run["test/embeddings"], run["test/pairs"])
    same = run["test/same"].astype(bool)
    return Angles(_degrees(scores[scored & same]), _degrees(scores[scored & ~same]))


def _degrees(cosines: Floats) -> Floats:
    angles: Floats = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
    return angles


@styled
def figure(found: Mapping[str, Angles], protocol: str) -> Figure:
    """A panel for each loss; the two histograms have the same area."""
    drawn, axes = loss_panels(found, 1.45, sharex=True, sharey=True)
    last = max(float(np.max([angles.own.max(), angles.other.max()])) for angles in found.values())
    for loss, panel in axes.items():
        angles = found[loss]
        panel.hist(angles.own, BINS, density=True, histtype="stepfilled", color=BETTER, alpha=0.75)
        panel.hist(angles.other, BINS, density=True, histtype="step", color=WORSE, linewidth=1.3)
        medians = f"medians {np.median(angles.own):.0f}° | {np.median(angles.other):.0f}°"
        panel.set_title(f"{panel.get_title()}\n{medians}", fontsize=8)
        panel.set(yticks=[], xlim=(0.0, min(180.0, 15.0 * np.ceil(last / 15.0))))
        panel.grid(axis="y", visible=False)
        panel.spines["left"].set_visible(False)
        panel.xaxis.set_major_locator(MultipleLocator(30))
    drawn.supxlabel("angle, degrees")
    own, other = KINDS[protocol]
    handles = [Patch(color=BETTER, alpha=0.75, label=own), Line2D([], [], color=WORSE, label=other)]
    drawn.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=SMALL)
    return drawn


def caption(protocol: str, seeds: int) -> str:
    """How to read the picture."""
    what = (
        "Angle of every test embedding to the weight of its own class and to that of the nearest other class"
        if protocol == "closed"
        else "Angle between the two embeddings of every test pair (test identities do not occur in training and have "
        "no class weights)"
    )
    return (
        f"{what}, {counted(seeds, 'seed')} together. The less the two histograms overlap, the better one threshold "
        "separates them. The medians stand above each panel."
    )


def finding(found: Mapping[str, Angles], protocol: str) -> str:
    """The losses whose two medians are farthest from each other and nearest to each other."""
    medians = {loss: (float(np.median(one.own)), float(np.median(one.other))) for loss, one in found.items()}
    ranked = sorted(medians, key=lambda loss: medians[loss][1] - medians[loss][0])
    shown = [f"{loss} ({medians[loss][0]:.0f}° and {medians[loss][1]:.0f}°)" for loss in (ranked[-1], ranked[0])]
    own, other = KINDS[protocol]
    what = f"The medians of {own} and {other}"
    if len(ranked) == 1:
        return f"{what} of {shown[0]}."
    return f"{what} are farthest from each other for {shown[0]} and nearest for {shown[1]}."
