"""What tuning chose and what it gained, as a table and in a sentence."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmark.metrics import MetricColumn, main_columns
from benchmark.tables import Column, Row, Table, Value
from benchmark.tables.model import with_error
from benchmark.text import counted, number, short
from benchmark.tuning.study import Progressing

COLUMNS = (
    Column("Dataset", numeric=False),
    Column("Loss", numeric=False),
    Column("Chosen", "settings and learning rate", numeric=False),
    Column("Trials", "that were tried"),
    Column("Before", "validation, with the experiment's own settings"),
    Column("After", "validation, with the chosen settings"),
    Column("Gain"),
)
OPTIMISTIC = (
    "Before, after and gain are means on the validation data that chose the settings, so the gain is optimistic. "
    "The run with --tuned measures it on test data."
)


def outcome_table(studies: Sequence[Progressing]) -> Table:
    """A row for each study."""
    metrics = sorted({_metric(study).title for study in studies})
    return Table(
        "tuned",
        "What tuning chose",
        COLUMNS,
        tuple(_row(study) for study in studies),
        f"Validation metric: {'; '.join(metrics)}.",
        (gained(studies), OPTIMISTIC),
    )


def gained(studies: Sequence[Progressing]) -> str:
    """`Tuning raised the validation metric of 2 of 3 rows, by 1.20 points on average. …`"""
    gains = [gain for study in studies if (gain := _gain(study)) is not None]
    raised = [gain for gain in gains if gain > 0]
    words = f"Tuning raised the validation metric of {len(raised)} of {counted(len(studies), 'row')}"
    words += f", by {number(fmean(raised))} points on average." if raised else "."
    if kept := len(gains) - len(raised):
        words += f" {counted(kept, 'row')} {'keeps its' if kept == 1 else 'keep their'} first settings."
    if unknown := len(studies) - len(gains):
        words += f" The gain of {counted(unknown, 'row')} is unknown: the experiment's own settings gave no result."
    return words


def _row(study: Progressing) -> Row:
    chosen, dataset, loss = study.chosen, *study.study.place
    factor = _metric(study).factor
    after = factor * chosen.mean if chosen.fate == "complete" else None
    return Row((
        Value(dataset), Value(loss), Value(in_words(chosen.settings.hyper, chosen.settings.lr)),
        Value(str(len(study.trials)), len(study.trials)),
        with_error(_before(study)), with_error(after), with_error(_gain(study), signed=True),
    ))  # fmt: skip


def in_words(hyper: Mapping[str, Any], rate: float) -> str:
    """`s=8 m=0.3 lr=0.02`."""
    shown = {**hyper, "lr": rate}
    return " ".join(f"{key}={short(one) if isinstance(one, float) else one}" for key, one in shown.items())


def _gain(study: Progressing) -> float | None:
    before = _before(study)
    is_known = before is not None and study.chosen.fate == "complete"
    return _metric(study).factor * study.chosen.mean - before if is_known and before is not None else None


def _before(study: Progressing) -> float | None:
    """With the experiment's own settings; None if they were not tried or gave no result."""
    first = study.trials[0]
    return _metric(study).factor * first.mean if study.study.starts_with_its_own and first.fate == "complete" else None


def _metric(study: Progressing) -> MetricColumn:
    return main_columns()[study.facts.protocol].on("val")
