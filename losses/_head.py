"""The contract of every loss: an `nn.Module` that owns its class weights.

A training step goes: check the input, leave autocast, `observe` the batch (adaptive losses change their state
there and nowhere else but in `end_epoch`), then `training_loss`. Evaluation never observes and has no margin.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from losses import _registry
from losses._angles import Directions, inverse_norms, row_norms, wide
from losses._errors import InputError
from losses._hyper import Hyper, resolve_all, with_search
from losses._tiles import hardest_negative, log_mean_exp_of_negatives

Neutral = tuple[dict[str, Any], str] | tuple[dict[str, Any], str, dict[str, Any]]
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class Batch:
    """One checked batch in full precision, and what losses ask of it: without gradient, but for `norms`."""

    def __init__(self, embeddings: Tensor, labels: Tensor, index: Tensor | None, weight: Tensor) -> None:
        self.embeddings = embeddings
        self.labels = labels
        self.index = index
        self.weight = weight

    @cached_property
    def directions(self) -> Directions:
        """Unit embeddings, the targets' weights and the cosines between them, in float64."""
        return Directions.of(self.embeddings.detach(), self.weight.detach(), self.labels)

    @property
    def unit(self) -> Tensor:
        """z = x/‖x‖, in float64."""
        return self.directions.unit

    @property
    def cosine(self) -> Tensor:
        """c_y, in float64."""
        return self.directions.cosine

    def norms(self) -> Tensor:
        """‖x‖ (B), in float64, with gradient; that of a zero vector is 0."""
        return row_norms(wide(self.embeddings))

    def hardest_negative(self) -> Tensor:
        """max over j≠y of c_j, for each sample, without gradient."""
        return hardest_negative(self.unit, self.weight, self.labels)

    def log_mean_exp_of_negatives(self, s: float) -> Tensor:
        """ln of the batch's mean of Σ_{j≠y} exp(s·c_j), without gradient."""
        return log_mean_exp_of_negatives(self.unit, self.weight, self.labels, s)


def _without_autocast(device: str) -> AbstractContextManager[Any]:
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()


class Head(nn.Module):
    """Base of all losses. A subclass with a `name` is registered; its docstring says formula, paper and use.

    class_counts     images of each class (C), for losses that look at class sizes
    num_samples      size of the training set, for losses that keep something per sample
    total_steps      length of the run, for annealed losses
    label_smoothing  share of the target spread over all classes; cross-entropy losses only
    seed             of the initial weights and of the loss's own random numbers
    """

    name: ClassVar[str] = ""
    hyper: ClassVar[dict[str, Hyper]] = {}
    search: ClassVar[Mapping[str, Any]] = {}
    """Where tuning looks for hyper-parameters; see `losses/_hyper.py`. It changes no run: literals only."""
    neutral: ClassVar[Neutral | None] = None
    """Settings under which the loss has no margin, and the loss that it then equals: at the same scale, or with
    the settings given third."""
    normalises: ClassVar[bool] = True
    """Whether embeddings and weights enter by their directions, so that a zero vector gets a zero gradient."""
    is_cross_entropy: ClassVar[bool] = True
    min_classes: ClassVar[int] = 2

    weight: Tensor
    """C×D, what the loss classifies with: a parameter, unless `make_weight` makes others to choose it from."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = {name: value for name, value in vars(cls).items() if isinstance(value, Hyper)}
        for name in declared:
            delattr(cls, name)
        cls.hyper = with_search(cls.__name__, {**cls.hyper, **declared}, vars(cls).get("search", {}))
        if "name" in vars(cls):
            _registry.register(cls)

    def __init__(
        self,
        num_classes: int,
        dim: int,
        *,
        class_counts: Sequence[int] | Tensor | None = None,
        num_samples: int | None = None,
        total_steps: int | None = None,
        label_smoothing: float = 0.0,
        seed: int = 0,
        **hyper: Any,
    ) -> None:
        super().__init__()
        self.num_classes = self._whole("num_classes", num_classes, self.min_classes)
        self.dim = self._whole("dim", dim, 1)
        self.num_samples = None if num_samples is None else self._whole("num_samples", num_samples, 1)
        self.total_steps = None if total_steps is None else self._whole("total_steps", total_steps, 1)
        self.class_counts = self._checked_counts(class_counts)
        self.label_smoothing = self._checked_smoothing(label_smoothing)
        for name, value in resolve_all(self.name, self.hyper, hyper, self.num_classes).items():
            setattr(self, name, value)
        self.generator = torch.Generator().manual_seed(self._whole("seed", seed, 0))
        self.make_weight()
        self.setup()

    # what a loss writes

    def make_weight(self) -> None:
        """Makes the class weights. A loss that trains several centres a class makes a parameter C×K×D here, the
        first of each from the first `unit_rows`, and gives `weight` as a property: the C×D it classifies with."""
        self.weight = nn.Parameter(self.unit_rows())

    def setup(self) -> None:
        """Adds buffers and parameters; the hyper-parameters are attributes already."""

    def update_state(self, batch: Batch) -> None:
        """Updates the adaptive state from a training batch, before it is used; runs without gradient."""

    def training_loss(self, batch: Batch) -> Tensor:
        """The loss with its margin; by default the cross-entropy of `logits`."""
        return self.evaluation_loss(batch)

    def evaluation_loss(self, batch: Batch) -> Tensor:
        """The loss without margin."""
        scores = self.logits(batch.embeddings)
        return F.cross_entropy(scores, batch.labels, label_smoothing=self.label_smoothing)

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        """B×C scores for inference from full-precision embeddings and weights: no margin, no state change."""
        raise TypeError(f"{type(self).__name__} has no scores")

    def end_epoch(self) -> None:
        """Once after each epoch, for losses that adapt by the epoch."""

    # what a loss uses

    def unit_rows(self) -> Tensor:
        """C×D unit rows from the loss's own generator; the first are the same for every loss of a seed."""
        rows = torch.randn(self.num_classes, self.dim, generator=self.generator)
        return rows * inverse_norms(rows)[:, None]

    def standard_normal(self, batch: Batch) -> Tensor:
        """A number for each sample (B) from the loss's own generator, in float64. It moves the generator on, so it is
        for `target_cosine` and `training_loss` alone."""
        return wide(torch.randn(len(batch.labels), generator=self.generator).to(batch.labels.device))

    def constant(self, value: Tensor) -> Tensor:
        """`value` without gradient: what a loss takes as constant although it depends on the batch. The audit's
        finite differences hold it fast too."""
        return value.detach()

    # what a user calls

    def forward(self, embeddings: Tensor, labels: Tensor, index: Tensor | None = None) -> Tensor:
        embeddings, weight = self._full_precision(embeddings)
        labels = self._checked_labels(labels, len(embeddings))
        self._check_index(index, len(embeddings))
        batch = Batch(embeddings, labels, index, weight)
        with _without_autocast(embeddings.device.type):
            if not self.training:
                return self.evaluation_loss(batch)
            with torch.no_grad():
                self.update_state(batch)
            return self.training_loss(batch)

    def logits(self, embeddings: Tensor) -> Tensor:
        """B×C scores for inference: no margin, no state change."""
        embeddings, weight = self._full_precision(embeddings)
        with _without_autocast(embeddings.device.type):
            return self.scores(embeddings, weight)

    def extra_repr(self) -> str:
        settings = [f"{name}={getattr(self, name)!r}" for name in self.hyper]
        return ", ".join([f"num_classes={self.num_classes}", f"dim={self.dim}", *settings])

    # state: the random generator is part of it, and buffers that grow take the size they were saved with

    def get_extra_state(self) -> Tensor:
        return self.generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        self.generator.set_state(state.cpu())

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in self._growing_buffers():
            saved = state_dict.get(prefix + name)
            if saved is not None:
                self._buffers[name] = self.get_buffer(name).new_empty(saved.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _growing_buffers(self) -> tuple[str, ...]:
        return ()

    # checks

    def _full_precision(self, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        if not isinstance(embeddings, Tensor) or not embeddings.is_floating_point():
            came = getattr(embeddings, "dtype", type(embeddings).__name__)
            raise InputError(f"{self.name}: embeddings are {came}; expected a tensor of floating-point numbers")
        if embeddings.ndim != 2 or embeddings.shape[1] != self.dim or len(embeddings) == 0:
            raise InputError(
                f"{self.name}: embeddings have shape {tuple(embeddings.shape)}; expected (B, {self.dim}) with B ≥ 1"
            )
        weight: Tensor = self.weight
        dtype = torch.promote_types(torch.promote_types(embeddings.dtype, weight.dtype), torch.float32)
        return embeddings.to(dtype), weight.to(dtype)

    def _checked_labels(self, labels: Tensor, size: int) -> Tensor:
        if not isinstance(labels, Tensor) or labels.dtype not in INTEGERS:
            came = getattr(labels, "dtype", type(labels).__name__)
            raise InputError(f"{self.name}: labels are {came}; expected a tensor of integer class numbers")
        if labels.shape != (size,):
            raise InputError(
                f"{self.name}: labels have shape {tuple(labels.shape)}; expected ({size},), one for each embedding"
            )
        low, high = (int(bound) for bound in labels.aminmax())
        if low < 0 or high >= self.num_classes:
            raise InputError(
                f"{self.name}: label {low if low < 0 else high} is out of range; "
                f"labels go from 0 to {self.num_classes - 1}"
            )
        return labels.long()

    def _check_index(self, index: Tensor | None, size: int) -> None:
        if index is None:
            return
        if not isinstance(index, Tensor) or index.dtype != torch.int64 or index.shape != (size,):
            came = f"{index.dtype} of shape {tuple(index.shape)}" if isinstance(index, Tensor) else repr(index)
            raise InputError(f"{self.name}: index is {came}; expected int64 sample numbers of shape ({size},)")
        low, high = (int(bound) for bound in index.aminmax())
        if low < 0 or (self.num_samples is not None and high >= self.num_samples):
            top = "" if self.num_samples is None else f" and below num_samples={self.num_samples}"
            raise InputError(f"{self.name}: index {low if low < 0 else high} is out of range; expected ≥ 0{top}")

    def _whole(self, what: str, value: Any, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{self.name}: {what}={value!r} is not allowed; expected an integer ≥ {least}")
        return value

    def _checked_counts(self, counts: Sequence[int] | Tensor | None) -> Tensor | None:
        if counts is None:
            return None
        tensor = torch.as_tensor(counts)
        whole = not tensor.is_floating_point() and tensor.dtype != torch.bool
        if tensor.shape != (self.num_classes,) or not whole or bool((tensor < 0).any()):
            raise InputError(
                f"{self.name}: class_counts of shape {tuple(tensor.shape)} and {tensor.dtype} are not allowed; "
                f"expected {self.num_classes} integers ≥ 0"
            )
        return tensor.to(torch.int64)

    def _checked_smoothing(self, share: float) -> float:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 <= share < 1.0:
            raise InputError(f"{self.name}: label_smoothing={share!r} is not allowed; expected 0 ≤ share < 1")
        if share and not self.is_cross_entropy:
            raise InputError(f"{self.name}: label_smoothing={share!r} is not allowed; it is no cross-entropy loss")
        return float(share)
