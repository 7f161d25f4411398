"""The `recipe` of an experiment file: each value, or a list of values, and the recipes they make."""

from dataclasses import replace
from itertools import pairwise, product
from math import prod
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from benchmark.recipe import CHANNEL_ORDERS, Recipe
from benchmark.recipe.augmentation import AUGMENTATIONS
from benchmark.recipe.optimisers import OPTIMISERS
from benchmark.recipe.schedules import SCHEDULES
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.values import MOST_CELLS, Keys, OneOrMany, one_of

Choices = dict[str, tuple[Any, ...]]
Share = Annotated[float, Field(ge=0.0, lt=1.0)]


def _rising(several: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    if any(later <= earlier for milestones in several for earlier, later in pairwise(milestones)):
        raise PydanticCustomError("rising", "should be rising shares of the run")
    return several


def _as_lists(value: Any) -> Any:
    """A list of numbers is one value; a list of lists is several."""
    if not isinstance(value, list):
        return value
    several = bool(value) and all(isinstance(one, list) for one in value)
    return tuple(tuple(one) for one in value) if several else (tuple(value),)


def _as_channels(value: Any) -> Any:
    """A number stands for all channels."""
    return _as_lists(value if isinstance(value, list) else [value])


Milestones = Annotated[tuple[Annotated[float, Field(gt=0.0, lt=1.0)], ...], Field(min_length=1)]
Means = Annotated[tuple[Annotated[float, Field(ge=0.0, le=1.0)], ...], Field(min_length=1)]
Deviations = Annotated[tuple[Annotated[float, Field(gt=0.0, le=1.0)], ...], Field(min_length=1)]


class RecipeKeys(Keys):
    """What was given; the defaults are those of `Recipe`."""

    optimiser: OneOrMany[Annotated[str, one_of("optimiser", OPTIMISERS.names)]] = ()
    """The optimiser of the backbone and of the class weights."""
    lr: OneOrMany[Annotated[float, Field(gt=0.0, le=1000.0)]] = ()
    """The largest learning rate of the run; the schedule multiplies it by a factor of at most 1."""
    momentum: OneOrMany[Share] = ()
    """Momentum of `sgd` and `muon`; `adamw` does not use it."""
    weight_decay: OneOrMany[Annotated[float, Field(ge=0.0, le=10.0)]] = ()
    """Weight decay of matrices and kernels, class weights included. Norms and biases have none."""
    schedule: OneOrMany[Annotated[str, one_of("schedule", SCHEDULES.names)]] = ()
    """How the learning rate changes after warm-up."""
    warmup: OneOrMany[Share] = ()
    """Share of the run in which the learning rate rises to `lr`."""
    milestones: Annotated[tuple[Milestones, ...], BeforeValidator(_as_lists), AfterValidator(_rising)] = ()
    """Shares of the run at which the schedule `step` divides the learning rate by 10, such as `[0.5, 0.75]`. Required
    by `step`, not allowed without it."""
    epochs: OneOrMany[Annotated[int, Field(ge=1, le=100_000)]] = ()
    """How often every training image is used."""
    batch: OneOrMany[Annotated[int, Field(ge=1, le=1_000_000)]] = ()
    """Images per training step."""
    augmentation: OneOrMany[Annotated[str, one_of("augmentation", AUGMENTATIONS.names)]] = ()
    """How training images are changed at random."""
    label_smoothing: OneOrMany[Share] = ()
    """Share of the target that is spread over all classes. Only for losses that are a cross-entropy."""
    pixel_mean: Annotated[tuple[Means, ...], BeforeValidator(_as_channels)] = ()
    """What is subtracted from pixels of 0 to 1: a number, or one for each channel in the order of `channel_order`.
    Without it, the mean of the training images."""
    pixel_std: Annotated[tuple[Deviations, ...], BeforeValidator(_as_channels)] = ()
    """What pixels are divided by then, in the same units. Without it, the standard deviation of the training images.
    `pixel_mean: 0.5, pixel_std: 0.5` is the normalisation of insightface."""
    channel_order: OneOrMany[Annotated[str, one_of("channel order", CHANNEL_ORDERS)]] = ()
    """The order in which the net gets the channels of colour images, in training and evaluation."""
    flip_test: OneOrMany[bool] = ()
    """Whether embeddings of validation and test images are the sum of the image's and its mirror image's, not
    normalised before, as face papers have it."""


def read_choices(data: Any, at: KeyPath, problems: FileErrors) -> Choices:
    keys = problems.check(RecipeKeys, data, at)
    return {} if keys is None else {name: getattr(keys, name) for name in keys.model_fields_set}


def expand_recipes(choices: Choices, at: KeyPath, problems: FileErrors) -> tuple[Recipe, ...]:
    """Every combination. `step` needs milestones; under other schedules they mean nothing and are left out."""
    if problems:
        return ()  # a value that was refused is missing in `choices`
    if prod(len(values) for values in choices.values()) > MOST_CELLS:
        problems.add(at, f"the lists combine to more than {MOST_CELLS:,} recipes")
        return ()
    names = [name for name in RecipeKeys.model_fields if name in choices]
    combined = product(*(choices[name] for name in names))
    recipes = [Recipe(**dict(zip(names, values, strict=True))) for values in combined]
    stepped = [recipe for recipe in recipes if recipe.schedule == "step"]
    if any(not recipe.milestones for recipe in stepped):
        problems.add((*at, "schedule"), "'step' needs milestones, such as milestones: [0.5, 0.75]")
    if (*at, "milestones") in problems.lines and not stepped:
        problems.add((*at, "milestones"), "are for the schedule 'step' only, which is not given")
    kept = [recipe if recipe.schedule == "step" else replace(recipe, milestones=()) for recipe in recipes]
    return tuple(dict.fromkeys(kept))
