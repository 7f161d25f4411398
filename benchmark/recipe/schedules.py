"""The learning rate as a function of the step: a factor of the recipe's rate, in (0, 1]."""

import math
from collections.abc import Callable

from benchmark.errors import InputError
from benchmark.recipe import Recipe
from datasets._registry import Registry

Schedule = Callable[[int], float]
Shape = Callable[[float, float, Recipe], float]
"""The factor after warm-up, from how much of the time after warm-up and of the whole run has passed."""
SCHEDULES: Registry[Shape] = Registry("schedule", __package__, "marginbench.schedules")

ONECYCLE_FIRST = 1 / 25
ONECYCLE_LAST = 1e-4 / 25


def schedule_for(recipe: Recipe, total_steps: int) -> Schedule:
    """The factor at each step, counted from 0."""
    shape = SCHEDULES.get(recipe.schedule)
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


@SCHEDULES.register
def cosine(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    """Falls along half a cosine from `lr` to 0."""
    return (1.0 + math.cos(math.pi * since_warmup)) / 2.0


@SCHEDULES.register
def onecycle(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    """Rises along a cosine from `lr`/25 to `lr` in warm-up, then falls along a cosine almost to 0."""
    return ONECYCLE_LAST + (1.0 - ONECYCLE_LAST) * (1.0 + math.cos(math.pi * since_warmup)) / 2.0


@SCHEDULES.register
def step(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    """Divides the learning rate by 10 at each of the `milestones`."""
    return 0.1 ** sum(of_run >= milestone for milestone in recipe.milestones)


@SCHEDULES.register
def constant(since_warmup: float, of_run: float, recipe: Recipe) -> float:
    """Stays at `lr` after warm-up."""
    return 1.0
