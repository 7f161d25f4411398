"""Losses by datasets: the main metric of each dataset side by side, and the same for every other metric."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.findings.about_losses import AboutLoss
from benchmark.findings.findings import PRIMARY, Finding, Findings
from benchmark.metrics import MetricColumn
from benchmark.statistics import ALL_DATASETS, CARRIED
from benchmark.tables import BEST, TIED, Column, Row, Table, Value, with_error
from benchmark.tables.model import NOTHING
from benchmark.text import counted

PLUS_MINUS = "± is half of the 95 % interval"
PAIRED = (
    "Losses are compared in pairs, with the same seeds and test identities, and corrected for the number of pairs. Two "
    "losses can differ significantly even if their intervals overlap."
)
Losses = Mapping[str, AboutLoss]  # by label
Places = Mapping[str, float]  # by label: the average rank in a table; not every loss has one


@dataclass(frozen=True)
class LossColumn:
    """A column beside the metrics: a value for each loss, from its label."""

    column: Column
    value: Callable[[str], Value]


Beside = Callable[[Places], Sequence[LossColumn]]


def main_table(findings: Findings, losses: Losses, beside: Beside | None = None) -> Table:
    """The table to look at first. `beside` gives the columns after the metrics; by default rank and family."""
    caption = (
        "Classification accuracy if the test classes are the training classes (closed protocol), verification accuracy "
        "if they are not (open protocol)."
    )
    title = "Main metric of each dataset"
    return _by_dataset(findings, losses, PRIMARY, findings.main_columns, ("table", title, caption), beside)


def by_metric(findings: Findings, losses: Losses, column: MetricColumn, beside: Beside | None = None) -> Table:
    """The same for one metric."""
    with_it = findings.results.groupby("dataset")[column.key].count()
    datasets = {name: column for name in findings.datasets if with_it[name] > 0}
    caption = f"{column.meaning[0].upper()}{column.meaning[1:]}. {column.better.capitalize()} is better."
    return _by_dataset(findings, losses, column.key, datasets, (column.slug, column.heading, caption), beside)


def _by_dataset(
    findings: Findings,
    losses: Losses,
    key: str,
    datasets: Mapping[str, MetricColumn],
    words: tuple[str, str, str],  # name, title and caption
    beside: Beside | None,
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
    after = _usual(losses, len(datasets) > 1)(places) if beside is None else beside(places)
    columns = [Column("Loss", numeric=False, name="loss")]
    columns += [
        Column(_heading(one, column, key == PRIMARY), column.meaning, tags={"dataset": one})
        for one, column in shown.items()
    ]
    rows = [
        Row(
            (
                Value(loss),
                *(entry_of(found.get((loss, one)), column, len(order)) for one, column in shown.items()),
                *(one.value(loss) for one in after),
            ),
            tags={"loss": loss, "family": losses[loss].family},
        )
        for loss in order
    ]
    unranked = [f"The ranks do not include {dataset} ({reason})." for dataset, reason in ranks.left_out.items()]
    notes = (_what_intervals_carry(found, list(datasets)), PAIRED, *unranked)
    name, title, caption = words
    return Table(name, title, (*columns, *(one.column for one in after)), tuple(rows), caption, notes)


def _usual(losses: Losses, is_average: bool) -> Beside:
    rank = Column("Average rank" if is_average else "Rank", "1 is the best; losses with equal means share a rank")
    family = Column("Family", "what the loss changes", numeric=False, secondary=True)
    return lambda places: [
        LossColumn(rank, lambda loss: with_error(places.get(loss), decimals=1)),
        LossColumn(family, lambda loss: Value(losses[loss].family)),
    ]


def _heading(dataset: str, column: MetricColumn, with_metric: bool) -> str:
    if with_metric:
        return f"{dataset}: {column.title.lower()}"
    return f"{dataset}, {column.unit}" if column.unit else dataset


def entry_of(finding: Finding | None, column: MetricColumn, losses: int) -> Value:
    """Mean ± half of the interval, marked if there are several losses."""
    if finding is None or finding.mean is None:
        return _without_value(finding)
    mark = "" if losses < 2 or column.better == "neither" else BEST if finding.best else TIED if finding.tied else ""
    note = "" if finding.dataset == ALL_DATASETS else diverged_note(finding.diverged, finding.runs)
    half = None if finding.half_width is None else column.factor * finding.half_width
    return with_error(column.factor * finding.mean, half, column.decimals, mark, note)


def _without_value(finding: Finding | None) -> Value:
    if finding is None:
        return Value(NOTHING, note="not run")
    if finding.diverged and finding.dataset != ALL_DATASETS:
        return Value("diverged", note=f"{counted(finding.diverged, 'run')} of {finding.runs} diverged")
    return Value(NOTHING)


def diverged_note(diverged: int, runs: int) -> str:
    """A note for a mean that does not include all runs."""
    return f"{diverged} of {runs} runs diverged; the mean is over the others" if diverged else ""


def carried(found: Mapping[tuple[str, str], Finding], dataset: str) -> str:
    """`seeds and test identities`: the variation that the intervals on a dataset include; empty without intervals."""
    kinds = {one.carries for (_, name), one in found.items() if name == dataset and one.carries}
    return " or ".join(CARRIED[kind] for kind in sorted(kinds))


def _what_intervals_carry(found: Mapping[tuple[str, str], Finding], datasets: list[str]) -> str:
    """`± is half of the 95 % interval. It includes the variation over seeds (digits) and over …`."""
    kinds: dict[str, list[str]] = {}
    for dataset in datasets:
        kinds.setdefault(carried(found, dataset), []).append(dataset)
    without = kinds.pop("", [])
    parts = [f"over {kind} ({', '.join(names)})" for kind, names in kinds.items()]
    if not parts:
        return "There is no interval, because it needs two seeds."
    none = f" {', '.join(without)}: no interval, because it needs two seeds." if without else ""
    return f"{PLUS_MINUS}. It includes the variation {' and '.join(parts)}.{none}"


def settings_table(losses: Losses) -> Table:
    """The settings of every loss."""
    return Table(
        "settings",
        "Settings of each loss",
        (Column("Loss", numeric=False), Column("Settings", numeric=False)),
        tuple(
            Row((Value(loss), Value(losses[loss].settings or NOTHING)), tags={"loss": loss}) for loss in sorted(losses)
        ),
        "Hyper-parameters, as given or by default; lr is the learning rate where tuning chose it.",
    )
