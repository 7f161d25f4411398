"""Times runs in turns and takes ratios within a round, so that a slow moment of the machine affects both sides."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Runs = Mapping[str, Callable[[], object]]
Times = dict[str, list[float]]


def in_turns(
    runs: Runs,
    rounds: int,
    warm_up: int = 1,
    before_each: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = time.perf_counter,
) -> Times:
    """Seconds of each run in each round, after warm-up rounds."""
    times: Times = {name: [] for name in runs}
    for turn in range(warm_up + rounds):
        for name, run in runs.items():
            before_each()
            begin = clock()
            run()
            if turn >= warm_up:
                times[name].append(clock() - begin)
    return times


@dataclass(frozen=True)
class Spread:
    """Median and quartiles."""

    value: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    low, middle, high = (float(value) for value in np.quantile(np.asarray(values), (0.25, 0.5, 0.75)))
    return Spread(middle, low, high)


def ratio(times: Times, one: str, other: str) -> Spread:
    """Of the two runs' ratios within each round."""
    return spread([a / b for a, b in zip(times[one], times[other], strict=True)])
