"""The learning rate as a function of the step: a factor of the recipe's rate, in (0, 1]."""

import math
from collections.abc import Callable

from benchmark.cell import Recipe
from benchmark.errors import InputError
from benchmark.training.named import named

Schedule = Callable[[int], float]

ONECYCLE_FIRST = 1 / 25
ONECYCLE_LAST = 1e-4 / 25


def schedule_for(recipe: Recipe, total_steps: int) -> Schedule:
    """The factor at each step, counted from 0."""
    shape = named("schedule", recipe.schedule, SHAPES)
    if recipe.schedule == "step" and not recipe.milestones:
        raise InputError("the schedule 'step' needs milestones, such as [0.5, 0.75] of the run; or use 'constant'")
    if not 0.0 <= recipe.warmup < 1.0:
        raise InputError(f"warmup={recipe.warmup!r} is not allowed; expected a share of the run, 0 ≤ share < 1")
    warm = round(recipe.warmup * total_steps)

    def factor(step: int) -> float:
        if step < warm:
            return _rising(recipe.schedule, (step + 1) / (warm + 1))
        return shape((step - warm) / (total_steps - warm), step / total_steps, recipe)

    return factor


def _rising(schedule: str, share: float) -> float:
    if schedule == "onecycle":
        return ONECYCLE_FIRST + (1.0 - ONECYCLE_FIRST) * (1.0 - math.cos(math.pi * share)) / 2.0
    return share


def _cosine(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    return (1.0 + math.cos(math.pi * since_warmup)) / 2.0


def _onecycle(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    return ONECYCLE_LAST + (1.0 - ONECYCLE_LAST) * (1.0 + math.cos(math.pi * since_warmup)) / 2.0


def _step(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    return 0.1 ** sum(of_run >= milestone for milestone in recipe.milestones)


def _constant(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    return 1.0


SHAPES = {"cosine": _cosine, "onecycle": _onecycle, "step": _step, "constant": _constant}
