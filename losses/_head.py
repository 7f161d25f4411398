"""The contract of every loss: an `nn.Module` that owns its class weights.

A training step checks the input, leaves autocast, calls `update_state` with the batch and then `training_loss`.
Adaptive losses change their state in `update_state` and `end_epoch` only. Evaluation changes no state and has no
margin.
"""

import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from losses import _checks, _registry
from losses._angles import Directions, inverse_norms, row_norms, wide
from losses._hyper import Hyper, check_names, resolve_all, with_search
from losses._tiles import hardest_negative, log_mean_exp_of_negatives

Neutral = tuple[dict[str, Any], str] | tuple[dict[str, Any], str, dict[str, Any]]


class Batch:
    """One checked batch in full precision, and what losses compute from it. Only `norms` has a gradient."""

    def __init__(self, embeddings: Tensor, labels: Tensor, index: Tensor | None, weight: Tensor) -> None:
        self.embeddings = embeddings
        self.labels = labels
        self.index = index
        self.weight = weight

    @cached_property
    def directions(self) -> Directions:
        """Unit embeddings, their own classes' unit weights and the cosines between them, in float64."""
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


class _ConstructorSignature:
    """`__signature__` of a loss's class, with its hyper-parameters; an instance keeps the signature of `forward`."""

    def __get__(self, head: "Head | None", loss: type["Head"]) -> inspect.Signature:
        if head is not None:
            raise AttributeError("__signature__")
        types = {name: kind for base in reversed(loss.__mro__) for name, kind in inspect.get_annotations(base).items()}
        own_first = sorted(loss.hyper, key=lambda name: name not in inspect.get_annotations(loss))
        num_classes, dim, seed = (ARGUMENTS[name] for name in ("num_classes", "dim", "seed"))
        sizes = [size.replace(default=inspect.Parameter.empty, annotation=int) for size in (num_classes, dim)]
        hyper = [
            seed.replace(name=name, default=loss.hyper[name].default, annotation=types.get(name, Any))
            for name in own_first
        ]
        return inspect.Signature([*sizes, *hyper, *list(ARGUMENTS.values())[2:]])


class Head(nn.Module):
    """The base of all losses. A subclass with a `name` is registered; its docstring says formula, paper and use.

    num_classes      C, at least `min_classes`
    dim              D, dimensions of the embeddings
    class_counts     images of each class (C), for losses that use class sizes
    num_samples      size of the training set, for losses that keep state per sample
    total_steps      length of the run, for annealed losses
    label_smoothing  share of the target spread over all classes; cross-entropy losses only
    seed             of the initial weights and of the loss's own random numbers

    Numbers may be Python's, numpy's or 0-d tensors. Wrong values and unknown names raise `InputError`.

    >>> import losses
    >>> head = losses.ArcFace(num_classes=10, dim=8, s=30.0, m=0.3)
    >>> head
    ArcFace(num_classes=10, dim=8, gradient='exact', s=30.0, m=0.3, beyond='linear')
    >>> losses.ArcFace(10, 8, m=28.6)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    losses._errors.InputError: arcface: m=28.6 is not allowed; ...; m is in radians: 28.6° is m=0.499
    """

    name: ClassVar[str] = ""
    hyper: ClassVar[dict[str, Hyper]] = {}
    search: ClassVar[Mapping[str, Any]] = {}
    """The ranges that tuning searches; see `losses/_hyper.py`. Literals only, because they do not change a run."""
    neutral: ClassVar[Neutral | None] = None
    """Settings without margin, and the loss that equals this one then: at the same scale, or with the settings given
    third."""
    margin_name: ClassVar[str] = "m"
    """The hyper-parameter that is the loss's one margin. A loss without that hyper-parameter has none, or several."""
    margin_on: ClassVar[str] = ""
    """What the margin changes by default, for its largest useful value: "cosine" if it is subtracted from the target's
    cosine, "angle" if it is added to the target's angle, "" if neither."""
    scale_on: ClassVar[str] = ""
    """What s multiplies, for rules for s: "cosine", "angle", or "" if neither."""
    normalises: ClassVar[bool] = True
    """Whether embeddings and weights count by their directions only, so that a zero vector gets a zero gradient."""
    is_cross_entropy: ClassVar[bool] = True
    min_classes: ClassVar[int] = 2

    __signature__ = _ConstructorSignature()

    weight: Tensor
    """C×D, what the loss classifies with: a parameter, or chosen from the parameters that `make_weight` made."""

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
        num_classes: int | None = None,
        dim: int | None = None,
        *,
        class_counts: Sequence[int] | Tensor | None = None,
        num_samples: int | None = None,
        total_steps: int | None = None,
        label_smoothing: float = 0.0,
        seed: int = 0,
        **hyper: Any,
    ) -> None:
        super().__init__()
        check_names(self.name, self.hyper, hyper, ARGUMENTS, self.margin_name)  # first: it may stand for a size
        self.num_classes = _checks.whole(self.name, "num_classes", num_classes, self.min_classes)
        self.dim = _checks.whole(self.name, "dim", dim, 1)
        self.num_samples = None if num_samples is None else _checks.whole(self.name, "num_samples", num_samples, 1)
        self.total_steps = None if total_steps is None else _checks.whole(self.name, "total_steps", total_steps, 1)
        self.class_counts = _checks.class_counts(self.name, class_counts, self.num_classes)
        self.label_smoothing = _checks.smoothing(self.name, label_smoothing, self.is_cross_entropy)
        for name, value in resolve_all(self.name, self.hyper, hyper, self.num_classes).items():
            setattr(self, name, value)
        self.generator = torch.Generator().manual_seed(_checks.whole(self.name, "seed", seed, 0))
        self.make_weight()
        self.setup()

    # what a loss writes

    def make_weight(self) -> None:
        """Makes the class weights. A loss with several centres per class makes a parameter C×K×D here, the first
        centre of each class from the first `unit_rows`, and defines `weight` (C×D) as a property."""
        self.weight = nn.Parameter(self.unit_rows())

    def setup(self) -> None:
        """Adds buffers and parameters. The hyper-parameters are attributes already."""

    def update_state(self, batch: Batch) -> None:
        """Updates the adaptive state from a training batch, before the loss uses it. It runs without gradient."""

    def training_loss(self, batch: Batch) -> Tensor:
        """The loss with its margin; by default the cross-entropy of `logits`."""
        return self.evaluation_loss(batch)

    def evaluation_loss(self, batch: Batch) -> Tensor:
        """The loss without margin."""
        scores = self.logits(batch.embeddings)
        return F.cross_entropy(scores, batch.labels, label_smoothing=self.label_smoothing)

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        """B×C scores for inference from embeddings and weights in full precision: no margin, no state change."""
        raise TypeError(f"{type(self).__name__} has no scores")

    def end_epoch(self) -> None:
        """Updates the state of losses that adapt once per epoch; call it after each epoch.

        >>> import losses
        >>> losses.create("kappaface", num_classes=10, dim=8).end_epoch()
        """

    # what a loss uses

    def unit_rows(self) -> Tensor:
        """C×D unit rows from the loss's own generator. For one seed, the first call gives every loss the same rows."""
        rows = torch.randn(self.num_classes, self.dim, generator=self.generator)
        return rows * inverse_norms(rows)[:, None]

    def standard_normal(self, batch: Batch) -> Tensor:
        """One random number per sample (B) from the loss's own generator, in float64. It advances the generator, so
        only `target_cosine` and `training_loss` may call it."""
        return wide(torch.randn(len(batch.labels), generator=self.generator).to(batch.labels.device))

    def constant(self, value: Tensor) -> Tensor:
        """`value` without gradient: what a loss treats as constant although it depends on the batch. The audit's
        finite differences keep it constant too."""
        return value.detach()

    # what a user calls

    def forward(self, embeddings: Tensor, labels: Tensor, index: Tensor | None = None) -> Tensor:
        """The loss of a batch: with margin in training mode, without in evaluation mode.

        embeddings  B×D, any floating-point type; they need not have length 1
        labels      B class numbers from 0 to C−1
        index       B sample numbers, for losses that keep state per sample

        Returns a scalar to call `backward` on. `InputError` says which argument is wrong.

        >>> import losses
        >>> head = losses.create("normface", num_classes=10, dim=8, s=4.0)
        >>> embeddings, labels = head.weight.detach()[:3], torch.tensor([0, 1, 2])
        >>> head(embeddings, labels).backward()
        >>> head(embeddings, torch.tensor([0, 1, 10]))
        Traceback (most recent call last):
            ...
        losses._errors.InputError: normface: label 10 is out of range; labels go from 0 to 9
        """
        embeddings, weight = self._full_precision(embeddings)
        labels = _checks.class_labels(self.name, labels, len(embeddings), self.num_classes)
        _checks.check_index(self.name, index, len(embeddings), self.num_samples)
        batch = Batch(embeddings, labels, index, weight)
        with _without_autocast(embeddings.device.type):
            if not self.training:
                return self.evaluation_loss(batch)
            with torch.no_grad():
                self.update_state(batch)
            return self.training_loss(batch)

    def logits(self, embeddings: Tensor) -> Tensor:
        """B×C scores for inference: no margin, no state change. `InputError` if embeddings are not B×D.

        >>> import losses
        >>> head = losses.create("cosface", num_classes=10, dim=8)
        >>> head.logits(head.weight.detach()).argmax(dim=1).tolist()
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        """
        embeddings, weight = self._full_precision(embeddings)
        with _without_autocast(embeddings.device.type):
            return self.scores(embeddings, weight)

    def extra_repr(self) -> str:
        settings = [f"{name}={getattr(self, name)!r}" for name in self.hyper]
        return ", ".join([f"num_classes={self.num_classes}", f"dim={self.dim}", *settings])

    # state: it includes the random generator, and growing buffers are loaded with the size that was saved

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

    def _full_precision(self, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        _checks.check_embeddings(self.name, embeddings, self.dim)
        weight: Tensor = self.weight
        dtype = torch.promote_types(torch.promote_types(embeddings.dtype, weight.dtype), torch.float32)
        return embeddings.to(dtype), weight.to(dtype)


ARGUMENTS = dict(list(inspect.signature(Head.__init__).parameters.items())[1:-1])
"""What every loss takes beside its hyper-parameters."""
