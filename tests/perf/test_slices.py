"""Contenders that take turns: real processes, really stopped."""

import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from perf._process import ROOT
from perf._slices import Contender, pace, paces_in_slices, stamp
from tests.benchmark.engine.runner import children, wait_until_gone

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
    with pytest.raises(RuntimeError, match="ended without doing any work"):
        paces_in_slices(Contender(os.getpid, (), SLICE), Contender(count_for_ever, (), SLICE))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_however_the_measuring_process_ends_no_contender_stays(number: int) -> None:
    body = (
        "from perf._slices import Contender, paces_in_slices\n"
        "from tests.perf.test_slices import count_for_ever\n"
        "paces_in_slices(Contender(count_for_ever, (), 0.2), Contender(count_for_ever, (), 0.2))\n"
    )
    measuring = subprocess.Popen([sys.executable, "-c", body], cwd=ROOT, stderr=subprocess.DEVNULL)
    while len(contenders := children(measuring.pid)) < 2:
        assert measuring.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    measuring.send_signal(number)
    measuring.wait()
    assert wait_until_gone(contenders) == []


def test_a_process_that_has_stamped_once_makes_no_pace_of_the_others(tmp_path: Path) -> None:
    contender = Contender(count_for_ever, (), SLICE, slices=[(0.0, 10.0)])
    contender.said = tmp_path / "said"
    contender.said.write_text("stamp 1 1.0 0\nstamp 2 1.0 0\nstamp 1 2.0 7\n")
    assert contender.pace() == 0.0
    contender.said.write_text("stamp 1 1.0 0\nstamp 2 1.0 0\nstamp 1 2.0 7\nstamp 2 3.0 8\n")
    assert contender.pace() == pytest.approx(7.0 + 4.0)
