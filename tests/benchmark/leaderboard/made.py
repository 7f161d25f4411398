"""Entries made by hand: sound ones, whose ids follow from what they say."""

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.cell import PROTOCOL_VERSION, cell_id
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import parse
from benchmark.leaderboard.make_entry import as_text

DIGEST = {"digits": "a" * 64, "letters": "b" * 64}
RECIPE = {"optimiser": "sgd", "lr": 0.1, "milestones": []}
Content = dict[str, Any]


def content(
    loss: str = "arcface",
    means: Mapping[str, float] | None = None,
    hyper: Mapping[str, Any] | None = None,
    seeds: int = 5,
    spread: float = 0.002,
    **other: Any,
) -> Content:
    """An entry as plain data. `digits` is a closed set, `letters` an open one with 20 test identities."""
    hyper = dict(hyper or {})
    entry = {
        "format": 1,
        "loss": loss,
        "hyper": hyper,
        "settings": {"s": "auto", "m": 0.5, **hyper},
        "tuned": any(item != ("s", "auto") for item in hyper.items()),
        "family": "target margin",
        "description": f"ℓ_y = s·cos(θ_y + m): {loss}.\n\nPaper: Somebody, A loss, 2019, arXiv:1801.07698.",
        "origin": "plug-in",
        "loss_digest": "c" * 64,
        "protocol": PROTOCOL_VERSION,
        "date": "2026-05-04",
        "versions": {"torch": "2.13.0", "machine": "Linux x86_64"},
        "audit": [{"check": "c=±1", "verdict": "pass", "worst": 0.0, "tolerance": 0.0}],
        "results": [_result(name, loss, mean, seeds, spread) for name, mean in (means or MEANS).items()],
        **other,
    }
    return with_ids(entry)


MEANS = {"digits": 0.95, "letters": 0.9}


def entry(loss: str = "arcface", **options: Any) -> Entry:
    return parse(json.dumps(content(loss, **options)).encode())


def with_ids(entry: Content) -> Content:
    """The same with the cells' ids that follow."""
    entry = copy.deepcopy(entry)
    for result in entry["results"]:
        shared = {key: result[key] for key in ("dataset", "backbone", "dim", "recipe")}
        for run in result["runs"]:
            cell = {**shared, "loss": entry["loss"], "hyper": entry["hyper"], "seed": run["seed"]}
            digests = result["digest"], entry["loss_digest"], result["backbone_digest"]
            run["cell"] = cell_id(cell, entry["protocol"], *digests)
    return entry


def changed(change: Callable[[Content], None], keep_ids: bool = False) -> bytes:
    """A sound entry's JSON after a change."""
    entry = content()
    change(entry)
    return json.dumps(entry if keep_ids else with_ids(entry)).encode()


def write(folder: Path, *entries: Entry) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{one.name}.json" for one in entries]
    for path, one in zip(paths, entries, strict=True):
        path.write_text(as_text(one))
    return paths


def _result(name: str, loss: str, mean: float, seeds: int, spread: float) -> Content:
    random = np.random.default_rng([*loss.encode(), *name.encode()])
    values = np.clip(mean + spread * random.standard_normal(seeds), 0, 1).round(6).tolist()
    figures = {"test/accuracy": values, "test/eer": [round(1 - value, 6) for value in values]}
    if name == "digits":
        figures["test/classification_accuracy"] = values
    without = np.clip(np.array(values)[:, None] + 0.001 * random.standard_normal((seeds, 20)), 0, 1).round(6).tolist()
    return {
        "label": name,
        "dataset": {"name": name, "options": {"share": 0.5}, "seed": 0, "wrappers": []},
        "digest": DIGEST[name],
        "backbone": "convnet",
        "backbone_digest": "e" * 64,
        "dim": 64,
        "recipe": RECIPE,
        "runs": [
            {"seed": seed, "cell": "", "embeddings": f"{seed:064x}", "diverged_at": None, "diverged_reason": ""}
            for seed in range(seeds)
        ],
        "figures": figures,
        "without_each_identity": {"test/accuracy": without} if name == "letters" else {},
    }
