"""What each loss asks for over the angle, as numbers that the page's script draws."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

import datasets
import losses
from benchmark.leaderboard.entries import Entry, Result
from benchmark.leaderboard.make_entry import first_run, is_here
from benchmark.pages import json_for_a_page
from benchmark.plots.loss_shapes import ANGLES, Shape, measure, of_run
from benchmark.store import Store

LARGEST_WEIGHT = 10**8  # numbers: an entry's file says how many classes there were
DIGITS = 4  # significant ones: finer than a pixel
QUANTITIES = {"logit": "target logit − logit of the others", "pull": "gradient ∂L/∂θ, per radian"}


@dataclass
class Curves:
    """The curves of one entry by dataset; where there is none, the reason."""

    label: str
    shapes: dict[str, Shape] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)  # of the run that the loss's state is from, if there is one


def curves_of(entry: Entry, store: Store) -> Curves:
    """Measures the loss on each dataset: as training left it where the run is here, else as it starts."""
    found = Curves(entry.label)
    for result in entry.results:
        try:
            shape = _shape(entry, result, store, found)
        except Exception as problem:  # a plug-in's own code, on settings that a file gives
            found.missing[result.label] = f"the loss raised {type(problem).__name__}: {problem}"
        else:
            if shape is not None:
                found.shapes[result.label] = shape
    return found


def _shape(entry: Entry, result: Result, store: Store, found: Curves) -> Shape | None:
    if not is_here(entry):
        found.missing[result.label] = "the code of the loss is not here, or has changed since"
        return None
    run = first_run(result, store)
    if run is not None:
        found.seeds[result.label] = run.cell["cell"]["seed"]
        return of_run(run)
    size = datasets.training_size(result.dataset)
    if size is None or size.classes * result.dim > LARGEST_WEIGHT:
        found.missing[result.label] = "the number of training classes is unknown or too large"
        return None
    return measure(losses.create(entry.loss, num_classes=size.classes, dim=max(3, result.dim), **entry.hyper))


def state_of(curves: Curves, dataset: str) -> str:
    """Which state of the loss its curve on a dataset shows."""
    if dataset in curves.seeds:
        return f"the state and the vector lengths that training with seed {curves.seeds[dataset]} ended with"
    return "the state that training starts from, and vectors of length 1"


def curves_for_a_page(curves: Mapping[str, Curves]) -> Markup:
    """JSON for the page's script: the angles in degrees, and values by the entry's name, dataset and quantity."""
    content = {
        "angles": [_rounded(angle) for angle in np.degrees(ANGLES)],
        "quantities": QUANTITIES,
        "entries": {name: {"label": one.label, "values": _values(one)} for name, one in curves.items()},
    }
    return json_for_a_page(json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False))


def _values(curves: Curves) -> dict[str, Any]:
    return {
        dataset: {name: None if (of := getattr(shape, name)) is None else [*map(_rounded, of)] for name in QUANTITIES}
        for dataset, shape in curves.shapes.items()
    }


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
