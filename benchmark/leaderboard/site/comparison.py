"""The page that compares two losses: all differences of all pairs, for the page's script to choose from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.leaderboard.site.curves import Curves, curves_for_a_page
from benchmark.leaderboard.standings import Board
from benchmark.metrics import MetricColumn, columns, has_value
from benchmark.pages import json_for_a_page, render
from benchmark.statistics import every_pair, summarise

DIGITS = 6  # significant digits: more than any table shows


def comparison_page(board: Board | None, curves: Mapping[str, Curves]) -> bytes:
    content = {"losses": [], "rows": []} if board is None else comparison_data(board)
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    names = [loss["name"] for loss in content["losses"] if loss["name"] in curves]
    drawn = curves_for_a_page({name: curves[name] for name in names}) if names else None
    shown = {"data": json_for_a_page(text), "count": len(content["losses"]), "curves": drawn}
    return render(Path(__file__).parent, "compare.html.j2", here="compare", up="", **shown)


def comparison_data(board: Board) -> dict[str, Any]:
    """`losses`, and `rows` for each metric and dataset. A row has the mean and half interval of each loss, and for each
    pair (`one` before `other` in the list): one − other, half interval, p after Holm, or why there is no test."""
    labels = sorted(board.entries)
    findings = board.findings
    rows = []
    for column in columns():
        if has_value(findings.results, column.key):
            rows += _rows(board, labels, column)
    main = {(name, column.key) for name, column in findings.main_columns.items()}
    for row in rows:
        row["main"] = (row["dataset"], row["key"]) in main
    rows.sort(key=lambda row: not row["main"])
    return {"losses": [{"label": label, "name": board.entries[label].name} for label in labels], "rows": rows}


def _rows(board: Board, labels: list[str], column: MetricColumn) -> list[dict[str, Any]]:
    results, jackknife = board.findings.results, board.findings.jackknife
    with_it = results[results.groupby("dataset")[column.key].transform("count") > 0]
    means = summarise(with_it, [column.key], jackknife, overall=True)
    pairs = every_pair(with_it, column.key, jackknife)
    found = []
    for dataset in means["dataset"].unique():
        of_loss = means[means["dataset"] == dataset].set_index("loss").reindex(labels)
        of_pair = pairs[pairs["dataset"] == dataset].set_index(["loss", "other"])
        ordered = [(one, other) for place, one in enumerate(labels) for other in labels[place + 1 :]]
        of_pair = of_pair.reindex(pd.MultiIndex.from_tuples(ordered, names=["loss", "other"]))
        found.append(
            {
                "key": column.key,
                "metric": column.heading,
                "dataset": str(dataset),
                "unit": column.unit,
                "decimals": column.decimals,
                "better": column.better,
                "means": [[_shown(mean, column), _shown(half, column)] for mean, half in _both(of_loss, "mean")],
                "pairs": [
                    [_shown(gap, column), _shown(half, column), _rounded(p), _reason(p, note)]
                    for (gap, half), p, note in zip(
                        _both(of_pair, "difference"), of_pair["p_holm"], of_pair["note"], strict=True
                    )
                ],
            }
        )
    return found


def _both(table: pd.DataFrame, name: str) -> list[tuple[Any, Any]]:
    return list(zip(table[name], table["half_width"], strict=True))


def _shown(value: Any, column: MetricColumn) -> float | None:
    return None if pd.isna(value) else _rounded(float(value) * column.factor)


def _rounded(value: Any) -> float | None:
    return None if pd.isna(value) else float(f"{float(value):.{DIGITS}g}")


def _reason(p: Any, note: Any) -> str:
    return str(note) if pd.isna(p) and not pd.isna(note) else ""
