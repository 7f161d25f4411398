"""Runs a measurement and records its duration and the load of other processes."""

import time
from collections.abc import Callable

from perf._machine import Neighbours
from perf._model import Part


def timed(measure: Callable[[bool], Part], quick: bool) -> Part:
    begun, neighbours = time.perf_counter(), Neighbours()
    part = measure(quick)
    part.seconds, part.others = time.perf_counter() - begun, neighbours.share()
    return part
