"""What eight V100 reached, as insightface published it, and the rates and the memory that are fitted to it.

Source: github.com/deepinsight/insightface, recognition/arcface_torch. `TABLE` is the section "Speed Benchmark" of
docs/speed_benchmark.md, whole; it does not state net and batch size. `STATED` are the figures whose net and batch size
are stated: the log in the same file, and the table of README.md at commit 15bda16.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmark.tables import Column, Row, Table, Value

DIM, BATCH = 512, 128  # embedding size, and images for each GPU and step
IMAGE_SHAPE = (3, 112, 112)
FP32 = 4  # bytes
SAMPLED = 0.1  # share of the classes that a step of Partial FC sees
PUBLISHED_GPUS = 8
MIB = 2**20

HEADS = ("replicated", "sharded", "sampled")  # published as Data Parallel, Model Parallel, Partial FC 0.1
TABLE: dict[int, tuple[tuple[int, ...], ...]] = {  # by identities: images/s, MiB a GPU; some heads did not fit
    125_000: ((4681, 4824, 5004), (7358, 5306, 4868)),
    250_000: ((4047, 4521, 4976), (9940, 5826, 5004)),
    500_000: ((3087, 4013, 4900), (14220, 7114, 5202)),
    1_000_000: ((2090, 3449, 4803), (23708, 9966, 5620)),
    1_400_000: ((1672, 3043, 4738), (32252, 11178, 6056)),
    2_000_000: ((2593, 4626), (13978, 6472)),
    4_000_000: ((1748, 4208), (23238, 8284)),
    5_500_000: ((1389, 3975), (32188, 9854)),
    8_000_000: ((3565,), (12310,)),
    16_000_000: ((2679,), (19950,)),
    29_000_000: ((1855,), (32324,)),
}


@dataclass(frozen=True)
class Published:
    """One pace, in images a second of eight V100."""

    identities: int
    head: str
    pace: float
    memory: float = 0.0  # bytes of one GPU
    batch: int = 0  # of all GPUs, where it is stated

    @property
    def share(self) -> float:
        return SAMPLED if self.head == "sampled" else 1.0

    @property
    def seconds(self) -> float:
        """Of one image on one GPU."""
        return PUBLISHED_GPUS / self.pace


FITTED = [
    Published(identities, head, pace, mebibytes * MIB)
    for identities, (paces, memory) in TABLE.items()
    for head, pace, mebibytes in zip(HEADS[-len(paces) :], paces, memory, strict=True)
]
STATED = [
    Published(3_000_000, "sharded", 2_271, batch=1_024),
    Published(3_000_000, "sampled", 5_299, batch=1_024),
    Published(4_000_000, "sharded", 2_165, batch=1_024),
    Published(4_000_000, "sampled", 4_385, batch=1_024),
    Published(8_000_000, "sharded", 767, batch=512),
    Published(8_000_000, "sampled", 3_001, batch=512),
]


@dataclass(frozen=True)
class Net:
    """Of the backbone, for one image."""

    parameters: int
    flop: float  # forward and backward
    kept: float  # bytes kept for the backward pass, in half precision


@cache
def backbone() -> Net:
    """iresnet50, counted by torch on tensors without content."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from benchmark import backbones

    net = backbones.create("iresnet50", IMAGE_SHAPE, DIM).to("meta", torch.bfloat16).train()

    def kept_for(images: int) -> int:
        kept: dict[int, int] = {}

        def keep(tensor: torch.Tensor) -> torch.Tensor:
            kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage().nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
            net(torch.empty(images, *IMAGE_SHAPE, device="meta", dtype=torch.bfloat16))
        return sum(kept.values())

    with FlopCounterMode(display=False) as counter:
        net(torch.empty(2, *IMAGE_SHAPE, device="meta", dtype=torch.bfloat16))
    # the difference leaves out what is kept once for all images: weights and statistics
    return Net(
        sum(one.numel() for one in net.parameters()), 3 * counter.get_total_flops() / 2, kept_for(3) - kept_for(2)
    )


def head_flop(identities: float) -> float:
    """The three products for one image: 2·C·D each."""
    return 6.0 * identities * DIM


def weights(identities: float) -> float:
    """Bytes of the class weights."""
    return FP32 * DIM * identities


@dataclass(frozen=True)
class Rates:
    """What is really reached."""

    backbone: float  # FLOP/s; all that does not depend on the classes is in it
    head: float  # FLOP/s of the three products; all that grows with the classes of a sharded head is in it
    replicated: float  # bytes of class weights a second that a GPU normalises, updates and sends, if each has them all

    def seconds(self, seen: float, whole: float = 0.0) -> float:
        """One image on one GPU, of classes seen by the step and classes whose weights every GPU has."""
        head = head_flop(seen) / self.head + weights(whole) / BATCH / self.replicated
        return backbone().flop / self.backbone + head


@dataclass(frozen=True)
class Memory:
    """Bytes of one GPU beyond 4·C·D·(2 + r)/k of the head."""

    fixed: float
    arrays: float  # of B×C, in fp32
    copies: float  # of the class weights, if each GPU has them all

    def of(self, one: Published) -> float:
        shards = 1 if one.head == "replicated" else PUBLISHED_GPUS
        copies = (2 + one.share) / shards + (self.copies if shards == 1 else 0.0)
        return self.fixed + self.arrays * _array(one) + copies * weights(one.identities)


def _array(one: Published) -> float:
    return FP32 * BATCH * one.share * one.identities


def least_squares(rows: Iterable[Sequence[float]], values: Iterable[float], scales: Iterable[float]) -> list[float]:
    """Coefficients of the rows whose errors, each divided by its scale, have the smallest sum of squares."""
    scale = np.fromiter(scales, float)
    found, *_ = np.linalg.lstsq(np.array(list(rows)) / scale[:, None], np.fromiter(values, float) / scale, rcond=None)
    return [float(value) for value in found]


def _halves() -> tuple[list[Published], list[Published]]:
    """Sharded and sampled heads, and replicated ones."""
    return [one for one in FITTED if one.head != "replicated"], [one for one in FITTED if one.head == "replicated"]


@cache
def fitted_rates() -> Rates:
    """Two rates from the sharded and the sampled heads; what replication costs is what data parallel takes beyond."""
    sharded, replicated = _halves()
    seconds = [one.seconds for one in sharded]
    rows = [(backbone().flop, head_flop(one.share * one.identities)) for one in sharded]
    of_backbone, of_head = least_squares(rows, seconds, seconds)
    beyond = [one.seconds - of_backbone * backbone().flop - of_head * head_flop(one.identities) for one in replicated]
    per_image = [(weights(one.identities) / BATCH,) for one in replicated]
    (of_weights,) = least_squares(per_image, beyond, [one.seconds for one in replicated])
    return Rates(1 / of_backbone, 1 / of_head, 1 / of_weights)


@cache
def fitted_memory() -> Memory:
    """As the rates: two numbers from the sharded and the sampled heads, one from data parallel."""
    sharded, replicated = _halves()
    plain = Memory(0.0, 0.0, 0.0)
    beyond = [one.memory - plain.of(one) for one in sharded]
    fixed, arrays = least_squares([(1.0, _array(one)) for one in sharded], beyond, [one.memory for one in sharded])
    known = Memory(fixed, arrays, 0.0)
    beyond = [one.memory - known.of(one) for one in replicated]
    rows = [(weights(one.identities),) for one in replicated]
    (copies,) = least_squares(rows, beyond, [one.memory for one in replicated])
    return Memory(fixed, arrays, copies)


def fitted_pace(one: Published) -> float:
    """What the fit says of a published pace."""
    whole = one.identities if one.head == "replicated" else 0
    return PUBLISHED_GPUS / fitted_rates().seconds(one.share * one.identities, whole)


def pace_error(one: Published) -> float:
    return fitted_pace(one) / one.pace - 1


def memory_error(one: Published) -> float:
    return fitted_memory().of(one) / one.memory - 1


def _between(errors: Sequence[float]) -> str:
    return f"{min(errors):+.1%} … {max(errors):+.1%}"


def published_table() -> Table:
    """The paces and the memory that the fit is made of, beside what it says of them."""
    rows = [
        (
            f"{one.identities:,}", one.head, f"{one.pace:,.0f}", f"{fitted_pace(one):,.0f}", f"{pace_error(one):+.1%}",
            f"{one.memory / 1e9:.1f}", f"{fitted_memory().of(one) / 1e9:.1f}", f"{memory_error(one):+.1%}",
        )
        for head in HEADS for one in FITTED if one.head == head
    ]  # fmt: skip
    paces = ", ".join(f"{_between([pace_error(one) for one in FITTED if one.head == head])} {head}" for head in HEADS)
    return Table(
        "published",
        "Eight V100, published and fitted",
        _columns("identities", "head", "images/s", "fitted", "off", "GB a GPU", "fitted GB", "GB off"),
        tuple(Row(tuple(Value(text) for text in row)) for row in rows),
        f"Paces are off by {paces}; memory by {_between([memory_error(one) for one in FITTED])}.",
    )


def stated_table() -> Table:
    """Published paces that no fit has seen, of iresnet50 and a known batch."""
    rows = [
        (
            f"{one.identities:,}", one.head, f"{one.batch:,}",
            f"{one.pace:,.0f}", f"{fitted_pace(one):,.0f}", f"{pace_error(one):+.1%}",
        )
        for one in STATED
    ]  # fmt: skip
    return Table(
        "stated",
        "Eight V100, resnet50 and batch stated, not fitted",
        _columns("identities", "head", "batch", "images/s", "fitted", "off"),
        tuple(Row(tuple(Value(text) for text in row)) for row in rows),
        f"Here the fit is off by {_between([pace_error(one) for one in STATED])}.",
    )


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, numeric=name != "head") for name in names)
