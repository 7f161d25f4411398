"""Runs the checks on losses; one that raises has failed, and the others go on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import losses
from benchmark.audit.checks import CHECKS, NotApplicableError


@dataclass(frozen=True)
class CheckOutcome:
    """What one check found for one loss. `worst` is the largest deviation, None where there is no figure."""

    loss: str
    check: str
    verdict: str  # pass, fail or none (does not apply)
    worst: float | None
    tolerance: float
    detail: str = ""


def audit(names: Iterable[str]) -> Iterator[CheckOutcome]:
    """Every check on every loss, as the results come."""
    for name in names:
        loss = losses.get(name)
        for check in CHECKS:
            try:
                worst = check.measure(loss)
                verdict, detail = ("pass" if worst <= check.tolerance else "fail"), ""
            except NotApplicableError as reason:
                worst, verdict, detail = None, "none", str(reason)
            except Exception as problem:
                worst, verdict, detail = None, "fail", f"{type(problem).__name__}: {problem}"
            yield CheckOutcome(name, check.name, verdict, worst, check.tolerance, detail)
