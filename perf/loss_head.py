"""A head's forward and backward against the three matrix products that no exact method avoids, and against peers.

python -m perf.loss_head [--quick]
"""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection

import torch

import losses
from perf import _contenders as contenders
from perf._alone import alone
from perf._model import Bar, Curve, Measured, Part, at_least, at_most
from perf._process import forget_peak, held_bytes, in_own_process, peak_bytes_since
from perf._timing import Spread, Times, in_turns, ratio, spread

TITLE = "Loss head"
HOW = (
    "Forward and backward of a head with B embeddings of D dimensions and C classes, against X·Wᵀ, G·W and Gᵀ·X as "
    "one writes them, pytorch-metric-learning's ArcFaceLoss and ArcFace as tutorials write it. Two threads; contenders "
    "take turns, and between them other memory is gone through, as a backbone would. Memory is a step's peak beyond "
    "weights and their gradient; each contender runs in a separate process."
)
THREADS = 2
USUAL = (256, 256)  # B and D
HUGE, OF_HUGE = 1_000_000, (64, 64)
SIZES, QUICK_SIZES = (10, 100, 1_000, 10_000, 100_000, HUGE), (1_000,)
ALL_LOSSES_AT, QUICK_ALL_LOSSES_AT = 10_000, 100
PEERS = ("pytorch-metric-learning", "textbook")
NEVER_SLOWER, IN_MEMORY, KEEPING, ONE_TILE = at_least(1.0), at_most(300.0), at_most(1.3), at_most(1.8)
ENOUGH_TO_FUSE = 4_096  # classes, at B=64 too
BOUNDED_AT = (10_000, 100_000)  # where the ratio to the products has a bar


def measure(quick: bool) -> Part:
    part = Part("loss_head", TITLE, HOW)
    sizes, threads = (QUICK_SIZES, 1) if quick else (SIZES, THREADS)
    seconds: dict[str, list[float]] = {name: [] for name in ("three products", "arcface", *PEERS)}
    memory: dict[str, list[float]] = {name: [] for name in contenders.HEADS}
    for size in sizes:
        setting = (size, *_batch_and_dim(size), 3 if quick else _rounds(size))
        bound = in_own_process(times_beside_products, *setting, threads=threads)
        peers = in_own_process(times_beside_peers, *setting, threads=threads)
        held = in_own_process(memory_beyond_weights, *setting[:3], threads=threads)
        part.measured += _ratios(size, bound, peers, judged=not quick) + _memory(size, held)
        for name, times in {"three products": bound["products"], **peers}.items():
            seconds[name].append(spread(times).value)
        for name, one in held.items():
            memory[name].append(max(one, 0.1))
    part.measured += _every_loss(quick)
    at = tuple(float(size) for size in sizes)
    note = "" if quick else f" ({HUGE:,}: B=64, D=64)"
    part.curves += [
        Curve("loss-head-time", name, f"classes{note}", "s", at, tuple(found)) for name, found in seconds.items()
    ]
    part.curves += [
        Curve("loss-head-memory", name, f"classes{note}", "MB", at, tuple(found)) for name, found in memory.items()
    ]
    return part


def _batch_and_dim(size: int) -> tuple[int, int]:
    return OF_HUGE if size >= HUGE else USUAL


def _rounds(size: int) -> int:
    return 60 if size <= 1_000 else 25 if size < 100_000 else 7 if size < HUGE else 3


def _at(size: int) -> str:
    batch, dim = _batch_and_dim(size)
    return f"C={size:,}, B={batch}, D={dim}"


def _ratios(size: int, bound: Times, peers: Times, judged: bool) -> list[Measured]:
    at, barred = _at(size), size in BOUNDED_AT

    def against(what: str, found: Spread, bar: Bar | None = None) -> Measured:
        return Measured(what, at, found.value, "×", found.low, found.high, bar, judged)

    return [
        against("arcface / three products", ratio(bound, "arcface", "products"), KEEPING if barred else None),
        against("arcface keeping one tile / three products", ratio(bound, "one tile", "products"),
                ONE_TILE if barred else None),
        against("arcface / products into existing memory", ratio(bound, "arcface", "in place")),
        against("pytorch-metric-learning / arcface", ratio(peers, PEERS[0], "arcface"),
                NEVER_SLOWER if size < HUGE else None),
        against("textbook / arcface", ratio(peers, PEERS[1], "arcface")),
    ]  # fmt: skip


def _memory(size: int, held: dict[str, float]) -> list[Measured]:
    bars = {"arcface": IN_MEMORY} if size == HUGE else {}
    return [
        Measured(f"{name}: memory beyond weights and gradient", _at(size), one, "MB", bar=bars.get(name))
        for name, one in held.items()
    ]


def _every_loss(quick: bool) -> list[Measured]:
    size = QUICK_ALL_LOSSES_AT if quick else ALL_LOSSES_AT
    times = in_own_process(times_of_all_losses, size, 1 if quick else 5, threads=1 if quick else THREADS)
    found = {name: ratio(times, name, "arcface") for name in times if name != "arcface"}
    slowest_first = sorted(found.items(), key=lambda one: -one[1].value)
    return [Measured(f"{name} / arcface", _at(size), one.value, "×", one.low, one.high) for name, one in slowest_first]


def other_memory() -> Callable[[], object]:
    """Reads 256 MB, so that nothing of a contender is left in the caches."""
    elsewhere = torch.zeros(2**26)
    return lambda: elsewhere.add_(1.0)


def times_beside_products(size: int, batch: int, dim: int, rounds: int) -> Times:
    embeddings, labels, weight = contenders.inputs(size, dim, batch)
    runs = {
        "products": contenders.three_products(embeddings, weight),
        "in place": contenders.products_in_place(embeddings, weight),
        "arcface": contenders.step(contenders.arcface(size, dim), embeddings, labels),
        "one tile": contenders.one_tile(contenders.arcface(size, dim), embeddings, labels),
    }
    return in_turns(runs, rounds, warm_up=2, before_each=other_memory())


def times_beside_peers(size: int, batch: int, dim: int, rounds: int) -> Times:
    embeddings, labels, _ = contenders.inputs(size, dim, batch)
    runs = {name: contenders.step(make(size, dim), embeddings, labels) for name, make in contenders.HEADS.items()}
    return in_turns(runs, rounds, warm_up=2, before_each=other_memory())


def times_of_all_losses(size: int, rounds: int) -> Times:
    batch, dim = USUAL
    embeddings, labels, _ = contenders.inputs(size, dim, batch)
    index = torch.arange(batch)
    runs = {}
    for name in losses.names():
        head = losses.create(name, size, dim, num_samples=batch, total_steps=1_000)
        runs[name] = contenders.step(head, embeddings, labels, index=index)
    return in_turns(runs, rounds, before_each=other_memory())


def memory_beyond_weights(size: int, batch: int, dim: int) -> dict[str, float]:
    """Peak MB of one step of each head, each in a process split off before any of them ran."""
    apart = multiprocessing.get_context("fork")
    found = {}
    for name in contenders.HEADS:
        ours, theirs = apart.Pipe(duplex=False)
        process = apart.Process(target=_peak_of_step, args=(theirs, name, size, batch, dim))
        process.start()
        theirs.close()
        found[name] = ours.recv()
        process.join()
    return found


def _peak_of_step(answer: Connection, name: str, size: int, batch: int, dim: int) -> None:
    make = contenders.HEADS[name]
    embeddings, labels, _ = contenders.inputs(2, dim, batch)
    labels = torch.randint(size, (batch,))
    few = min(size, ENOUGH_TO_FUSE)
    contenders.step(make(few, dim), embeddings, labels % few)()  # what a first call alone needs is not counted
    head = make(size, dim)
    run = contenders.step(head, embeddings, labels)
    before = held_bytes()
    forget_peak()
    run()
    gradients = sum(one.grad.nbytes for one in head.parameters() if one.grad is not None)
    answer.send((peak_bytes_since() - before - gradients) / 2**20)


if __name__ == "__main__":
    alone(measure)
