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
from benchmark.spec.values import Keys

Text = Annotated[str, Field(max_length=300)]
Number = Annotated[float, Field(ge=0.0)]
Whole = Annotated[int, Field(ge=1)]

KEPT = "the last weights"
NORMALISATION = "by the training images' own mean and deviation"


class SettingKeys(Keys):
    """What is known of the published runs; what is not known is left out."""

    train: Text | None = None
    test: Text | None = None
    net: Text | None = None
    backbone: Text | None = None  # which of ours is that net, if one is
    pretrained: Text | None = None
    pixels: Text | Whole | None = None
    normalisation: Text | None = None
    dim: Whole | None = None
    optimiser: Text | None = None
    lr: Number | Text | None = None
    momentum: Number | None = None
    weight_decay: Number | None = None
    schedule: Text | None = None
    length: Text | None = None
    batch: Whole | None = None
    augmentation: Text | None = None
    label_smoothing: Number | None = None
    runs: Whole | None = None
    kept: Text | None = None


WORDS = {
    "train": "training data",
    "test": "tested on",
    "net": "net",
    "pretrained": "initial weights",
    "pixels": "pixels a side",
    "normalisation": "normalisation of pixels",
    "dim": "embedding size",
    "optimiser": "optimiser",
    "lr": "learning rate",
    "momentum": "momentum",
    "weight_decay": "weight decay",
    "schedule": "schedule",
    "length": "length",
    "batch": "batch",
    "augmentation": "augmentation",
    "label_smoothing": "label smoothing",
    "runs": "runs",
    "kept": "weights that are tested",
}
ASSUMED_UNLESS_SAID = ("pretrained", "label_smoothing")  # nothing of the kind, so that silence is no gap


def differences(paper: Paper, scale: Scale) -> list[str]:
    """A sentence for every way in which the scale's setting differs from the published one."""
    return [*_of_training(paper, scale), *_of_losses(paper, scale), *scale.differences]


def unknown(paper: Paper, scale: Scale) -> list[str]:
    """What the paper file does not say of the published runs, each with what it is here."""
    return [
        f"{words}, {_by_dataset(_here(key, scale))} here"
        for key, words in WORDS.items()
        if key not in paper.setting and key not in ASSUMED_UNLESS_SAID
    ]


def _of_training(paper: Paper, scale: Scale) -> Iterator[str]:
    for key, words in WORDS.items():
        published = paper.setting.get(key)
        values = _here(key, scale)
        if published is None or key in scale.alike or _same(key, published, values, paper):
            continue
        yield f"{words}: {_shown(published)} there, {_by_dataset(values)} here"


def _here(key: str, scale: Scale) -> dict[str, Any]:
    """What the setting has for a key, by dataset."""
    return {row.label: _setting(row, scale)[key] for row in scale.experiment.datasets}


def _setting(row: DatasetRow, scale: Scale) -> dict[str, Any]:
    recipe, size = row.recipes[0], datasets.training_size(row.dataset)
    options = row.dataset["options"]
    pixels = options.get("size") or (None if size is None else math.isqrt(size.pixels))
    own = scale.own_data.get(row.label)
    return {
        "train": own.data if own else row.label,
        "test": _tested_on(row, scale),
        "net": row.backbones[0],
        "pretrained": "drawn at random",
        "pixels": pixels,
        "normalisation": NORMALISATION,
        "dim": row.dims[0],
        "length": f"{recipe.epochs} epoch{'s' if recipe.epochs > 1 else ''}",
        "schedule": _schedule(recipe),
        "runs": len(scale.experiment.seeds),
        "kept": KEPT,
        "momentum": "adamw's own" if recipe.optimiser == "adamw" else recipe.momentum,
        **{key: getattr(recipe, key) for key in ("optimiser", "lr", "weight_decay", "batch")},
        **{key: getattr(recipe, key) for key in ("augmentation", "label_smoothing")},
    }


def _tested_on(row: DatasetRow, scale: Scale) -> str:
    if row.label in scale.own_data:
        return scale.own_data[row.label].data
    closed = datasets.protocol(row.dataset) == "closed"
    return "other images of the classes trained on" if closed else "classes never seen"


def _schedule(recipe: Recipe) -> str:
    if recipe.schedule == "step":
        return "÷10 at " + " and ".join(f"{share:.3g}" for share in recipe.milestones) + " of the run"
    return "cosine, down to 0" if recipe.schedule == "cosine" else recipe.schedule


def _same(key: str, published: object, values: Mapping[str, Any], paper: Paper) -> bool:
    if key == "net":
        published = paper.setting.get("backbone")
    return all(value is None or value == published for value in values.values())


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
