"""How a scale's setting differs from the published one: a sentence for each way."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

import datasets
import losses
from benchmark.papers.paper import Paper, PaperRow, Scale
from benchmark.recipe import Recipe
from benchmark.spec import DatasetRow, LossRow
from benchmark.spec.overrides import touches
from benchmark.spec.values import Keys

Text = Annotated[str, Field(max_length=300)]
Number = Annotated[float, Field(ge=0.0)]
Whole = Annotated[int, Field(ge=1)]

AS_IN_THE_RECIPE = ("optimiser", "lr", "weight_decay", "batch", "augmentation", "label_smoothing", "channel_order")


def _said(words: str) -> Any:
    """Unknown unless given; `words` name it in sentences."""
    return Field(None, description=words)


class SettingKeys(Keys):
    """What is known of the published runs; what is not known is left out."""

    train: Text | None = _said("training data")
    test: Text | None = _said("tested on")
    net: Text | None = _said("net")
    backbone: Text | None = None  # the backbone of this project that is the same net, if there is one
    pretrained: Text | None = _said("initial weights")
    pixels: Text | Whole | None = _said("pixels per side")
    normalisation: Text | None = _said("normalisation of pixels")
    dim: Whole | None = _said("embedding size")
    optimiser: Text | None = _said("optimiser")
    lr: Number | Text | None = _said("learning rate")
    momentum: Number | None = _said("momentum")
    weight_decay: Number | None = _said("weight decay")
    schedule: Text | None = _said("schedule")
    length: Text | None = _said("length")
    batch: Whole | None = _said("batch")
    augmentation: Text | None = _said("augmentation")
    label_smoothing: Number | None = _said("label smoothing")
    runs: Whole | None = _said("runs")
    kept: Text | None = _said("tested weights")
    channel_order: Text | None = _said("order of colour channels")
    flip_test: Text | None = _said("flip test")


WORDS = {key: field.description for key, field in SettingKeys.model_fields.items() if field.description}
ASSUMED_UNLESS_SAID = {
    "pretrained": "drawn at random",
    "label_smoothing": 0.0,
    "channel_order": "rgb",
    "flip_test": "no",
}
"""Without a word on them the paper used none; where this project uses one, it is named as not known of the paper."""

OF_TRAINING = frozenset(WORDS) - {"train", "test", "net", "backbone", "pretrained", "pixels", "dim", "runs"}
CHANGED_WITH = {
    "datasets": frozenset(WORDS),
    "recipe": OF_TRAINING,
    "backbone": {"net"},
    "dim": {"dim"},
    "seeds": {"runs"},
}
"""By a key of the experiment file: what an override of it may change in the setting."""


def differences(paper: Paper, scale: Scale) -> list[str]:
    """A sentence for every way in which the scale's setting differs from the published one."""
    return [*_of_training(paper, scale), *_of_losses(paper, scale), *scale.differences]


def unknown(paper: Paper, scale: Scale) -> list[str]:
    """What the paper file does not say of the published runs, each with what it is here."""
    return [
        f"{words}, {_by_dataset(_here(key, scale))} here"
        for key, words in WORDS.items()
        if key not in paper.setting and set(_here(key, scale).values()) != {ASSUMED_UNLESS_SAID.get(key)}
    ]


def _of_training(paper: Paper, scale: Scale) -> Iterator[str]:
    for key, words in WORDS.items():
        published, values = paper.setting.get(key), _here(key, scale)
        same = paper.setting.get("backbone") if key == "net" else published
        known = [value for value in values.values() if value is not None]
        if published is not None and key not in _alike(scale) and any(value != same for value in known):
            yield f"{words}: {_shown(published)} there, {_by_dataset(values)} here"


def _alike(scale: Scale) -> frozenset[str]:
    """The keys that the file calls alike, without those that an override may have changed."""
    changed = {one for key, those in CHANGED_WITH.items() if touches(scale.overrides, key) for one in those}
    return scale.alike - changed


def _here(key: str, scale: Scale) -> dict[str, Any]:
    """What the setting has for a key, by dataset."""
    return {row.label: _setting(row, scale)[key] for row in scale.experiment.datasets}


def _setting(row: DatasetRow, scale: Scale) -> dict[str, Any]:
    recipe, size = row.recipes[0], datasets.training_size(row.dataset)
    own = scale.own_data.get(row.label)
    tested = (
        "other images of the classes trained on" if datasets.protocol(row.dataset) == "closed" else "classes never seen"
    )
    return {
        "train": own.data if own else row.label,
        "test": own.data if own and not own.tests else tested,
        "net": row.backbones[0],
        "pretrained": "drawn at random",
        "pixels": row.dataset["options"].get("size") or (None if size is None else math.isqrt(size.pixels)),
        "normalisation": _normalisation(recipe),
        "flip_test": "yes" if recipe.flip_test else "no",
        "dim": row.dims[0],
        "length": f"{recipe.epochs} epoch{'s' if recipe.epochs > 1 else ''}",
        "schedule": _schedule(recipe),
        "runs": len(scale.experiment.seeds),
        "kept": "the last weights",
        "momentum": "adamw's own" if recipe.optimiser == "adamw" else recipe.momentum,
        **{key: getattr(recipe, key) for key in AS_IN_THE_RECIPE},
    }


def _normalisation(recipe: Recipe) -> str:
    if not recipe.pixel_mean and not recipe.pixel_std:
        return "by the training images' own mean and deviation"
    parts = [
        f"{words} {'/'.join(map(_shown, given))}" if given else f"the training images' own {words}"
        for words, given in (("mean", recipe.pixel_mean), ("deviation", recipe.pixel_std))
    ]
    return f"by {' and '.join(parts)}, pixels from 0 to 1"


def _schedule(recipe: Recipe) -> str:
    if recipe.schedule == "step":
        return "÷10 at " + " and ".join(f"{share:.3g}" for share in recipe.milestones) + " of the run"
    return "cosine, down to 0" if recipe.schedule == "cosine" else recipe.schedule


def _of_losses(paper: Paper, scale: Scale) -> Iterator[str]:
    """Hyper-parameters that were published otherwise, rows that share a difference in one sentence."""
    shared: dict[tuple[str, str, str], list[str]] = {}
    for loss in scale.experiment.losses:
        row = paper.row(loss.label)
        for key, there, here in _of_row(row, loss, scale):
            shared.setdefault((key, there, here), []).append(row.label)
    for (key, there, here), labels in shared.items():
        which = "every row" if len(labels) == len(scale.experiment.losses) else ", ".join(labels)
        yield f"{key}: {there} there, {here} here ({which})"


def _of_row(row: PaperRow, loss: LossRow, scale: Scale) -> Iterator[tuple[str, str, str]]:
    declared = losses.get(loss.name).hyper
    for key, published in row.hyper.items():
        if key not in declared:
            continue
        value = loss.hyper.get(key, declared[key].default)
        resolved = {data.label: _resolved(declared[key], value, data) for data in scale.experiment.datasets}
        if any(one != published for one in resolved.values()):
            note = " (auto)" if value == "auto" else ""
            yield key, _shown(published), _by_dataset(resolved) + note


def _resolved(hyper: Any, value: Any, data: DatasetRow) -> Any:
    """What a rule such as "auto" comes to, where the number of classes is known before loading."""
    size = datasets.training_size(data.dataset)
    return value if size is None else hyper.resolve(value, size.classes)


def _by_dataset(values: Mapping[str, Any]) -> str:
    """One value where all are the same, otherwise each with its dataset."""
    shown = {label: "not known before loading" if value is None else _shown(value) for label, value in values.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(text if text == label else f"{text} ({label})" for label, text in shown.items())


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
