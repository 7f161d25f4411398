"""A comparison as tables for display: the values, the differences that the paper discusses, the order of rows."""

from collections.abc import Iterable

from benchmark.papers.comparison import Comparison, EffectFound
from benchmark.papers.paper import COLUMNS, MeasuredColumn, PaperRow, PublishedColumn
from benchmark.papers.setting import differences, unknown
from benchmark.statistics import interval_in_words
from benchmark.tables import Column, Row, Table, Value, with_error, with_p
from benchmark.text import counted, number

NOTHING = Value("–")


def tables(comparison: Comparison, sources: bool = False) -> list[Table]:
    """The paper's table first, then the others that are not empty. `sources` adds columns with the sources of published
    values, for CSV files, which have no notes."""
    layout = _by_column if comparison.paper.layout == COLUMNS else _by_loss
    return [layout(comparison, sources), *_effects(comparison, sources), *_orders(comparison)]


def _by_loss(comparison: Comparison, sources: bool) -> Table:
    """A line per loss. A value measured on the same data follows the published one, with the difference."""
    rows = comparison.paper.rows
    placed: set[str] = set()
    filled = [(Column("loss", numeric=False), [Value(row.label) for row in rows])]

    def add_measured(measured: MeasuredColumn) -> None:
        if measured.name not in placed:
            placed.add(measured.name)
            heading = f"{_measured_heading(measured)}, measured"
            entries = [measured_entry(comparison, row, measured) for row in rows]
            filled.append((Column(heading, f"{measured.metric} on {measured.dataset}"), entries))

    for column in comparison.paper.columns:
        heading = f"{_heading(column)}, published"
        filled.append((Column(heading, column.meaning), [published_entry(comparison, row, column) for row in rows]))
        if sources:
            entries = [source_entry(comparison, row, column) for row in rows]
            filled.append((Column(f"{heading}, source", numeric=False), entries))
        for measured in _on_same_data(comparison, column):
            add_measured(measured)
            name = f"{measured.name} minus {column.name}"
            entries = [difference_entry(comparison, row, column, measured) for row in rows]
            filled.append((Column("difference", "measured minus published", name=name), entries))
    for measured in comparison.scale.measured:
        add_measured(measured)
    columns, entries_by_column = zip(*filled, strict=True)
    return _main_table(comparison, columns, zip(*entries_by_column, strict=True))


def _by_column(comparison: Comparison, sources: bool) -> Table:
    """A line per column, for tables of few losses: each loss has a column as published and one as measured."""
    trained = {loss.label for loss in comparison.scale.experiment.losses}
    with_difference = any(_on_same_data(comparison, column) for column in comparison.paper.columns)
    columns = [Column("published metric", numeric=False), Column("measured metric", numeric=False)]
    for row in comparison.paper.rows:
        columns += [Column(f"{row.label}, published")] if row.published else []
        columns += [Column(f"{row.label}, published, source", numeric=False)] if sources and row.published else []
        columns += [Column(f"{row.label}, measured")] if row.label in trained else []
        if with_difference and row.published and row.label in trained:
            columns.append(Column("difference", "measured minus published", name=f"{row.label}, difference"))
    cells = []
    for column, measured in _pairs(comparison):
        line = [Value(_heading(column) if column else "–"), Value(_measured_heading(measured) if measured else "–")]
        for row in comparison.paper.rows:
            is_trained = row.label in trained
            line += [published_entry(comparison, row, column)] if row.published else []
            line += [source_entry(comparison, row, column)] if sources and row.published else []
            line += [measured_entry(comparison, row, measured)] if is_trained else []
            if with_difference and row.published and is_trained:
                line.append(difference_entry(comparison, row, column, measured))
        cells.append(line)
    return _main_table(comparison, columns, cells)


def _pairs(comparison: Comparison) -> list[tuple[PublishedColumn | None, MeasuredColumn | None]]:
    """Each published column with the measured one that stands beside it alone; the other measured ones follow."""
    alone = {one.beside[0]: one for one in comparison.scale.measured if len(one.beside) == 1}
    pairs: list[tuple[PublishedColumn | None, MeasuredColumn | None]] = [
        (column, alone.get(column.name)) for column in comparison.paper.columns
    ]
    placed = {measured.name for _, measured in pairs if measured}
    return pairs + [(None, measured) for measured in comparison.scale.measured if measured.name not in placed]


def published_entry(comparison: Comparison, row: PaperRow, column: PublishedColumn | None) -> Value:
    """The published value. A note names its source unless it is the main one; a quoted value is marked 2nd-hand."""
    published = comparison.published(row.label, column.name) if column else None
    if published is None:
        return NOTHING
    text = f"{published.value:.2f}" + (f" (mean of {len(published.runs)})" if len(published.runs) > 1 else "")
    text += " (2nd-hand)" if published.source.second_hand else ""
    note = "" if published.source == comparison.paper.sources[0] else published.source.in_words
    return Value(text, published.value, note=note)


def source_entry(comparison: Comparison, row: PaperRow, column: PublishedColumn | None) -> Value:
    published = comparison.published(row.label, column.name) if column else None
    return NOTHING if published is None else Value(published.source.in_words)


def measured_entry(comparison: Comparison, row: PaperRow, measured: MeasuredColumn | None) -> Value:
    estimate = comparison.estimates.get((row.label, measured.name)) if measured else None
    if estimate is None:
        return Value("–", note=row.unmeasured)
    runs = estimate.seeds + estimate.diverged
    note = f"{estimate.diverged} of {counted(runs, 'run')} diverged or have no value" if estimate.diverged else ""
    if estimate.mean is None:
        return Value("no value", note=note)
    return with_error(estimate.mean, estimate.half_width, note=note)


def difference_entry(
    comparison: Comparison, row: PaperRow, column: PublishedColumn | None, measured: MeasuredColumn | None
) -> Value:
    found = comparison.difference(row.label, column, measured) if column and measured else None
    return NOTHING if found is None else with_error(found.mean, found.half_width, signed=True)


def _effects(comparison: Comparison, sources: bool) -> list[Table]:
    if not comparison.effects:
        return []
    names = ["difference", "measured metric", "published", "published, remark", "measured", "p (Holm)", "verdict"]
    shown = [name for name in names if sources or name != "published, remark"]
    columns = [Column(name, numeric=name in ("measured", "p (Holm)")) for name in shown]
    lines = []
    for found in comparison.effects:
        cells = (
            Value(f"{found.effect.row} − {found.effect.than}"),
            Value(_measured_heading(found.measured)),
            Value(_published_differences(found), note=found.remark),
            *([Value(found.remark)] if sources else []),
            with_error(found.difference, found.half_width, note=found.note, signed=True),
            with_p(found.p_holm),
            Value(found.verdict),
        )
        lines.append(Row(cells))
    caption = (
        "Differences between rows, published and measured each within its own data, with the 95 % interval of the "
        "paired difference. A direction counts where p, corrected by Holm's method over the differences of one "
        "column, is below .05."
    )
    name = f"{comparison.scale.experiment.name}-differences"
    return [Table(name, "Do the differences point the same way?", tuple(columns), tuple(lines), caption)]


def _published_differences(found: EffectFound) -> str:
    """`LFW +0.12; CFP-FP +0.24 (2nd-hand)`, or a dash."""
    parts = [
        f"{name} {number(value, signed=True)}" + (" (2nd-hand)" if second_hand else "")
        for name, (value, second_hand) in found.published.items()
    ]
    return "; ".join(parts) or NOTHING.text


def _orders(comparison: Comparison) -> list[Table]:
    found = [order for order in comparison.orders if order.agreement.tau is not None]
    if not found:
        return []
    columns = [Column(name, numeric=False) for name in ("published metric", "measured metric")]
    columns += [Column(name) for name in ("rows", "Kendall's τ-b", "95 % interval")]
    lines = []
    for order in found:
        agreement = order.agreement
        ends = [number(end, signed=True) for end in (agreement.low, agreement.high) if end is not None]
        cells = (
            Value(_heading(order.column)),
            Value(_measured_heading(order.measured)),
            Value(str(agreement.rows), agreement.rows),
            with_error(agreement.tau),
            Value(" to ".join(ends) or "–", note=agreement.note),
        )
        lines.append(Row(cells))
    caption = (
        "τ is 1 if both put the rows in the same order, −1 if the order is reversed, and 0 without any relation. The "
        "interval comes from drawing the seeds of the measured values again, for all rows together. Published values "
        "count as exact. A row counts if its published value comes from the same source, or from a comparable one."
    )
    name = f"{comparison.scale.experiment.name}-order"
    return [Table(name, "Is the order of the rows the same?", tuple(columns), tuple(lines), caption)]


def _main_table(comparison: Comparison, columns: Iterable[Column], cells: Iterable[Iterable[Value]]) -> Table:
    paper, scale = comparison.paper, comparison.scale
    rows = tuple(Row(tuple(line)) for line in cells)
    title = f"{paper.title} ({scale.name} scale)"
    return Table(scale.experiment.name, title, tuple(columns), rows, paper.claim, _footnotes(comparison))


def _footnotes(comparison: Comparison) -> tuple[str, ...]:
    paper, scale = comparison.paper, comparison.scale
    first = paper.sources[0]
    notes = [f"Published, unless noted: {first.in_words}.", _about_measured(comparison)]
    if scale.overrides:
        changed = ", ".join(scale.overrides)
        notes.append(f"Changed with --override: {changed}. The scale's own notes are about it without these changes.")
    notes += [scale.note] if scale.note else []
    notes += [f"{label} was left out: {reason}" for label, reason in comparison.left_out.items()]
    left = comparison.unfinished
    notes += [f"{counted(left, 'run')} {'has' if left == 1 else 'have'} no result yet."] if left else []
    same = [measured for column in paper.columns for measured in _on_same_data(comparison, column)]
    if not same:
        notes.append("No difference is shown: published and measured values are of different data or different losses.")
    notes += [f"Differs: {difference}." for difference in differences(paper, scale)]
    notes += [f"Not measured: {', '.join(one.columns)}: {one.because}." for one in scale.unmeasured]
    missing = unknown(paper, scale)
    notes += [f"Not known of the published runs: {'; '.join(missing)}."] if missing else []
    notes += [comparison.origin] if comparison.origin else []
    return tuple(notes)


def _about_measured(comparison: Comparison) -> str:
    seeds = {estimate.seeds for estimate in comparison.estimates.values()}
    if not seeds:
        return "Measured: nothing yet."
    least = f"{min(seeds)} to " if len(seeds) > 1 else ""
    over = f"{least}{counted(max(seeds), 'seed')}"
    of_kind: dict[str, list[str]] = {}
    for (_, name), estimate in comparison.estimates.items():
        if estimate.carries and name not in of_kind.setdefault(interval_in_words(estimate.carries), []):
            of_kind[interval_in_words(estimate.carries)].append(name)
    if not of_kind:
        return f"Measured: mean over {over}."
    kinds = [f"{kind} ({', '.join(names)})" if len(of_kind) > 1 else kind for kind, names in of_kind.items()]
    return f"Measured: mean over {over} ± half the width of the {'; '.join(kinds)}."


def _on_same_data(comparison: Comparison, column: PublishedColumn) -> list[MeasuredColumn]:
    return [measured for measured in comparison.scale.measured if comparison.scale.on_same_data(column, measured)]


def _heading(column: PublishedColumn) -> str:
    return f"{column.name} {column.unit}" + (f" ({column.other_loss})" if column.other_loss else "")


def _measured_heading(measured: MeasuredColumn) -> str:
    return f"{measured.name} {measured.unit}"
