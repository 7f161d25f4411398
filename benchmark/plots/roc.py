"""ROC and DET curves: how often pairs of one identity are accepted, and rejected, at every false accept rate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from benchmark import metrics
from benchmark.plots import EACH_APART, Arrays, Context, Drawn, Floats, Picture, Skipped, file_name, plot
from benchmark.plots._style import GREY, PALE, Look, blank, loss_panels, short, styled
from benchmark.text import counted, number

POINTS = 90  # of a drawn curve
MIN_ERRORS = 10  # as for TAR at FAR: below so many the rate is a guess
SHOWN_FAR = 0.01  # named in words


@dataclass(frozen=True)
class Rates:
    """Seed by seed, the share of same pairs that is accepted at the same false accept rates."""

    far: Floats
    tar: Floats  # seeds × far
    lowest_frr: float = 0.0  # that so many same pairs can measure

    @property
    def frr(self) -> Floats:
        return 1.0 - self.tar

    def tar_at(self, far: float) -> float:
        """The mean over seeds at the nearest drawn rate."""
        return float(self.tar[:, np.abs(np.log(self.far / far)).argmin()].mean())


@plot("ROC and DET curves", "verification", place=1, most_losses=EACH_APART)
def draw(context: Context) -> Drawn:
    for dataset in context.datasets:
        found = {loss: rates for loss in context.losses if (rates := _of_loss(context, dataset, loss)) is not None}
        names = file_name("roc", dataset), file_name("det", dataset)
        titles = f"ROC curves, {dataset}", f"DET curves, {dataset}"
        if not found:
            reason = "no run has test pairs with a score; every run diverged or is missing"
            yield from (Skipped(*words, reason, "verification") for words in zip(names, titles, strict=True))
            continue
        best = context.best(dataset) or next(iter(found))
        words = caption(found) + context.without_a_run(dataset)
        seen = finding(found, context.baseline, best)
        drawn = roc_figure(found, context.baseline, best, context.looks)
        yield Picture(names[0], titles[0], words, drawn, "verification", seen)
        drawn = det_figure(found, context.baseline, context.looks)
        yield Picture(names[1], titles[1], f"A panel for each loss. {words}", drawn, "verification", seen)


def _of_loss(context: Context, dataset: str, loss: str) -> Rates | None:
    stored = [run.arrays("test/embeddings", "test/pairs", "test/same") for _, run in context.runs(dataset, loss)]
    return rates([arrays for arrays in stored if len(arrays) == 3])


def rates(runs: Sequence[Arrays]) -> Rates | None:
    """Of the runs of one loss. Curves are averaged at equal FAR, since two nets' scores share no threshold."""
    curves, measured = [], []
    for run in runs:
        scores, scored = metrics.pair_scores(run["test/embeddings"], run["test/pairs"])
        counts = metrics.score_counts(scores[scored], run["test/same"].astype(bool)[scored])
        if counts.measurable and counts.n_different > MIN_ERRORS:
            curves.append(metrics.curve(counts, max_points=len(counts.same)))
            measured.append((counts.n_same, counts.n_different))
    if not curves:
        return None
    same, different = np.min(measured, axis=0)
    lowest = np.log10(MIN_ERRORS / different)
    far = np.unique(np.r_[np.logspace(lowest, 0.0, POINTS), 10.0 ** np.arange(np.ceil(lowest), 1.0)])
    tar = [one.tar[np.searchsorted(one.far, far * (1 + 1e-9), "right") - 1] for one in curves]
    return Rates(far, np.array(tar), min(MIN_ERRORS / same, 1.0))


@styled
def roc_figure(found: Mapping[str, Rates], baseline: str, best: str, looks: Mapping[str, Look]) -> Figure:
    """All losses in grey, with the best and the baseline in front, each with the range of its seeds."""
    drawn = blank(6.5, 3.6)
    axes = drawn.subplots()
    in_front = [loss for loss in dict.fromkeys((best, baseline)) if loss in found]
    behind = [loss for loss in found if loss not in in_front]
    for number_of, loss in enumerate(behind):
        label = f"{counted(len(behind), 'other loss')}" if number_of == 0 else "_"
        axes.plot(found[loss].far, found[loss].tar.mean(axis=0), color=PALE, linewidth=1.0, label=label)
    for loss in in_front:
        role = " and ".join(word for word, is_so in (("best", loss == best), ("baseline", loss == baseline)) if is_so)
        _line(axes, found[loss], found[loss].tar, looks[loss], f"{short(loss)} ({role})", loss == baseline)
    lowest = min(float(rates.tar.mean(axis=0).min()) for rates in found.values())
    lowest = min(lowest, *(float(found[loss].tar.min()) for loss in in_front))
    room = 0.03 * (1.0 - lowest) or 0.01
    axes.set_ylim(lowest - room, 1.0 + room)
    _log_far(axes, found, 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(_hundredths))
    axes.set(xlabel="false accept rate, %", ylabel="same pairs accepted, %")
    axes.legend(loc="lower right")
    return drawn


@styled
def det_figure(found: Mapping[str, Rates], baseline: str, looks: Mapping[str, Look]) -> Figure:
    """A panel for each loss, with the baseline dashed and all others in grey for comparison."""
    lowest = max(
        min(float(rates.frr.min()) for rates in found.values()), 0.5 * min(rates.lowest_frr for rates in found.values())
    )
    last = max(float(rates.far[rates.frr.max(axis=0) >= lowest].max(initial=rates.far[0])) for rates in found.values())
    losses = [loss for loss in found if loss != baseline or len(found) == 1]
    drawn, axes = loss_panels(losses, 1.75, sharex=True, sharey=True)
    for loss, panel in axes.items():
        others = [found[other] for other in found if other not in (loss, baseline)]
        lines = [np.column_stack([one.far, _above_zero(one.frr.mean(axis=0))]) for one in others]
        panel.add_collection(LineCollection(lines, colors=PALE, linewidths=0.6, rasterized=True))
        if baseline in found and loss != baseline:
            _line(panel, found[baseline], found[baseline].frr, looks[baseline], "", True)
        _line(panel, found[loss], found[loss].frr, looks[loss], "", False)
        panel.set_yscale("log")
        _log_far(panel, found, last)
    first = next(iter(axes.values()))  # all panels share its axis
    highest = max(float(rates.frr.max()) for rates in found.values())
    first.set_ylim(lowest, min(1.3 * max(highest, 1.5 * lowest), 1.05))
    _log_marks(first.yaxis)
    drawn.supxlabel("false accept rate, %")
    drawn.supylabel("same pairs rejected, %")
    if baseline in found and len(found) > 1:
        drawn.suptitle(f"in colour the loss, dashed {short(baseline)}, in grey the others", color=GREY, fontsize=9)
    return drawn


def _line(axes: Axes, rates: Rates, values: Floats, look: Look, label: str, dashed: bool) -> None:
    mean = _above_zero(values.mean(axis=0))
    axes.plot(rates.far, mean, color=look.colour, linestyle="--" if dashed else "-", label=label or "_", zorder=3)
    if len(values) > 1:
        low, high = values.min(axis=0), values.max(axis=0)
        axes.fill_between(rates.far, low, high, color=look.colour, alpha=0.2, linewidth=0)


def _above_zero(values: Floats) -> Floats:
    """A rate of 0 has no place on a logarithmic axis."""
    return np.where(values > 0, values, np.nan)


def _log_far(axes: Axes, found: Mapping[str, Rates], last: float) -> None:
    first = min(float(rates.far[0]) for rates in found.values())
    axes.set_xscale("log")
    axes.set_xlim(first, max(last, 10.0 * first) if last < 1.0 else 1.0)
    _log_marks(axes.xaxis)


def _log_marks(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(10.0, numticks=6))
    axis.set_major_formatter(FuncFormatter(_hundredths))
    axis.set_minor_locator(NullLocator())


def _hundredths(value: float, _position: int | None = None) -> str:
    return f"{100 * value:.3g}"


def caption(found: Mapping[str, Rates]) -> str:
    """How to read the pictures."""
    seeds = max(len(rates.tar) for rates in found.values())
    band = f"; the band is the range of {counted(seeds, 'seed')}" if seeds > 1 else ""
    lowest = max(float(rates.far[0]) for rates in found.values())
    return (
        f"Each curve is the mean over the seeds at equal false accept rate{band}. Rates below {_hundredths(lowest)} % "
        f"rest on fewer than {MIN_ERRORS} false accepts and are not drawn."
    )


def finding(found: Mapping[str, Rates], baseline: str, best: str) -> str:
    """The best loss and the baseline at one false accept rate."""
    far = max(SHOWN_FAR, *(float(rates.far[0]) for rates in found.values()))
    shown = [
        f"{loss} ({role}) {number(100 * found[loss].tar_at(far), 1)} %"
        for role, loss in (("best", best), ("baseline", baseline))
        if loss in found
    ]
    return f"Same pairs accepted at a false accept rate of {_hundredths(far)} %: {', '.join(shown)}."
