"""Losses by datasets: the main figure of each dataset side by side, and the same for every other metric."""

from collections.abc import Mapping

from benchmark.findings.about_losses import AboutLoss
from benchmark.findings.findings import PRIMARY, Finding, Findings
from benchmark.metrics import MetricColumn
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import BEST, TIED, Column, Row, Table, Value, with_error
from benchmark.tables.model import NOTHING
from benchmark.text import counted

PLUS_MINUS = "± is half of the 95 % interval"
PAIRED = (
    "Losses are tested in pairs, by the same seeds and test identities, and corrected for the number of pairs: "
    "two can differ significantly although their intervals overlap."
)
Losses = Mapping[str, AboutLoss]


def leaderboard(findings: Findings, losses: Losses) -> Table:
    """The table to look at first."""
    return _by_dataset(
        findings,
        losses,
        PRIMARY,
        findings.figures,
        name="table",
        title="Main figure of each dataset",
        caption="Classification accuracy where the test classes are the training "
        "classes (closed), verification accuracy where they are not (open).",
    )


def by_metric(findings: Findings, losses: Losses, column: MetricColumn) -> Table:
    """The same for one metric."""
    with_it = findings.results.groupby("dataset")[column.key].count()
    datasets = {str(name): column for name in sorted(with_it.index) if with_it[name] > 0}
    meaning = f"{column.meaning[0].upper()}{column.meaning[1:]}"
    return _by_dataset(
        findings,
        losses,
        column.key,
        datasets,
        name=column.slug,
        title=column.heading,
        caption=f"{meaning}. {column.better.capitalize()} is better.",
    )


def _by_dataset(
    findings: Findings,
    losses: Losses,
    key: str,
    datasets: Mapping[str, MetricColumn],
    name: str,
    title: str,
    caption: str,
) -> Table:
    shown = dict(datasets)
    one_metric = {column.key: column for column in datasets.values()}
    if len(datasets) > 1 and len(one_metric) == 1:
        shown[ALL_DATASETS] = next(iter(one_metric.values()))
    lower = any(column.lower_is_better for column in datasets.values())
    found = findings.of(key, lower)
    ranks = findings.ranks(key, lower)
    places = {str(loss): float(place) for loss, place in ranks.average.dropna().items()}
    order = sorted(losses, key=lambda loss: (places.get(loss, float("inf")), loss))
    columns = [Column("Loss", numeric=False, name="loss")]
    columns += [
        Column(_heading(one, column, key == PRIMARY), column.meaning, tags={"dataset": one})
        for one, column in shown.items()
    ]
    columns += [
        Column("Average rank" if len(datasets) > 1 else "Rank", "1 is the best; equal means share their ranks"),
        Column("Family", "what the loss changes", numeric=False, secondary=True),
        Column("Settings", "hyper-parameters, given or by default", numeric=False, secondary=True),
    ]
    rows = [
        Row(
            (
                Value(loss),
                *(entry_of(found.get((loss, one)), column, len(order)) for one, column in shown.items()),
                with_error(places.get(loss), decimals=1),
                Value(losses[loss].family),
                Value(losses[loss].settings or NOTHING),
            ),
            tags={"loss": loss, "family": losses[loss].family},
        )
        for loss in order
    ]
    notes = (what_the_interval_carries(found, list(datasets)), PAIRED, *_unranked(ranks.left_out))
    return Table(name, title, tuple(columns), tuple(rows), caption, tuple(note for note in notes if note))


def _heading(dataset: str, column: MetricColumn, with_metric: bool) -> str:
    if with_metric:
        return f"{dataset}: {column.title.lower()}"
    return f"{dataset}, {column.unit}" if column.unit else dataset


def entry_of(finding: Finding | None, column: MetricColumn, losses: int) -> Value:
    """Mean ± half of the interval, marked where there is something to compare it with."""
    if finding is None or finding.mean is None:
        return without_value(finding)
    mark = "" if losses < 2 or column.better == "neither" else BEST if finding.best else TIED if finding.tied else ""
    half = None if finding.half_width is None else column.factor * finding.half_width
    return with_error(column.factor * finding.mean, half, column.decimals, mark, note_on(finding))


def without_value(finding: Finding | None) -> Value:
    if finding is None:
        return Value(NOTHING, note="not run")
    if finding.diverged and finding.dataset != ALL_DATASETS:
        return Value("diverged", note=f"{counted(finding.diverged, 'run')} of {finding.runs} diverged")
    return Value(NOTHING)


def note_on(finding: Finding) -> str:
    """What a reader must know about a mean that is not over all runs."""
    if not finding.diverged or finding.dataset == ALL_DATASETS:
        return ""
    return f"{finding.diverged} of {finding.runs} runs diverged; the mean is over the others"


def what_the_interval_carries(found: Mapping[tuple[str, str], Finding], datasets: list[str]) -> str:
    """`± is half of the 95 % interval over 5 seeds; on digits it carries the seeds, on glyphs …`."""
    carried: dict[str, list[str]] = {}
    for dataset in datasets:
        kinds = sorted({one.carries for (_, name), one in found.items() if name == dataset and one.carries})
        carried.setdefault(" or ".join(f"the {kind}" for kind in kinds), []).append(dataset)
    parts = [f"on {', '.join(names)} it carries {kinds}" for kinds, names in carried.items() if kinds]
    without = carried.get("", [])
    if not parts:
        return "There is no interval: one needs two seeds."
    parts += [f"on {', '.join(without)} there is none (one seed)"] if without else []
    return f"{PLUS_MINUS}; {', '.join(parts)}."


def _unranked(left_out: Mapping[str, str]) -> list[str]:
    return [f"Ranks leave out {dataset} ({reason})." for dataset, reason in left_out.items()]
