"""Scale or margin: for experiments that train losses at several scales, what each of the two does by itself."""

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
from benchmark.text import short

FIRST_COLUMNS = tuple(Column(heading, numeric=False) for heading in ("Dataset", "Loss", "Margin"))
MainColumns = Mapping[str, MetricColumn]  # by dataset


def scale_or_margin(collected: ExperimentResults, findings: Findings) -> Section | None:
    """None where no loss was trained at several scales."""
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
        f"Rows at the same s differ by the margin alone: what is left of a loss's lead over {REFERENCE} there is the "
        f"margin's. What {REFERENCE} gains from one s to another is the scale's."
    ]
    if why_no_margin_effects(rows):
        words.append(f"There is no comparison at the same scale: {why_no_margin_effects(rows)}.")
    if not failed:
        words.append("No setting failed: no run diverged, is near chance or left its class weights unlearned.")
    return tuple(words)


def scale_alone(rows: pd.DataFrame, main: MainColumns, jackknife: Jackknife) -> Table:
    """Every loss that was trained at several scales: its main metric at each."""
    shown = scales_of(rows)
    shown = shown[shown["dataset"].isin(list(main))]
    scales = _numbers(shown["s"])
    means = _means(shown, main, jackknife)
    chosen = {(one["dataset"], one["loss"]) for one in chosen_on_validation(rows, main).to_dict("records")}
    lines = []
    for (dataset, name, margin), part in shown.groupby(["dataset", "variant", _margin_key(shown)], sort=True):
        by_scale = {round(float(s), 9): str(loss) for s, loss in zip(part["s"], part["loss"], strict=True)}
        found = {scale: means.get((loss, str(dataset))) for scale, loss in by_scale.items()}
        best = _best(found, main[str(dataset)])
        picked = [scale for scale, loss in by_scale.items() if (dataset, loss) in chosen]
        entries = [_mean_entry(found.get(scale), main[str(dataset)], scale == best) for scale in scales]
        first = (Value(str(dataset)), Value(str(name)), Value(str(margin) or NOTHING))
        last = Value(short(picked[0]), picked[0]) if picked else Value(NOTHING)
        lines.append(Row((*first, *entries, last), tags={"dataset": str(dataset)}))
    columns = [*FIRST_COLUMNS, *(Column(f"s={short(scale)}", "scale of the cosines") for scale in scales)]
    columns.append(Column("s on validation", "the scale of the setting of this loss that is best on validation data"))
    return Table(
        "scale-alone",
        "What scale does",
        tuple(columns),
        tuple(lines),
        "Main metric of each dataset, %, mean over the seeds. Along a line only the scale changes, and with it the "
        "learning rate where that was chosen for each setting.",
        (
            f"{PLUS_MINUS}; bold is a line's best mean on test data.",
            "The last column stands in the line of the margin that was chosen with it.",
        ),
    )


def equal_scale(rows: pd.DataFrame, main: MainColumns, common: str | None, jackknife: Jackknife) -> Table:
    """loss − normface at the same s, a line for each dataset, loss and margin, a column for each scale."""
    effects = margin_effects(rows, main, jackknife)
    if common is not None and len(main) > 1:
        overall = margin_effects_over_datasets(rows, sorted(main), common, jackknife)
        effects = pd.concat([effects, overall], ignore_index=True) if len(overall) else effects
    scales = _numbers(effects["s"])
    lines = []
    for (dataset, name, margin), part in effects.groupby(["dataset", "variant", _margin_key(effects)], sort=True):
        by_scale = {round(float(one["s"]), 9): one for one in part.to_dict("records")}
        first = (Value(str(dataset)), Value(str(name)), Value(str(margin) or NOTHING))
        entries = [effect_entry(by_scale.get(scale)) for scale in scales]
        lines.append(Row((*first, *entries), tags={"dataset": str(dataset)}))
    columns = [Column(f"s={short(scale)}", f"loss − {REFERENCE}, both at this scale") for scale in scales]
    return Table(
        "margin-at-equal-scale",
        "What the margin adds at the same scale",
        (*FIRST_COLUMNS, *columns),
        tuple(lines),
        f"Each loss minus {REFERENCE} at the same s, main metric of each dataset, and the metric that all share over "
        f"“{ALL_DATASETS}”, in percentage points, paired by seed and test identity.",
        effect_notes(effects),
    )


def best_settings(rows: pd.DataFrame, main: MainColumns, jackknife: Jackknife) -> Table:
    """Each loss at the setting chosen on validation, against normface at the one chosen for it."""
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
            Column("Setting", "of those that were run, the best on validation data", numeric=False),
            Column("s", "scale"),
            Column("m", "margin, of losses that have one"),
            Column("Validation, %", "main metric on validation data, by which the setting was chosen"),
            Column("Test, %", "main metric on test data"),
            Column(f"− best {REFERENCE}", f"minus {REFERENCE} at the scale chosen for it on validation data"),
            Column(f"− {REFERENCE} at this s", f"minus {REFERENCE} at the same scale"),
        ),
        tuple(lines),
        "Settings are chosen on validation data and compared on test data, in percentage points. Losses differ in how "
        "many settings were run: the more there are to choose from, the better the best of them looks.",
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
            Column("Diverged", "loss or weights were no longer finite, or grew without end"),
            Column("Near chance", f"main metric within {NEAR:.0%} of the way from guessing to perfect"),
            Column("Weights unlearned", f"class centres at {UNRELATED:g}° or more from their class weights"),
        ),
        tuple(lines),
        f"Runs that diverged; else those whose main metric is within {NEAR:.0%} of the way from guessing to perfect; "
        f"else those whose class centres lie {UNRELATED:g}° or more from their class weights (90° is chance).",
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


def _margin_key(rows: pd.DataFrame) -> "pd.Series[str]":
    """What stands for the margin: the number, or nothing for losses without one."""
    return rows["m"].map(lambda m: "" if pd.isna(m) else f"{m:g}")


def _numbers(values: "pd.Series[float]") -> list[float]:
    return sorted({round(float(value), 9) for value in values})


def _number_entry(value: Any) -> Value:
    return Value(NOTHING) if pd.isna(value) else Value(short(float(value)), float(value))
