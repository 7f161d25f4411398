"""What `list` knows of each component, claim, paper and experiment: plain data, for the screen and as JSON.

Every description has a `name` and a `summary` of one line. Everything else depends on the kind.
"""

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import datasets
import losses
from benchmark import backbones, claims, metrics, papers, plots, spec
from benchmark.plots import PLOTS
from benchmark.spec import Experiment

Description = dict[str, Any]


@dataclass(frozen=True)
class Catalogue:
    """All things of one kind."""

    names: Callable[[], list[str]]
    describe: Callable[[str], Description]
    brief: Callable[[], list[str]] | None = None  # what the list on the screen shows, where that is not all


def loss(name: str) -> Description:
    one = losses.get(name)
    return {
        "name": name,
        "summary": _first_line(sys.modules[one.__module__].__doc__) or _first_line(one.__doc__),
        "about": inspect.cleandoc(one.__doc__ or ""),
        "hyper_parameters": [
            {
                "name": key,
                "default": hyper.default,
                "meaning": hyper.meaning,
                "allowed": hyper.allowed(),
                "tuning_searches": hyper.search.in_words() if hyper.search else None,
            }
            for key, hyper in one.hyper.items()
        ],
    }


def dataset(name: str) -> Description:
    """A dataset or a wrapper."""
    is_wrapper = name in datasets.wrapper_names()
    return {
        "name": name,
        "summary": datasets.summary(name),
        "kind": "wrapper" if is_wrapper else "dataset",
        "in_an_experiment_file": f"wrappers: [{name}: {{…}}]" if is_wrapper else f"datasets: [{name}: {{…}}]",
        "options": [
            {"name": key, "default": option.default, "meaning": option.meaning, "allowed": option.allowed()}
            for key, option in datasets.options(name).items()
        ],
    }


def backbone(name: str) -> Description:
    one = backbones.get(name)
    return {
        "name": name,
        "summary": _first_line(one.__doc__),
        "about": inspect.cleandoc(one.__doc__ or ""),
        "default_dim": one.default_dim,
        "smallest_image": f"{one.smallest}×{one.smallest} pixels",
        "images_per_second": one.images_per_second,
    }


def metric(key: str) -> Description:
    column = metrics.column(key)
    one = column.metric
    return {
        "name": key,
        "summary": f"{column.title}: {column.meaning}",
        "split": column.split or None,
        "unit": one.unit or None,
        "better": one.better,
        "range": [bound if math.isfinite(bound) else None for bound in one.range],
        "decimals": one.decimals,
        "table": one.table or None,
        "main_metric_of": f"{one.main} datasets" if one.main else None,
    }


def plot(name: str) -> Description:
    one = PLOTS.get(name)
    return {"name": name, "summary": one.title, "section_of_the_report": plots.picture_sections()[one.section]}


def claim(number: str) -> Description:
    one = next(claim for claim in claims.load_all() if str(claim.number) == number)
    return {
        "name": number,
        "summary": f"{one.paper}: {one.short}",
        "about": one.words,
        "source": one.source,
        "note": one.note or None,
        "experiment": one.experiment,
        "parts": [{"name": part.letter, "meaning": part.words, **_without(asdict(part), "letter", "words")}
                  for part in one.parts],
        "run": "python -m benchmark claims --run",
    }  # fmt: skip


def paper(name: str) -> Description:
    one = papers.load(name)
    return {
        "name": name,
        "summary": one.title,
        "about": one.claim,
        "sources": [source.in_words for source in one.sources],
        "columns": [{"name": column.name, "meaning": column.meaning or column.data} for column in one.columns],
        "rows": [row.label for row in one.rows],
        "scales": [
            {"name": scale.name, "meaning": scale.note, **_size(scale.experiment)} for scale in one.scales.values()
        ],
        "run": f"python -m benchmark table {name}",
    }


def experiment(name: str) -> Description:
    one = spec.load(name)
    return {
        "name": name,
        "summary": one.description,
        "datasets": list(dict.fromkeys(row.label for row in one.datasets)),
        "losses": [row.label for row in one.losses],
        "baseline": one.baseline,
        "seeds": len(one.seeds),
        **_size(one),
        "file": str(one.path),
        "run": f"python -m benchmark run {name}",
    }


def _size(one: Experiment) -> Description:
    cells = one.cells()
    return {"cells": len(cells), "estimated_time": f"{spec.in_words(spec.estimate_seconds(cells))} on one core"}


def _claim_numbers() -> list[str]:
    return [str(claim.number) for claim in claims.load_all()]


CATALOGUES = {
    "losses": Catalogue(losses.names, loss),
    "datasets": Catalogue(lambda: [*datasets.names(), *datasets.wrapper_names()], dataset),
    "backbones": Catalogue(backbones.names, backbone),
    "metrics": Catalogue(lambda: list(metrics.keys()), metric, lambda: [one.key for one in metrics.columns()]),
    "plots": Catalogue(plots.names, plot),
    "claims": Catalogue(_claim_numbers, claim),
    "papers": Catalogue(papers.names, paper),
    "experiments": Catalogue(spec.names, experiment),
}


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _without(content: Description, *keys: str) -> Description:
    return {key: value for key, value in content.items() if key not in keys}
