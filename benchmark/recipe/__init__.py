"""How a backbone is trained: the recipe, and the optimisers, schedules and augmentations that it names."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """The same for every loss of a comparison."""

    optimiser: str = "sgd"  # a name of benchmark.recipe.optimisers
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 5e-4
    schedule: str = "cosine"  # a name of benchmark.recipe.schedules
    warmup: float = 0.05  # share of the run during which the rate rises
    milestones: tuple[float, ...] = ()  # shares of the run at which `step` divides the rate by 10
    epochs: int = 10
    batch: int = 128
    augmentation: str = "none"  # a name of benchmark.recipe.augmentation
    label_smoothing: float = 0.0
