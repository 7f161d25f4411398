"""Any experiment made of valid parts, written as YAML, loads as the cells that its parts make."""

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import datasets
from benchmark import backbones, spec
from benchmark.recipe import Recipe
from benchmark.recipe.augmentation import AUGMENTATIONS
from benchmark.recipe.optimisers import OPTIMISERS

Parts = dict[str, Any]


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value, or a list of values."""
    return values | st.lists(values, min_size=1, max_size=2, unique=True)


def reals(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_subnormal=False)


RECIPES = st.fixed_dictionaries(
    {},
    optional={
        "optimiser": some(st.sampled_from(OPTIMISERS.names())),
        "lr": some(reals(1e-9, 10.0)),
        "weight_decay": some(reals(0.0, 1.0)),
        "epochs": some(st.integers(1, 99)),
        "augmentation": some(st.sampled_from(AUGMENTATIONS.names())),
    },
)
LOSSES = st.one_of(
    st.tuples(st.just("softmax"), st.just({})),
    st.tuples(st.just("arcface"), st.fixed_dictionaries({"s": some(reals(1.0, 63.0)), "m": some(reals(0.0, 0.4))})),
    st.tuples(st.just("cosface"), st.fixed_dictionaries({"s": some(st.integers(1, 63) | st.just("auto"))})),
)
DATASETS = st.one_of(
    st.tuples(st.just("digits"), st.just({}), st.just([])),
    st.tuples(st.just("glyphs"), st.fixed_dictionaries({"classes": st.integers(2, 1000)}), st.just([])),
    st.tuples(
        st.just("mnist"),
        st.just({}),
        st.lists(st.fixed_dictionaries({"longtail": st.fixed_dictionaries({"ratio": reals(1, 99)})}), max_size=2),
    ),
)
EXPERIMENTS = st.fixed_dictionaries(
    {
        "seeds": st.integers(1, 3) | st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=3, unique=True),
        "datasets": st.lists(st.tuples(DATASETS, RECIPES), min_size=1, max_size=2, unique_by=lambda d: d[0][0]),
        "backbone": some(st.sampled_from(backbones.names())),
        "dim": some(st.integers(1, 512)),
        "recipe": RECIPES,
        "losses": st.lists(LOSSES, min_size=1, max_size=3, unique_by=lambda loss: loss[0]),
    }
)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def as_file(parts: Parts) -> Parts:
    entries = [
        {name: options, "wrappers": wrappers, "recipe": recipe}
        for (name, options, wrappers), recipe in parts["datasets"]
    ]
    return {**parts, "datasets": entries, "losses": [{name: hyper} for name, hyper in parts["losses"]]}


def recipes_of(parts: Parts, own: Parts) -> list[Recipe]:
    values = {**parts["recipe"], **own}
    names = [name for name in Recipe.__dataclass_fields__ if name in values]
    return [
        Recipe(**dict(zip(names, chosen, strict=True))) for chosen in product(*(listed(values[name]) for name in names))
    ]


def longhand(parts: Parts) -> list[tuple[Any, ...]]:
    seeds = range(parts["seeds"]) if isinstance(parts["seeds"], int) else parts["seeds"]
    found = []
    for seed in seeds:
        for (name, options, wrappers), own in parts["datasets"]:
            data = {**datasets.resolve(name, wrappers=wrappers, **options), "seed": 0}
            for backbone in listed(parts["backbone"]):
                for dim in listed(parts["dim"]):
                    for recipe in recipes_of(parts, own):
                        for loss, hyper in parts["losses"]:
                            for values in product(*map(listed, hyper.values())):
                                chosen = dict(zip(hyper, values, strict=True))
                                found.append((data, backbone, dim, recipe, loss, chosen, seed))
    return found


@given(EXPERIMENTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_what_is_loaded(parts: Parts) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.yaml"
        path.write_text(yaml.safe_dump(as_file(parts), sort_keys=False))
        cells = spec.load(path).cells()
    found = [(c.dataset, c.backbone, c.dim, c.recipe, c.loss, c.hyper, c.seed) for c in cells]
    assert found == longhand(parts)
    assert len({cell.id("data", "loss", "backbone") for cell in cells}) == len(cells)
    by_label = {(cell.label, str(cell.hyper)) for cell in cells}
    assert len({label for label, _ in by_label}) == len(by_label)


@given(st.text(max_size=300) | st.lists(st.sampled_from("[]{}:,-&*!|>'\"\n ab1#?"), max_size=60).map("".join))
@settings(max_examples=200, deadline=None)
def test_random_text_is_refused_in_words(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.yaml"
        path.write_bytes(text.encode("utf-8", "replace"))
        with pytest.raises(ValueError, match=r"\Amade\.yaml"):
            spec.load(path)
