"""The best setting of each loss among those that were run, chosen on validation data only."""

from collections.abc import Mapping

import pandas as pd

from benchmark.metrics import MetricColumn
from benchmark.scale_margin.settings import natural

KEPT = ("dataset", "name", "title", "tuned", "loss", "s", "m")


def chosen_on_validation(rows: pd.DataFrame, metric_columns: Mapping[str, MetricColumn]) -> pd.DataFrame:
    """One row for each dataset and loss, tuned rows apart from others: dataset, name, loss, s, m and so on, and
    `validation`, the mean over seeds that chose the setting.

    A setting with a diverged run is chosen only if every setting has one. Among equal settings the smaller scale is
    chosen, then the smaller margin.
    """
    found = [
        _best(part, metric_columns[str(dataset)])
        for (dataset, _), part in rows.groupby(["dataset", "title"], sort=True)
        if str(dataset) in metric_columns and metric_columns[str(dataset)].on("val").key in rows
    ]
    chosen = pd.DataFrame([row for row in found if row is not None], columns=[*KEPT, "validation"])
    return chosen.sort_values(["dataset", "title"], key=natural, ignore_index=True)


def _best(part: pd.DataFrame, column: MetricColumn) -> dict[str, object] | None:
    values = pd.to_numeric(part[column.on("val").key], errors="coerce").astype(float)
    sign = -1.0 if column.lower_is_better else 1.0
    means = (
        part.assign(value=sign * values, unsound=part["status"] != "ok")
        .groupby("loss", as_index=False)
        .agg(
            **{key: (key, "first") for key in KEPT if key != "loss"},
            value=("value", "mean"),
            unsound=("unsound", "any"),
        )
        .dropna(subset=["value"])
        .sort_values(["unsound", "value", "s", "m", "loss"], ascending=[True, False, True, True, True])
    )
    if not len(means):
        return None
    first = means.iloc[0]
    return {**{key: first[key] for key in KEPT}, "validation": sign * float(first["value"])}
