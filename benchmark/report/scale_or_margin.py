"""Scale and margin, for experiments that train losses at several scales: the effect of each alone."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchmark.findings import PLUS_MINUS, Findings, diverged_note, effect_entry, effect_notes
from benchmark.metrics import MetricColumn
from benchmark.report.page import Section
from benchmark.results import ExperimentResults
from benchmark.scale_margin import (
    REFERENCE,
    chosen_on_validation,
    classes_of,
    failures,
    margin_effects,
    margin_effects_over_datasets,
    scales_of,
    training_sizes,
    why_no_margin_effects,
    why_no_scales,
    with_settings,
)
from benchmark.scale_margin.failures import NEAR, UNRELATED
from benchmark.statistics import ALL_DATASETS, Jackknife, Pairing, compare_pairs, summarise
from benchmark.tables import BEST, Column, Row, Table, Value, with_error
from benchmark.tables.model import NOTHING
from benchmark.text import natural_places, short

FIRST_COLUMNS = tuple(Column(heading, numeric=False) for heading in ("Dataset", "Loss", "Margin"))
MainColumns = Mapping[str, MetricColumn]  # by dataset


def scale_or_margin(collected: ExperimentResults, findings: Findings) -> Section | None:
    """None if no loss was trained at several scales."""
    classes = classes_of(training_sizes(collected))
    rows = with_settings(collected.table, classes)
    if why_no_scales(rows) or not findings.main_columns:
        return None
    main, jackknife = findings.main_columns, findings.jackknife
    tables = [scale_alone(rows, main, jackknife)]
    if not why_no_margin_effects(rows):
        common = findings.common
        tables.append(equal_scale(rows, main, common.key if common else None, jackknife))
    if len(chosen_on_validation(rows, main)):
        tables.append(best_settings(rows, main, jackknife))
    failed = failures(rows, main, classes)
    if len(failed):
        tables.append(failing(failed))
    return Section("scale", "Scale and margin", _words(rows, bool(len(failed))), tuple(tables))


def _words(rows: pd.DataFrame, failed: bool) -> tuple[str, ...]:
    words = [
        f"At the same scale s, a loss and {REFERENCE} differ only in the margin, so their difference is the effect of "
        f"the margin. The difference between two scales of {REFERENCE} is the effect of the scale."
    ]
    if why_no_margin_effects(rows):
        words.append(f"There is no comparison at the same scale, because {why_no_margin_effects(rows)}.")
    if not failed:
        words.append("No setting failed: no run diverged, stayed near chance or left its class weights untrained.")
    return tuple(words)


def scale_alone(rows: pd.DataFrame, main: MainColumns, jackknife: Jackknife) -> Table:
    """The main metric at each scale, for every loss that was trained at several."""
    shown = scales_of(rows)
    shown = shown[shown["dataset"].isin(list(main))]
    scales = _numbers(shown["s"])
    means = _means(shown, main, jackknife)
    chosen = {(one["dataset"], one["loss"]) for one in chosen_on_validation(rows, main).to_dict("records")}
    lines = []
    for (dataset, name, margin), part in _by_row(shown):
        by_scale = {round(float(s), 9): str(loss) for s, loss in zip(part["s"], part["loss"], strict=True)}
        found = {scale: means.get((loss, str(dataset))) for scale, loss in by_scale.items()}
        best = _best(found, main[str(dataset)])
        picked = [scale for scale, loss in by_scale.items() if (dataset, loss) in chosen]
        entries = [_mean_entry(found.get(scale), main[str(dataset)], scale == best) for scale in scales]
        first = (Value(str(dataset)), Value(str(name)), Value(str(margin) or NOTHING))
        last = Value(short(picked[0]), picked[0]) if picked else Value(NOTHING)
        lines.append(Row((*first, *entries, last), tags={"dataset": str(dataset)}))
    columns = [*FIRST_COLUMNS, *(Column(f"s={short(scale)}", "scale of the cosines") for scale in scales)]
    columns.append(Column("s on validation", "the scale that is best on validation data for this loss"))
    return Table(
        "scale-alone",
        "Effect of the scale",
        tuple(columns),
        tuple(lines),
        "Main metric of each dataset in %, mean over the seeds. Within a row only the scale changes; the learning rate "
        "changes too if it was tuned for each setting.",
        (
            f"{PLUS_MINUS}. Bold is the best mean of a row on test data.",
            "The last column has a value in the row of the margin that was chosen together with the scale.",
        ),
    )


def equal_scale(rows: pd.DataFrame, main: MainColumns, common: str | None, jackknife: Jackknife) -> Table:
    """loss − normface at the same s: a row for each dataset, loss and margin, a column for each scale."""
    effects = margin_effects(rows, main, jackknife)
    if common is not None and len(main) > 1:
        overall = margin_effects_over_datasets(rows, sorted(main), common, jackknife)
        effects = pd.concat([effects, overall], ignore_index=True) if len(overall) else effects
    scales = _numbers(effects["s"])
    lines = []
    for (dataset, name, margin), part in _by_row(effects):
        by_scale = {round(float(one["s"]), 9): one for one in part.to_dict("records")}
        first = (Value(str(dataset)), Value(str(name)), Value(str(margin) or NOTHING))
        entries = [effect_entry(by_scale.get(scale)) for scale in scales]
        lines.append(Row((*first, *entries), tags={"dataset": str(dataset)}))
    columns = [Column(f"s={short(scale)}", f"loss − {REFERENCE}, both at this scale") for scale in scales]
    return Table(
        "margin-at-equal-scale",
        "Effect of the margin at the same scale",
        (*FIRST_COLUMNS, *columns),
        tuple(lines),
        f"Each loss minus {REFERENCE} at the same s, in percentage points, paired by seed and test identity. The "
        f"metric is the main one of each dataset, and for “{ALL_DATASETS}” the one that all datasets have.",
        effect_notes(effects),
    )


def best_settings(rows: pd.DataFrame, main: MainColumns, jackknife: Jackknife) -> Table:
    """Each loss at its best setting on validation data, compared with normface at its own best setting."""
    chosen = chosen_on_validation(rows, main)
    means = _means(rows, main, jackknife)
    every = chosen.to_dict("records")
    plain = {(one["dataset"], one["tuned"]): one["loss"] for one in every if one["name"] == REFERENCE}
    others = [one for one in every if one["name"] != REFERENCE and (one["dataset"], one["tuned"]) in plain]
    pairings = [
        Pairing(one["loss"], plain[one["dataset"], one["tuned"]], one["dataset"], main[one["dataset"]].key)
        for one in others
    ]
    compared = compare_pairs(rows, pairings, jackknife)
    effects: dict[tuple[str, str], Any] = {(one["dataset"], one["loss"]): one for one in compared.to_dict("records")}
    at_scale = {(one["dataset"], one["loss"]): one for one in margin_effects(rows, main, jackknife).to_dict("records")}
    lines = []
    for one in every:
        at, column = (str(one["dataset"]), str(one["loss"])), main[str(one["dataset"])]
        entries = (
            Value(at[0]),
            Value(str(one["title"])),
            Value(at[1]),
            _number_entry(one["s"]),
            _number_entry(one["m"]),
            with_error(column.factor * float(one["validation"]), decimals=column.decimals),
            _mean_entry(means.get((at[1], at[0])), column, best=False),
            effect_entry(effects.get(at)),
            effect_entry(at_scale.get(at)),
        )
        lines.append(Row(entries, tags={"dataset": at[0]}))
    return Table(
        "best-settings",
        "Each loss at its best setting",
        (
            Column("Dataset", numeric=False),
            Column("Loss", numeric=False),
            Column("Setting", "the best on validation data of those that were run", numeric=False),
            Column("s", "scale"),
            Column("m", "margin, of losses that have one"),
            Column("Validation, %", "main metric on validation data, which chose the setting"),
            Column("Test, %", "main metric on test data"),
            Column(f"− best {REFERENCE}", f"minus {REFERENCE} at the scale chosen for it on validation data"),
            Column(f"− {REFERENCE} at this s", f"minus {REFERENCE} at the same scale"),
        ),
        tuple(lines),
        "Settings are chosen on validation data and compared on test data, in percentage points. The number of "
        "settings differs between losses, and the best of many settings looks better than the best of few.",
        effect_notes(compared),
    )


def failing(failed: pd.DataFrame) -> Table:
    """Settings with a failed run."""
    lines = [
        Row(
            (
                Value(str(one["dataset"])),
                Value(str(one["loss"])),
                *(Value(str(one[key]), int(one[key])) for key in ("runs", "diverged", "near_chance", "unlearned")),
            ),
            tags={"dataset": str(one["dataset"])},
        )
        for one in failed.to_dict("records")
    ]
    return Table(
        "where-training-fails",
        "Where training fails",
        (
            Column("Dataset", numeric=False),
            Column("Setting", numeric=False),
            Column("Runs"),
            Column("Diverged", "loss or weights became infinite or too large"),
            Column("Near chance", f"main metric less than {NEAR:.0%} of the way from guessing to perfect"),
            Column("Untrained weights", f"class centres {UNRELATED:g}° or more from their class weights"),
        ),
        tuple(lines),
        f"A run is counted once: as diverged; or near chance, if its main metric is less than {NEAR:.0%} of the way "
        f"from guessing to perfect; or with untrained weights, if its class centres are {UNRELATED:g}° or more from "
        "their class weights (90° is chance).",
    )


def _means(rows: pd.DataFrame, main: MainColumns, jackknife: Jackknife) -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {}
    for dataset, column in main.items():
        part = rows[rows["dataset"] == dataset]
        if len(part):
            means = summarise(part, [column.key], jackknife).to_dict("records")
            found |= {(str(one["loss"]), dataset): one for one in means}
    return found


def _mean_entry(mean: Any, column: MetricColumn, best: bool) -> Value:
    if mean is None:
        return Value(NOTHING)
    if pd.isna(mean["mean"]):
        return Value("diverged")
    half = None if pd.isna(mean["half_width"]) else column.factor * float(mean["half_width"])
    left = int(mean["left_out"])
    return with_error(
        column.factor * float(mean["mean"]),
        half,
        column.decimals,
        BEST if best else "",
        diverged_note(left, left + int(mean["n_seeds"])),
    )


def _best(found: Mapping[float, Any], column: MetricColumn) -> float | None:
    known = {scale: float(one["mean"]) for scale, one in found.items() if one is not None and not pd.isna(one["mean"])}
    if len(known) < 2:
        return None
    return min(known, key=lambda scale: (known[scale] if column.lower_is_better else -known[scale], scale))


def _by_row(frame: pd.DataFrame) -> list[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Parts of one dataset, variant and margin, in natural order; the mean over all datasets comes last."""
    groups = frame.groupby(["dataset", "variant", _margin_key(frame)], sort=True)
    found = [((str(dataset), str(name), str(margin)), part) for (dataset, name, margin), part in groups]
    places = natural_places(dataset for (dataset, *_), _ in found)
    return sorted(found, key=lambda one: (one[0][0] == ALL_DATASETS, places[one[0][0]], one[0][1:]))


def _margin_key(rows: pd.DataFrame) -> "pd.Series[str]":
    """The margin as text; empty for losses without one."""
    return rows["m"].map(lambda m: "" if pd.isna(m) else f"{m:g}")


def _numbers(values: "pd.Series[float]") -> list[float]:
    return sorted({round(float(value), 9) for value in values})


def _number_entry(value: Any) -> Value:
    return Value(NOTHING) if pd.isna(value) else Value(short(float(value)), float(value))
