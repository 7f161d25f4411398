"""The checks, and the small heads and batches that they use.

Each check takes the class of a loss and returns the worst deviation, which must not exceed the tolerance.
"""

import copy
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import losses
from losses import CosineHead, Head, MarginHead, _fused, _tiles

CLASSES, DIM, BATCH = 7, 16, 12


def make(loss: type[Head], dtype: torch.dtype = torch.float32, num_classes: int = CLASSES, **settings: Any) -> Head:
    """A head of the loss with its defaults, and with the sizes that some losses need."""
    counts = [3 + label for label in range(num_classes)]
    head = loss(num_classes, DIM, num_samples=BATCH, total_steps=100, class_counts=counts, **settings)
    return head.to(dtype)


def batch(dtype: torch.dtype = torch.float32, num_classes: int = CLASSES, seed: int = 1) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    embeddings = 2.0 * torch.randn(BATCH, DIM, generator=random, dtype=torch.float64)
    return embeddings.to(dtype), torch.randint(num_classes, (BATCH,), generator=random)


def trained_batch(weight: Tensor, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Embeddings as after training: target cosines from 0.5 to 0.99, lengths from 0.5 to 8."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(len(weight), (size,), generator=random)
    own = F.normalize(weight.detach()[labels].double(), dim=1)
    away = torch.randn(own.shape, generator=random, dtype=torch.float64)
    away = F.normalize(away - (away * own).sum(1, keepdim=True) * own, dim=1)
    cosine = 0.5 + 0.49 * torch.rand(size, 1, generator=random, dtype=torch.float64)
    length = 0.5 + 7.5 * torch.rand(size, 1, generator=random, dtype=torch.float64)
    return (length * (cosine * own + (1.0 - cosine**2).sqrt() * away)).to(weight.dtype), labels


def loss_and_gradients(head: Head, embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, gradient of the embeddings and gradient of the weights."""
    leaf, weight = embeddings.detach().clone().requires_grad_(), trained_weight(head)
    weight.grad = None
    loss = head(leaf, labels, index=torch.arange(len(labels)))
    loss.backward()
    return loss.detach(), gradient_of(leaf), gradient_of(weight)


def trained_weight(head: Head) -> nn.Parameter:
    """The parameter behind `head.weight`: itself, or the centres (C×K×D) that a sub-centre loss chooses it from."""
    if isinstance(head.weight, nn.Parameter):
        return head.weight
    sizes = head.num_classes, head.dim
    return next(one for one in head.parameters() if one.ndim > 1 and (one.shape[0], one.shape[-1]) == sizes)


@torch.no_grad()
def set_weight(head: Head, rows: Tensor) -> None:
    """Gives the head these class weights (C×D), and each centre of a class the same where it has several."""
    weight = trained_weight(head)
    weight.copy_(rows.view(len(rows), *[1] * (weight.ndim - 2), rows.shape[1]))


def gradient_of(leaf: Tensor) -> Tensor:
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def paths(head: Head) -> Iterator[Head]:
    """The head on each of its computing paths: fused and plain where it has both."""
    if not isinstance(head, CosineHead) or not head.fusable:
        yield head
        return
    for fused in (True, False):
        head.fused = fused
        yield head


def freeze(head: Head) -> Head:
    """Freezes the adaptive state of the head."""
    head.update_state = lambda batch: None  # type: ignore[method-assign]
    return head


@contextmanager
def blocks(width: int, keep_bytes: int) -> Iterator[None]:
    """The fused path in tiles of the given width, keeping exponentials up to the given size."""
    before = _tiles.NARROWEST, _tiles.WIDEST, _fused.KEEP_BYTES
    _tiles.NARROWEST, _tiles.WIDEST, _fused.KEEP_BYTES = width, width, keep_bytes
    try:
        yield
    finally:
        _tiles.NARROWEST, _tiles.WIDEST, _fused.KEEP_BYTES = before


FUSED_RELATIVE, FUSED_FLOOR = 1e-5, 1e-7
LENGTHS = (1.0, 8.0, 50.0)  # of embeddings: shorter than in the audit's batches, all equal, and longer


class NotApplicableError(Exception):
    """The check does not apply to this loss; the message says why."""


@dataclass(frozen=True)
class Check:
    name: str
    tolerance: float
    meaning: str
    measure: Callable[[type[Head]], float]


CHECKS: list[Check] = []


def check(name: str, tolerance: float, meaning: str) -> Callable[[Callable[[type[Head]], float]], Any]:
    def add(measure: Callable[[type[Head]], float]) -> Callable[[type[Head]], float]:
        CHECKS.append(Check(name, tolerance, meaning, measure))
        return measure

    return add


def _not_finite(*values: Tensor) -> int:
    return sum(int((~value.isfinite()).sum()) for value in values)


def _apart(one: Tensor, other: Tensor) -> float:
    """Largest difference, relative to the larger of 1 and the largest value; infinite if a value is not finite."""
    difference = (one.double() - other.double()).abs().max() / other.double().abs().max().clamp_min(1.0)
    return float(difference.nan_to_num(nan=math.inf))


def _poles(head: Head) -> tuple[Tensor, Tensor]:
    """Embeddings at c=+1, at c=−1, and one rounding error away from them."""
    labels = torch.arange(BATCH) % CLASSES
    signs = torch.tensor([1.0, -1.0]).repeat(BATCH // 2)[:, None]
    embeddings = 3.0 * signs * head.weight.detach()[labels]
    embeddings[BATCH // 2 :] *= 1.0 + 1e-7 * torch.arange(DIM)
    return embeddings, labels


@check("c=±1", 0.0, "non-finite values of loss and gradients at c=+1 and c=−1")
def finite_at_poles(loss: type[Head]) -> float:
    return sum(_not_finite(*loss_and_gradients(head, *_poles(head))) for head in paths(make(loss)))


@check("zero", 0.0, "non-finite values, or the gradient that zero embeddings and zero weights get")
def finite_at_zero(loss: type[Head]) -> float:
    worst = 0.0
    for head in paths(make(loss)):
        embeddings, labels = batch()
        embeddings[:4] = 0.0
        with torch.no_grad():
            trained_weight(head)[labels[[0, -1]]] = 0.0
        value, to_embeddings, to_weight = loss_and_gradients(head, embeddings, labels)
        bad = _not_finite(value, to_embeddings, to_weight)
        at_zero = torch.cat([to_embeddings[:4].flatten(), to_weight[labels[[0, -1]]].flatten()]).abs().max()
        allowed = 0.0 if loss.normalises else 1e3
        worst = max(worst, math.inf if bad else 0.0 if at_zero <= allowed else float(at_zero))
    return worst


def _autocast(loss: type[Head], dtype: torch.dtype) -> float:
    worst = 0.0
    for head in paths(make(loss)):
        for embeddings, labels in (batch(), _poles(head)):
            half = embeddings.to(dtype)
            rounded = half.float()
            expected = copy.deepcopy(head)(rounded, labels, index=torch.arange(BATCH))
            with torch.autocast("cpu", dtype=dtype):
                found = loss_and_gradients(copy.deepcopy(head), half, labels)
            worst = max(worst, math.inf if _not_finite(*found) else _apart(found[0], expected.detach()))
    return worst


@check("bf16", 1e-6, "under bfloat16 autocast: not finite, or different from the fp32 loss of the same embeddings")
def bfloat16(loss: type[Head]) -> float:
    return _autocast(loss, torch.bfloat16)


@check("fp16", 1e-6, "under float16 autocast: not finite, or different from the fp32 loss of the same embeddings")
def float16(loss: type[Head]) -> float:
    return _autocast(loss, torch.float16)


@check("falls", 1e-9, "how much the loss falls, so the target logit rises, while θ goes from 0 to π, at any length")
def target_falls(loss: type[Head]) -> float:
    head = make(loss, torch.float64)
    head(*batch(torch.float64), index=torch.arange(BATCH))
    freeze(head)
    set_weight(head, torch.eye(DIM, dtype=torch.float64)[:CLASSES])
    return max(_worst_fall(head, length) for length in LENGTHS)


def _worst_fall(head: Head, length: float) -> float:
    values = []
    for theta in torch.linspace(0.0, math.pi, 361, dtype=torch.float64):
        head.generator.manual_seed(0)
        embedding = torch.zeros(1, DIM, dtype=torch.float64)
        embedding[0, 0], embedding[0, -1] = length * theta.cos(), length * theta.sin()
        with torch.no_grad():
            values.append(head(embedding, torch.tensor([0]), index=torch.tensor([0])))
    curve = torch.stack(values)
    return float((curve[:-1] - curve[1:]).clamp_min(0.0).max().nan_to_num(nan=math.inf))


@check("gradient", 1e-4, "autograd against central differences in float64, with what has no gradient kept constant")
def finite_differences(loss: type[Head]) -> float:
    embeddings, labels = batch(torch.float64)
    embeddings, labels = embeddings[:5], labels[:5]
    head = make(loss, torch.float64)
    head(embeddings, labels, index=torch.arange(5))
    freeze(head)
    head.generator.manual_seed(0)
    reference = copy.deepcopy(head)
    _keep_constant(reference, embeddings, labels)
    reference.generator.manual_seed(0)
    expected = _differences(reference, embeddings, labels)
    worst = 0.0
    for path in paths(head):
        path.generator.manual_seed(0)
        _, *found = loss_and_gradients(path, embeddings, labels)
        worst = max(worst, *(_relative(a, b) for a, b in zip(found, expected, strict=True)))
    return worst


def _relative(found: Tensor, expected: Tensor) -> float:
    scale = expected.abs().max().clamp_min(1e-6)
    return float(((found - expected).abs().max() / scale).nan_to_num(nan=math.inf))


class _Tape:
    """Records values, then repeats them."""

    def __init__(self) -> None:
        self.noted: list[Tensor] = []
        self.repeated: Iterator[Tensor] | None = None

    def __call__(self, value: Tensor) -> Tensor:
        if self.repeated is not None:
            return next(self.repeated)
        self.noted.append(value.detach())
        return self.noted[-1]

    def repeat(self) -> None:
        self.repeated = itertools.cycle(self.noted)


def _keep_constant(head: Head, embeddings: Tensor, labels: Tensor) -> None:
    """Makes the head repeat its constants of this batch, and the margin offsets that it declares as detached."""
    tapes = {"constant": _Tape()}
    head.constant = tapes["constant"]  # type: ignore[method-assign]
    if isinstance(head, MarginHead) and head.gradient == "detached":
        for name in ("target_value", "negative_values"):
            tapes[name] = _Tape()
            setattr(head, name, _with_offset(getattr(head, name), tapes[name]))
    with torch.no_grad():
        head(embeddings, labels, index=torch.arange(len(labels)))
    for tape in tapes.values():
        tape.repeat()


def _with_offset(values: Callable[..., Tensor], tape: _Tape) -> Callable[..., Tensor]:
    return lambda cosine, *rest: cosine + tape(values(cosine, *rest) - cosine)


@torch.no_grad()
def _differences(head: Head, embeddings: Tensor, labels: Tensor, step: float = 1e-6) -> list[Tensor]:
    embeddings, index = embeddings.clone(), torch.arange(len(labels))
    state = head.generator.get_state()

    def value() -> Tensor:
        head.generator.set_state(state)
        result: Tensor = head(embeddings, labels, index=index)
        return result

    gradients = []
    for tensor in (embeddings, trained_weight(head).data):
        gradient, flat = torch.zeros_like(tensor), tensor.view(-1)
        for place in range(len(flat)):
            middle = float(flat[place])
            flat[place] = middle + step
            above = value()
            flat[place] = middle - step
            gradient.view(-1)[place] = (above - value()) / (2.0 * step)
            flat[place] = middle
        gradients.append(gradient)
    return gradients


@check("neutral", 1e-6, "with its neutral setting: difference from the loss that it then equals (value, gradient of x)")
def neutral(loss: type[Head]) -> float:
    if loss.neutral is None:
        raise NotApplicableError("declares no neutral setting")
    settings, baseline_name, *rest = loss.neutral
    head = make(loss, torch.float64, **settings)
    embeddings, labels = batch(torch.float64)
    value, to_embeddings, _ = loss_and_gradients(head, embeddings, labels)
    baseline = losses.get(baseline_name)
    same: dict[str, Any] = {"s": float(getattr(head, "s"))} if "s" in baseline.hyper else {}  # noqa: B009
    expected, expected_gradient, _ = loss_and_gradients(
        make(baseline, torch.float64, **(rest[0] if rest else same)), embeddings, labels
    )
    return max(_apart(value, expected), _apart(to_embeddings, expected_gradient))


UNIT = f"{FUSED_RELATIVE:g} of the largest entry + {FUSED_FLOOR:g}"


@check("fused", 1.0, f"fused fp32 against plain float64, in units of {UNIT}")
def fused_equals_plain(loss: type[Head]) -> float:
    if not getattr(make(loss), "fusable", False):
        raise NotApplicableError("has no fused path")
    worst = 0.0
    for settings in ({}, {"s": 256.0}) if "s" in loss.hyper else ({},):
        for geometry in ("random", "trained"):
            for keep_bytes in (0, 2**30):
                with blocks(width=10, keep_bytes=keep_bytes):
                    worst = max(worst, _fused_deviation(loss, geometry, settings))
    return worst


def _fused_deviation(loss: type[Head], geometry: str, settings: dict[str, Any]) -> float:
    head = make(loss, num_classes=57, **settings)
    embeddings, labels = batch(num_classes=57) if geometry == "random" else trained_batch(head.weight, BATCH, 2)
    reference = copy.deepcopy(head).double()
    head.fused, reference.fused = True, False  # type: ignore[assignment]
    found = loss_and_gradients(head, embeddings, labels)
    expected = loss_and_gradients(reference, embeddings.double(), labels)
    return max(_in_units(one, other) for one, other in zip(found, expected, strict=True))


def _in_units(found: Tensor, expected: Tensor) -> float:
    allowed = FUSED_RELATIVE * expected.abs().max() + FUSED_FLOOR
    return float(((found - expected).abs().max() / allowed).nan_to_num(nan=math.inf))


@check("evaluation", 1e-6, "evaluation that changes the state, differs when repeated or has a margin")
def evaluation_changes_nothing(loss: type[Head]) -> float:
    head = make(loss)
    head(*batch(), index=torch.arange(BATCH))
    before = copy.deepcopy(head.state_dict())
    head.eval()
    embeddings, labels = batch(seed=5)
    with torch.no_grad():
        first = head(embeddings, labels, index=torch.arange(BATCH))
        scores = head.logits(embeddings)
        second = head(embeddings, labels)
    if _states_differ(before, head.state_dict()) or not torch.equal(first, second):
        return math.inf
    if loss.is_cross_entropy:
        return _apart(first, F.cross_entropy(scores, labels))
    if loss.margin_name not in loss.hyper:
        return 0.0
    return _apart(first, _without_margin(loss, head)(embeddings, labels).detach())


def _without_margin(loss: type[Head], head: Head) -> Head:
    """The head with margin 0, in training mode: its loss is what evaluation must give if it is not a cross-entropy."""
    no_margin: dict[str, Any] = {loss.margin_name: 0.0}
    bare = make(loss, **no_margin)
    bare.load_state_dict(head.state_dict())
    return bare


def _states_differ(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() != other.keys() or any(not torch.equal(one[key], other[key]) for key in one)


@check("resume", 0.0, "steps of 20 after loading a state_dict that are not those of the head that was saved")
def state_survives(loss: type[Head]) -> float:
    head = make(loss)
    _train(head, steps=5, seed=10)
    head.end_epoch()
    resumed = loss(CLASSES, DIM, total_steps=100, seed=99)
    resumed.load_state_dict(copy.deepcopy(head.state_dict()))
    ways = zip(_train(head, 20, seed=11), _train(resumed, 20, seed=11), strict=True)
    return sum(one != other for one, other in ways)


def _train(head: Head, steps: int, seed: int) -> list[float]:
    optimiser = torch.optim.SGD(head.parameters(), lr=0.1)
    values = []
    for step in range(steps):
        optimiser.zero_grad()
        embeddings, labels = batch(seed=100 * seed + step)
        loss = head(embeddings, labels, index=torch.arange(BATCH))
        loss.backward()
        optimiser.step()
        values.append(loss.item())
        if step == steps // 2:
            head.end_epoch()
    return values


@check("relabel", 1e-6, "change of loss and gradients when the classes are renumbered")
def relabelling_permutes(loss: type[Head]) -> float:
    embeddings, labels = batch(torch.float64)
    order = torch.randperm(CLASSES, generator=torch.Generator().manual_seed(3))
    head, renamed = make(loss, torch.float64), make(loss, torch.float64)
    with torch.no_grad():
        for one, other in zip(head.parameters(), renamed.parameters(), strict=True):
            if len(one.shape) and one.shape[0] == CLASSES:
                other[order] = one
    expected = loss_and_gradients(head, embeddings, labels)
    value, to_embeddings, to_weight = loss_and_gradients(renamed, embeddings, order[labels])
    back = (value, to_embeddings, to_weight[order])
    return max(_apart(one, other) for one, other in zip(back, expected, strict=True))


@check("one", 0.0, "non-finite values with a batch of one")
def batch_of_one(loss: type[Head]) -> float:
    embeddings, labels = batch()
    return sum(_not_finite(*loss_and_gradients(head, embeddings[:1], labels[:1])) for head in paths(make(loss)))


@check("two", 0.0, "non-finite values with two classes, unless the loss refuses them with a clear error")
def two_classes(loss: type[Head]) -> float:
    try:
        head = make(loss, num_classes=2)
    except ValueError as refusal:
        raise NotApplicableError(f"refused: {refusal}") from refusal
    embeddings, labels = batch(num_classes=2)
    optimiser = torch.optim.SGD(head.parameters(), lr=0.1)
    bad = 0
    for _ in range(3):
        leaf = embeddings.clone().requires_grad_()
        optimiser.zero_grad()
        value = head(leaf, labels, index=torch.arange(BATCH))
        value.backward()
        bad += _not_finite(value, gradient_of(leaf), gradient_of(trained_weight(head)))
        optimiser.step()
    return bad
