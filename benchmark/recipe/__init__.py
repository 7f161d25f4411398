"""How a backbone is trained: the recipe, and the optimisers, schedules and augmentations that it names."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from benchmark.errors import InputError

CHANNEL_ORDERS = ("rgb", "bgr")


def _later(default: Any) -> Any:
    """A key that is younger than stored results: at its default it is left out of the description, and ids stay."""
    return field(default=default, metadata={"later": True})


@dataclass(frozen=True)
class Recipe:
    """The same for every loss of a comparison. New keys are added with `_later`."""

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
    pixel_mean: tuple[float, ...] = _later(())  # 0 to 1, one for all channels or one each; empty: measured
    pixel_std: tuple[float, ...] = _later(())  # in the same way
    channel_order: str = _later("rgb")  # in which the net gets the channels
    flip_test: bool = _later(False)  # whether the mirror image's embedding is added

    def description(self) -> dict[str, Any]:
        """The recipe as plain data: what is hashed and stored. `whole` gives back what is left out."""
        later = {one.name: one.default for one in fields(self) if one.metadata.get("later")}
        return {name: value for name, value in asdict(self).items() if name not in later or value != later[name]}

    def check_channels(self, channels: int) -> None:
        """Raises `InputError` for images whose number of channels the recipe does not fit."""
        if self.channel_order not in CHANNEL_ORDERS:
            raise InputError(f"channel_order={self.channel_order!r} is not allowed; expected 'rgb' or 'bgr'")
        if self.channel_order == "bgr" and channels != 3:
            raise InputError(
                f"channel_order 'bgr' is for images with 3 channels, and these have {channels}; leave it out"
            )
        for name, given in (("pixel_mean", self.pixel_mean), ("pixel_std", self.pixel_std)):
            if len(given) not in (0, 1, channels):
                raise InputError(
                    f"{name} has {len(given)} numbers for images with {channels} channel{'s' * (channels > 1)}; "
                    "expected one number, or one for each channel"
                )
        if not all(value > 0.0 for value in self.pixel_std):
            raise InputError(f"pixel_std={list(self.pixel_std)} is not allowed; expected numbers above 0")


def whole(description: Mapping[str, Any]) -> dict[str, Any]:
    """A described recipe with the defaults that its description leaves out."""
    return {**asdict(Recipe()), **description}
