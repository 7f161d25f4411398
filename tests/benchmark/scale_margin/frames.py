"""Tidy frames made by hand, in which scale and margin have the effects that a test wants."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from benchmark import metrics
from benchmark.metrics import MetricColumn
from benchmark.spec.values import with_settings

VERIFICATION = metrics.column("test/accuracy")
CLASSIFICATION = metrics.column("test/classification_accuracy")

Value = Callable[[str, str, dict[str, Any], int], float | None]
"""From dataset, loss, hyper-parameters and seed to the value; None: the run diverged."""
Settings = Sequence[tuple[str, dict[str, Any]]]
SCALES = (4.0, 16.0, 64.0)
GRID: Settings = (
    *(("normface", {"s": s}) for s in SCALES),
    *(("arcface", {"s": s, "m": m}) for s in SCALES for m in (0.1, 0.3)),
    *(("kappaface", {"s": s}) for s in SCALES),
)
CLASSES = {"closed": 10, "open": 100}
METRIC_COLUMNS: dict[str, MetricColumn] = {"closed": CLASSIFICATION, "open": VERIFICATION}


def frame(value: Value, settings: Settings = GRID, datasets: Sequence[str] = ("closed", "open"), seeds: int = 5) -> Any:
    """Validation is a thousandth below test; what guesses well is half right."""
    rows = []
    for dataset in datasets:
        for name, hyper in settings:
            for seed in range(seeds):
                found = value(dataset, name, hyper, seed)
                row = {
                    "loss": with_settings(name, hyper),
                    "name": name,
                    "hyper": json.dumps(hyper, sort_keys=True),
                    "dataset": dataset,
                    "seed": seed,
                    "tuned": False,
                    "status": "ok" if found is not None else "diverged",
                    VERIFICATION.key: found,
                    CLASSIFICATION.key: found if dataset == "closed" else None,
                    "val/accuracy": None if found is None else found - 0.001,
                    "val/classification_accuracy": None if found is None or dataset != "closed" else found - 0.001,
                    "test/n_same": 1000,
                    "test/n_different": 1000,
                    "train/wc_intra": 30.0,
                }
                rows.append(row)
    return pd.DataFrame(rows)


def wobble(name: str, seed: int) -> float:
    """Differs from seed to seed, differently for each loss, and is 0 on average over five seeds."""
    return 0.001 * (seed * (1 + len(name) % 4) % 5 - 2)
