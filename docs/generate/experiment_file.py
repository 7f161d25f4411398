"""The reference of the experiment file, from the models that check it and from the registries."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import annotated_types
import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import datasets
from benchmark import backbones
from benchmark.recipe import Recipe
from benchmark.recipe.augmentation import AUGMENTATIONS
from benchmark.recipe.optimisers import OPTIMISERS
from benchmark.recipe.schedules import SCHEDULES
from benchmark.spec.dataset_rows import BesideDataset
from benchmark.spec.experiment_file import ExperimentKeys
from benchmark.spec.loss_rows import BesideLoss
from benchmark.spec.recipes import RecipeKeys
from benchmark.spec.tuned import Budget
from benchmark.spec.values import KnownName, ResourceKeys
from docs.generate.markdown import code, fenced, first_sentence, page, table, text

EXAMPLE = Path(__file__).parent / "example.yaml"
INTRODUCTION = """\
An experiment file says which datasets, backbone, recipe, losses and seeds to run. `python -m benchmark run FILE.yaml`
runs it; `--dry-run` only checks it and says what would run. Unknown keys and values out of range are errors that name
the line.

`datasets` and `losses` are required; everything else has a default. Where "or a list" is allowed, every combination
is run.

`run` and `table` change single keys with `--override KEY=VALUE`, which can be given several times. KEY is the path of a
key, joined by dots: `seeds=2`, `recipe.epochs=1`, `datasets.glyphs.classes=50`. An entry of a list is called by its
name, which stands for every entry of that name, or by its number from 0. VALUE is YAML; `null` removes the key. An
override wins everywhere: datasets and losses lose their own value of the same key. Reports and tables name the
overrides.
"""
DATASETS = """\
An entry is a name, or a name with its options below it. Other keys stand beside the name:

```yaml
datasets:
  - digits                      # a name
  - glyphs: {classes: 100}      # a name with an option
    label: glyphs-100           # a key beside the name
    recipe: {epochs: 10}
```
"""
WRAPPERS = """\
A wrapper changes a dataset. It stands under `wrappers`, beside the dataset's name:

```yaml
datasets:
  - digits:
    wrappers:
      - longtail: {ratio: 20}
```
"""
LOSSES = """\
An entry is the name of a loss, or a name with hyper-parameters below it. A list of values makes one row for each value.
Each loss's [page](../losses/index.md) has its hyper-parameters.

```yaml
losses:
  - softmax
  - arcface: {s: auto, m: [0.3, 0.5]}     # two rows
  - cosface: {s: 30}
    label: cosface of the paper
```
"""


def pages() -> Iterator[tuple[str, str | bytes]]:
    yield "reference/experiment-file.md", page("Experiment file", *_blocks())


def _blocks() -> Iterator[str]:
    yield INTRODUCTION
    yield "## Full example"
    yield "This file uses every key."
    yield fenced("yaml", EXAMPLE.read_text())
    yield from ("## Top level", _keys(ExperimentKeys))
    yield from ("## datasets", DATASETS, "Keys beside a dataset's name:", _keys(BesideDataset))
    for name in datasets.names():
        yield from _component(name)
    yield from ("## wrappers", WRAPPERS)
    for name in datasets.wrapper_names():
        yield from _component(name)
    yield from ("## losses", LOSSES, "Keys beside a loss's name:", _keys(BesideLoss))
    yield from ("## recipe", _keys(RecipeKeys, vars(Recipe())))
    for heading, registry in (
        ("Optimisers", OPTIMISERS.items()),
        ("Schedules", SCHEDULES.items()),
        ("Augmentation", AUGMENTATIONS.items()),
        ("Backbones", {name: backbones.get(name) for name in backbones.names()}),
    ):
        yield from (f"### {heading}", _named(registry))
    yield from ("## tune", _keys(Budget))
    yield from ("## resources", _keys(ResourceKeys))


def _keys(model: type[BaseModel], defaults: Mapping[str, Any] | None = None) -> str:
    """The keys of a mapping; `defaults` replaces those of the model."""
    rows = [
        [
            code(key),
            _said(field),
            text(in_words(field.annotation, field.metadata)),
            _default(key, field, defaults or {}),
        ]
        for key, field in model.model_fields.items()
    ]
    return table(("key", "meaning", "value", "default"), rows)


def _said(field: FieldInfo) -> str:
    return text(field.description or "")


def _default(key: str, field: FieldInfo, defaults: Mapping[str, Any]) -> str:
    if field.is_required():
        return "required"
    value = defaults[key] if key in defaults else field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or value in ((), {}, ""):
        return "–"
    return code(as_yaml(value))


def as_yaml(value: Any) -> str:
    """A value as an experiment file would have it, on one line."""
    if isinstance(value, tuple):
        value = value[0] if len(value) == 1 else list(value)
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n...\n").strip()


def in_words(kind: Any, about: Any = ()) -> str:
    """What a value may be: `a whole number from 1 to 100, or a list of them`."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *more = get_args(kind)
        return in_words(inner, [*more, *about])
    if origin in (Union, UnionType):
        return " or ".join(in_words(one, about) for one in get_args(kind) if one is not NoneType)
    if origin is tuple:
        return _list_in_words(get_args(kind)[0], about)
    if kind is bool:
        return "`true` or `false`"
    if kind is str:
        return _text_in_words(about)
    if kind in (int, float):
        return _number_in_words("a whole number" if kind is int else "a number", about)
    if origin is dict:
        return "a mapping, below"
    return "an entry or a list of entries, below"


def _list_in_words(inner: Any, about: Any) -> str:
    alone = any(isinstance(one, BeforeValidator) for one in about)
    return f"{in_words(inner)}, or a list" if alone else f"a list of: {in_words(inner)}"


def _text_in_words(about: Any) -> str:
    for one in about:
        if isinstance(one, AfterValidator) and isinstance(one.func, KnownName):
            return "one of " + ", ".join(f"`{name}`" for name in one.func.known())
    return "a text"


def _number_in_words(noun: str, about: Any) -> str:
    bounds = [bound for one in about for bound in (one.metadata if isinstance(one, FieldInfo) else [one])]
    low = next((one for one in bounds if isinstance(one, annotated_types.Ge | annotated_types.Gt)), None)
    high = next((one for one in bounds if isinstance(one, annotated_types.Le | annotated_types.Lt)), None)
    said = noun
    if isinstance(low, annotated_types.Ge):
        said += f" from {_short(low.ge)}"
    elif low is not None:
        said += f" above {_short(low.gt)}"
    if isinstance(high, annotated_types.Le):
        said += f" to {_short(high.le)}"
    elif high is not None:
        said += f", below {_short(high.lt)}"
    return said


def _short(bound: Any) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"


def _component(name: str) -> Iterator[str]:
    """A dataset or wrapper with its options."""
    yield f"### {name}"
    yield f"{_sentence(datasets.summary(name))}"
    options = datasets.options(name)
    if options:
        rows = [
            [code(key), text(one.meaning), text(one.allowed()), code(as_yaml(one.default))]
            for key, one in options.items()
        ]
        yield table(("option", "meaning", "value", "default"), rows)


def _sentence(words: str) -> str:
    return text(words[:1].upper() + words[1:]).rstrip(".") + "."


def _named(items: Mapping[str, object]) -> str:
    return table(("name", "meaning"), [[code(name), text(first_sentence(one))] for name, one in sorted(items.items())])
