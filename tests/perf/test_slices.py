"""Contenders that take turns: real processes, really stopped."""

import os
import time
from itertools import count

import pytest

from perf._slices import Contender, pace, paces_in_slices, stamp
from tests.benchmark.engine.runner import wait_until_gone

SLICE = 0.3
LATE = 0.1  # seconds that it may take a signal to arrive


def spin() -> None:
    """For a hundredth of a second of processor time; a sleep would go on in a process that is stopped."""
    until = time.process_time() + 0.01
    while time.process_time() < until:
        pass


def count_to(last: int) -> None:
    for done in range(last + 1):
        stamp(done)
        spin()


def count_for_ever() -> None:
    for done in count():
        stamp(done)
        spin()


def fail() -> None:
    stamp(0)
    raise ValueError("on purpose")


def test_only_time_inside_of_slices_counts() -> None:
    slices = [(0.0, 2.0), (3.0, 5.0), (8.0, 9.0)]
    assert pace([(1.0, 10.0), (4.0, 99.0), (8.5, 45.0)], slices) == pytest.approx(35.0 / 3.5)
    assert pace([(1.0, 10.0)], slices) == 0.0


def test_one_is_stopped_while_the_other_goes() -> None:
    one, other = Contender(count_to, (100,), SLICE), Contender(count_for_ever, (), SLICE)
    paces = paces_in_slices(one, other)
    assert all(5.0 < found < 101.0 for found in paces), paces
    assert len(one.slices) > 2
    for contender in (one, other):
        ((who, stamps),) = contender.stamps.items()
        for when, _ in stamps:
            assert any(begin <= when <= end + LATE for begin, end in contender.slices)
        assert wait_until_gone([int(who)]) == []


def test_a_contender_that_fails_says_why_and_leaves_nothing_behind() -> None:
    one, other = Contender(fail, (), SLICE), Contender(count_for_ever, (), SLICE)
    with pytest.raises(RuntimeError, match=r"fail\(\) ended with code 1: ValueError: on purpose"):
        paces_in_slices(one, other)
    with pytest.raises(ProcessLookupError):
        os.killpg(other.process.pid, 0)


def test_one_that_ends_without_having_done_anything_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="had done nothing"):
        paces_in_slices(Contender(os.getpid, (), SLICE), Contender(count_for_ever, (), SLICE))
