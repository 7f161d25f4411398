"""Results made by hand: which losses, on which datasets, with which value in each seed."""

from collections.abc import Mapping, Sequence

import pandas as pd

from benchmark import metrics
from benchmark.findings.findings import Findings

VERIFICATION = metrics.column("test/accuracy")
CLASSIFICATION = metrics.column("test/classification_accuracy")

Values = Sequence[float | None]  # one a seed; None: the run diverged
NAMES = {"arcface": '{"s": "auto"}', "cosface": "{}", "normface": "{}", "softmax": "{}"}


def frame(by_dataset: Mapping[str, Mapping[str, Values]], closed: Sequence[str] = ()) -> pd.DataFrame:
    """A tidy frame; `closed` datasets have classification accuracy beside verification's."""
    rows = []
    for dataset, losses in by_dataset.items():
        for loss, values in losses.items():
            for seed, value in enumerate(values):
                name = loss if loss in NAMES else "normface"
                row = {
                    "loss": loss,
                    "name": name,
                    "hyper": NAMES[name],
                    "dataset": dataset,
                    "seed": seed,
                    "tuned": False,
                }
                row["status"] = "diverged" if value is None else "ok"
                row[VERIFICATION.key] = value
                row[CLASSIFICATION.key] = value if dataset in closed else None
                rows.append(row)
    found = pd.DataFrame(rows)
    for column in (VERIFICATION, CLASSIFICATION):
        found[column.key] = pd.to_numeric(found[column.key])
    return found


def findings(
    by_dataset: Mapping[str, Mapping[str, Values]], closed: Sequence[str] = (), baseline: str = "normface"
) -> Findings:
    return Findings(frame(by_dataset, closed), baseline)


def around(mean: float, spread: float = 0.001, seeds: int = 5, turn: int = 0) -> list[float | None]:
    """Values about a mean, which is theirs exactly; another `turn` gives them in another order."""
    steps = [spread * (1 + 0.1 * turn) * (place - (seeds - 1) / 2) for place in range(seeds)]
    return [mean + steps[(place + turn) % seeds] for place in range(seeds)]
