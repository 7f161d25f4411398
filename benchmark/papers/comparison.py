"""Compares published values with measured ones: the values, the differences that a paper discusses, and the order.

A published value is subtracted from a measured one only if both are of the same data. Otherwise the direction of
differences and the order of rows are compared, each within its own data. Published values are subtracted from each
other only within one source, or within sources that the paper file calls comparable.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmark.papers.paper import MeasuredColumn, Paper, PaperEffect, PaperRow, Published, PublishedColumn, Scale
from benchmark.statistics import Agreement, Jackknife, Pairing, compare_pairs, rank_agreement, summarise

LEVEL = 0.95
SAME, OPPOSITE, NOT_SIGNIFICANT = "same direction", "OPPOSITE direction", "not significant here"
MIXED, EQUAL = "published values point both ways", "published values are equal"
UNPUBLISHED, UNTESTED = "measured only", "too few seeds to test"


@dataclass(frozen=True)
class MeasuredValue:
    """A measured value, in the unit that is shown."""

    mean: float | None
    half_width: float | None
    seeds: int
    diverged: int
    carries: str  # which variation its interval covers


@dataclass(frozen=True)
class EffectFound:
    """A difference between two rows, as published and as measured."""

    effect: PaperEffect
    measured: MeasuredColumn
    published: dict[str, tuple[float, bool]]  # by column, with whether one of the two values is 2nd-hand
    remark: str  # on what was published
    difference: float | None
    half_width: float | None
    p_holm: float | None
    verdict: str
    note: str


@dataclass(frozen=True)
class OrderFound:
    """How well the order of the rows in a measured column agrees with that in a published one."""

    measured: MeasuredColumn
    column: PublishedColumn
    agreement: Agreement


@dataclass(frozen=True)
class Comparison:
    paper: Paper
    scale: Scale
    estimates: dict[tuple[str, str], MeasuredValue]  # by row and measured column
    effects: list[EffectFound]
    orders: list[OrderFound]
    left_out: dict[str, str]  # datasets that were not trained on, and why
    unfinished: int  # runs asked for that have no result
    origin: str = ""  # what the measured values were made with, in a sentence

    def published(self, row: str, column: str) -> Published | None:
        return self.paper.row(row).published.get(column)

    def difference(self, row: str, column: PublishedColumn, measured: MeasuredColumn) -> MeasuredValue | None:
        """Measured minus published, with the measured value's interval; only on the same data, where both are known."""
        published, estimate = self.published(row, column.name), self.estimates.get((row, measured.name))
        if not self.scale.on_same_data(column, measured) or published is None:
            return None
        if estimate is None or estimate.mean is None:
            return None
        return replace(estimate, mean=estimate.mean - published.value)


def compare_with_published(
    paper: Paper,
    scale: Scale,
    results: pd.DataFrame,
    jackknife: Jackknife | None = None,
    left_out: dict[str, str] | None = None,
    unfinished: int = 0,
    origin: str = "",
) -> Comparison:
    """`results` has the columns loss, dataset, seed and one per metric, as statistics take them."""
    estimates: dict[tuple[str, str], MeasuredValue] = {}
    effects: list[EffectFound] = []
    orders: list[OrderFound] = []
    several: dict[str, str] = {}
    for measured in scale.measured:
        if measured.metric not in results.columns:
            continue
        rows = results[results["dataset"] == measured.dataset]
        if rows.empty:
            several |= _several_files(results, measured.dataset)
            continue
        estimates |= _estimates(rows, measured, jackknife)
        effects += _effects(paper, rows, measured, jackknife)
        orders += [_order(paper, rows, measured, paper.column(name)) for name in measured.beside]
    return Comparison(paper, scale, estimates, effects, orders, {**(left_out or {}), **several}, unfinished, origin)


def _several_files(results: pd.DataFrame, dataset: str) -> dict[str, str]:
    """Why a dataset has no values, if its runs are of several files of one name."""
    found = [name for name in results["dataset"].unique() if str(name).startswith(f"{dataset} (sha256 ")]
    return {dataset: f"its runs are of different test files, {', '.join(found)}; run it again"} if found else {}


def _estimates(
    rows: pd.DataFrame, measured: MeasuredColumn, jackknife: Jackknife | None
) -> dict[tuple[str, str], MeasuredValue]:
    found = {}
    for one in summarise(rows, [measured.metric], jackknife, LEVEL).to_dict("records"):
        found[str(one["loss"]), measured.name] = MeasuredValue(
            mean=_scaled(one["mean"], measured),
            half_width=_scaled(one["half_width"], measured),
            seeds=int(one["n_seeds"]),
            diverged=int(one["left_out"]),
            carries=str(one["carries"]),
        )
    return found


def _scaled(value: object, measured: MeasuredColumn) -> float | None:
    return float(value) * measured.factor if isinstance(value, float) else None


def _effects(
    paper: Paper, rows: pd.DataFrame, measured: MeasuredColumn, jackknife: Jackknife | None
) -> list[EffectFound]:
    """Of the effects whose two rows were trained; Holm's correction is over the effects on this column."""
    trained = set(rows["loss"])
    wanted = [effect for effect in paper.effects if {effect.row, effect.than} <= trained]
    pairings = [Pairing(effect.row, effect.than, measured.dataset, measured.metric) for effect in wanted]
    tests = compare_pairs(rows, pairings, jackknife, LEVEL).to_dict("records")
    found = []
    for effect, test in zip(wanted, tests, strict=True):
        p_holm = test["p_holm"] if isinstance(test["p_holm"], float) else None
        published, remark = _published_effect(paper, effect, measured)
        difference = _scaled(test["difference"], measured)
        found.append(
            EffectFound(
                effect=effect,
                measured=measured,
                published=published,
                remark=remark,
                difference=difference,
                half_width=_scaled(test["half_width"], measured),
                p_holm=p_holm,
                verdict=_verdict([value for value, _ in published.values()], difference, p_holm),
                note=str(test["note"]),
            )
        )
    return found


def _published_effect(
    paper: Paper, effect: PaperEffect, measured: MeasuredColumn
) -> tuple[dict[str, tuple[float, bool]], str]:
    """The differences by column, and what is to be said of their sources."""
    found, remarks = {}, []
    for name in measured.beside:
        one, other = (paper.row(label).published.get(name) for label in (effect.row, effect.than))
        if one is None or other is None:
            continue
        sources, because = paper.comparable_with(one.key)
        if other.key not in sources:
            remarks.append(f"{name}: the two published values are of different sources and are not subtracted")
            continue
        found[name] = one.value - other.value, one.source.second_hand or other.source.second_hand
        remarks += [because] if one.key != other.key else []
    return found, "; ".join(dict.fromkeys(remarks))


def _verdict(published: Collection[float], difference: float | None, p_holm: float | None) -> str:
    signs = {np.sign(round(value, 9)) for value in published} - {0.0}
    if difference is None or p_holm is None:
        return UNTESTED
    if p_holm >= 1 - LEVEL:
        return NOT_SIGNIFICANT
    if not published:
        return UNPUBLISHED
    if not signs:
        return EQUAL
    if len(signs) > 1:
        return MIXED
    return SAME if signs == {np.sign(difference)} else OPPOSITE


def _order(paper: Paper, rows: pd.DataFrame, measured: MeasuredColumn, column: PublishedColumn) -> OrderFound:
    """Of the most rows whose published values are of one source or of comparable ones."""
    by_seed = rows.pivot_table(index="loss", columns="seed", values=measured.metric, aggfunc="mean", dropna=False)
    groups: dict[tuple[str, ...], list[PaperRow]] = {}
    for row in paper.rows:
        if column.name in row.published and row.label in by_seed.index:
            sources, _ = paper.comparable_with(row.published[column.name].key)
            groups.setdefault(sources, []).append(row)
    both = max(groups.values(), key=len, default=[])
    published = [row.published[column.name].value for row in both]
    values = by_seed.reindex([row.label for row in both]).to_numpy(dtype=np.float64)
    return OrderFound(measured, column, rank_agreement(published, values, LEVEL))
