"""The measurements as tables."""

from collections.abc import Sequence

from benchmark.tables import Column, Row, Table, Value
from perf._model import Curve, Measured, Part

_MEASURED = (
    Column("figure", numeric=False),
    Column("at", numeric=False),
    Column("median"),
    Column("quartiles"),
    Column("bar"),
    Column("verdict", numeric=False),
)
_GROWTH = (
    Column("what grows", numeric=False),
    Column("with", numeric=False),
    Column("from … to"),
    Column("seconds"),
    Column("exponent"),
    Column("95 % interval"),
    Column("on paper"),
)


def measured_table(part: Part) -> Table:
    """The values of a part, each with its bar and whether it is met."""
    return Table(
        part.name.replace("_", "-"),
        part.title,
        _MEASURED,
        tuple(_measured(one) for one in part.measured),
        part.how,
        (_circumstances(part),),
    )


def growth_table(parts: Sequence[Part]) -> Table:
    """Every curve that has a growth, with its fitted exponent."""
    grown = [part for part in parts if any(curve.growth is not None for curve in part.curves)]
    rows = tuple(_growth(curve) for part in grown for curve in part.curves if curve.growth is not None)
    notes = tuple(f"{part.how} {_circumstances(part)}" for part in grown)
    caption = "Least squares of the logarithm of time on that of size; Student's interval of the slope."
    return Table("growth", "How time grows", _GROWTH, rows, caption, notes)


def _measured(one: Measured) -> Row:
    spread = "" if one.low is None or one.high is None else f"{number(one.low)} … {number(one.high)}"
    bar = "" if one.bar is None else f"{one.bar.sign} {one.bar.limit:g} {one.unit}".rstrip()
    value = f"{number(one.value)} {one.unit}".rstrip()
    return _row(one.what, one.at, value, spread, bar, one.verdict)


def _growth(curve: Curve) -> Row:
    assert curve.growth is not None
    found = curve.growth
    sizes, seconds = (f"{number(values[0])} … {number(values[-1])}" for values in (curve.x, curve.y))
    expected = "" if curve.expected is None else f"{curve.expected:g}"
    interval = f"{found.low:.2f} … {found.high:.2f}"
    return _row(curve.what, curve.size, sizes, seconds, f"{found.exponent:.2f}", interval, expected)


def _row(*texts: str) -> Row:
    return Row(tuple(Value(text) for text in texts))


def number(value: float) -> str:
    """Three significant digits, thousands with commas: 0.00123, 1.23, 12.3, 1,230."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1_000:
        return f"{value:,.0f}"
    if size >= 0.001:
        return f"{value:.{3 if size < 0.1 else 2 if size < 10 else 1 if size < 100 else 0}f}"
    return f"{value:.1e}"


def _circumstances(part: Part) -> str:
    others = "" if part.others is None else f"; other processes had {part.others:.0%} of the cores"
    return f"Took {part.seconds:.0f} s{others}."
