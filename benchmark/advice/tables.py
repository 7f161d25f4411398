"""Advice as tables and words."""

from collections.abc import Sequence

from benchmark.advice.advice import Advice, BestMeasured, Case, LossAdvice, best_measured, scale_by
from benchmark.advice.maps_file import EXPERIMENT, Map
from benchmark.advice.theory import COSINES, LOGITS, RULES, largest_cosine_margin
from benchmark.metrics import column
from benchmark.tables import Column, Row, Table, Value
from benchmark.tables.model import NOTHING
from benchmark.text import short

HOW_TO_MEASURE = (
    "No measurements are stored here, so this is theory only. To measure: "
    f"`python -m benchmark run {EXPERIMENT}`, then `python -m benchmark maps {EXPERIMENT}`."
)
USUAL_CLASSES = (10, 47, 100, 300, 1000, 10_000, 100_000, 1_000_000)
PLAIN = ("normface", "arcface", "cosface")  # whose best measured scale the table over C shows
LOSS_COLUMNS = (
    Column("Loss", numeric=False),
    Column("Paper", "the defaults of its paper", numeric=False),
    Column("s by theory", "a lower bound, then scales to use", numeric=False),
    Column("m at most", "the largest margin for this number of classes", numeric=False),
    Column("Measured on", numeric=False),
    Column("s", "best on validation data"),
    Column("m", "best on validation data"),
    Column("Test, %", "main metric at that setting, with half of the 95 % interval"),
    Column("As good", "scales with that margin whose mean lies inside the interval", numeric=False),
    Column("Seeds", "runs that did not diverge, of all", numeric=False),
)
THEORY = 4  # the first columns, which need no maps


def rules_table(case: Case) -> Table:
    """Every rule's scale, and where it comes from."""
    rows = [
        Row((Value(rule.name), Value(rule.formula), _scale(scale_by(rule, case), rule.bound),
             Value(LOGITS[rule.multiplies]), Value(rule.source)))
        for rule in RULES
    ]  # fmt: skip
    return Table(
        "rules",
        f"Rules for s at {case.classes:,} classes",
        (
            Column("Rule", numeric=False),
            Column("Formula", numeric=False),
            Column("s"),
            Column("For", "what the scale multiplies", numeric=False),
            Column("Source", numeric=False),
        ),
        tuple(rows),
        "CosFace's rules give the smallest useful scale: below it, even a class centre cannot have the posterior P. "
        "AdaCos's and AdaAcos's rules give the scale to use. ArcGrad's rules are for logits −s·θ and an average "
        f"angular gap of {case.gap:g} radians; their scale is proportional to 1/gap.",
    )


def losses_table(advice: Advice) -> Table:
    """A line for each loss and each dataset at the nearest measured number of classes."""
    case, width = advice.case, len(LOSS_COLUMNS) if advice.maps is not None else THEORY
    rows = tuple(Row(entries[:width]) for one in advice.losses for entries in _lines(one))
    dims = f" and embeddings of {case.dim} dimensions" if case.dim else ""
    title = f"s and m for {case.classes:,} classes{dims}"
    return Table("advice", title, LOSS_COLUMNS[:width], rows, footnotes=tuple(_margin_notes(advice.losses)))


def classes_table(case: Case | None, dim: int | None, gap: float, maps: Map | None) -> Table:
    """Every rule over the number of classes, with the best measured scales where there are maps."""
    counts = {*USUAL_CLASSES, *([case.classes] if case else ()), *(row.classes for row in (maps.rows if maps else ()))}
    rows = []
    for classes in sorted(counts):
        here = Case(classes, dim, gap=gap)
        bound = [Value(f"{(m := largest_cosine_margin(classes, dim).largest):.3f}", m)] if dim else []
        scales = [_scale(scale_by(rule, here), rule.bound) for rule in RULES]
        rows.append(Row((Value(f"{classes:,}", classes), *scales, *bound, Value(_measured_at(maps, classes)))))
    angles = [f"{rule.name}{'' if rule.multiplies == COSINES else ' (−s·θ)'}" for rule in RULES]
    return Table(
        "scale-by-classes",
        "s by the number of classes",
        (
            Column("Classes"),
            *(Column(name, f"{rule.formula}; {rule.source}") for name, rule in zip(angles, RULES, strict=True)),
            *([Column(f"CosFace's m at most, D={dim}", "1 − cosine of the widest smallest angle")] if dim else []),
            Column("Measured best s", "chosen on validation data", numeric=False),
        ),
        tuple(rows),
        f"ArcGrad's rules at an average angular gap of {gap:g} radians.",
        () if maps else (HOW_TO_MEASURE,),
    )


def remarks(advice: Advice) -> list[str]:
    """The lines below the tables: evidence, then notes on what the advice does not cover."""
    lines = list(advice.evidence) if advice.maps else [HOW_TO_MEASURE]
    return [*lines, *(f"Note: {warning}" for warning in advice.warnings)]


def _lines(one: LossAdvice) -> list[tuple[Value, ...]]:
    bounds = [f"≥ {short(scale)}" for rule, scale in one.scales if rule.bound]
    takes = [short(scale) for rule, scale in one.scales if not rule.bound]
    theory = " · ".join([*bounds[:1], *takes]) or NOTHING
    most = NOTHING if one.margin is None else f"{one.margin.largest:.3f}"
    first = (Value(one.loss), Value(one.given or NOTHING), Value(theory), Value(most))
    if not one.measured:
        return [(*first, *[Value(NOTHING)] * (len(LOSS_COLUMNS) - THEORY))]
    return [(*first, *_measured(measured)) for measured in one.measured]


def _measured(found: BestMeasured) -> tuple[Value, ...]:
    row = found.row
    factor = column(row.metric).factor
    mean = factor * (row.mean or 0.0)
    half = None if row.low is None or row.high is None else factor * (row.high - row.low) / 2
    text = f"{mean:.2f}" if half is None else f"{mean:.2f} ± {half:.2f}"
    return (
        Value(f"{row.dataset} ({row.classes:,} classes)"),
        Value(NOTHING) if row.s is None else Value(short(row.s), row.s),
        Value(NOTHING) if row.m is None else Value(f"{row.m:g}", row.m),
        Value(text, mean, error=half),
        Value(", ".join(short(scale) for scale in found.as_good) or NOTHING),
        Value(f"{row.seeds} of {row.runs}"),
    )


def _measured_at(maps: Map | None, classes: int) -> str:
    """`digits: normface 16, arcface 8; …`, or a dash."""
    rows = [row for row in (maps.rows if maps else ()) if row.classes == classes]
    parts = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        found = {
            name: best_measured([row for row in rows if row.dataset == dataset and row.loss == name]) for name in PLAIN
        }
        known = [f"{name} {short(one.row.s)}" for name, one in found.items() if one is not None and one.row.s]
        parts += [f"{dataset}: {', '.join(known)}"] if known else []
    return "; ".join(parts) or NOTHING


def _margin_notes(found: Sequence[LossAdvice]) -> list[str]:
    """Each bound once, with the losses that it is for."""
    notes: dict[str, list[str]] = {}
    for one in found:
        if one.margin is not None:
            words = f"m ≤ {one.margin.largest:.3f} ({one.margin.why}; {one.margin.source})"
            notes.setdefault(words, []).append(one.loss)
    first = (
        "s by theory: CosFace's lower bound at P=.9 · AdaCos's rule · AdaAcos's rule; for logits of angles, the two "
        "rules of ArcGrad."
    )
    return [first, *(f"{words}: {', '.join(names)}." for words, names in notes.items())]


def _scale(value: float | None, bound: bool) -> Value:
    if value is None:
        return Value(NOTHING, note="the rule needs at least 3 classes")
    return Value(f"{'≥ ' if bound else ''}{value:.2f}", value)
