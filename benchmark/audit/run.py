"""Runs the checks on losses and shows the outcomes. A check that raises has failed; the others go on."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import losses
from benchmark.audit.checks import CHECKS, NotApplicableError


@dataclass(frozen=True)
class CheckOutcome:
    """What one check found for one loss. `worst` is the largest deviation, None if there is none."""

    loss: str
    check: str
    verdict: str  # pass, fail or none (does not apply)
    worst: float | None
    tolerance: float
    detail: str = ""


def audit(names: Iterable[str]) -> Iterator[CheckOutcome]:
    """Runs every check on every loss, and yields the outcomes as they come."""
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


def as_table(outcomes: Sequence[CheckOutcome]) -> str:
    """A row for each loss, a column for each check, then what the columns mean and what failed."""
    by_loss: dict[str, dict[str, CheckOutcome]] = {}
    for outcome in outcomes:
        by_loss.setdefault(outcome.loss, {})[outcome.check] = outcome
    width = max([len(name) for name in by_loss] + [4])
    widths = [max(len(check.name), 8) for check in CHECKS]
    head = [check.name.rjust(size) for check, size in zip(CHECKS, widths, strict=True)]
    lines = ["loss".ljust(width) + "  " + " ".join(head) + "  verdict"]
    lines.append("─" * len(lines[0]))
    for name, found in by_loss.items():
        cells = [_cell(found[check.name]).rjust(size) for check, size in zip(CHECKS, widths, strict=True)]
        verdict = "FAIL" if any(outcome.verdict == "fail" for outcome in found.values()) else "pass"
        lines.append(name.ljust(width) + "  " + " ".join(cells) + "  " + verdict)
    lines += ["", "Each number is the worst deviation found. ✗: above the tolerance. –: the check does not apply."]
    widest = max(widths)
    lines += [f"  {check.name.ljust(widest)}  ≤ {check.tolerance:<6g} {check.meaning}" for check in CHECKS]
    remarks = [outcome for outcome in outcomes if outcome.detail and outcome.verdict == "fail"]
    lines += [""] * bool(remarks) + [f"✗ {item.loss}, {item.check}: {item.detail}" for item in remarks]
    return "\n".join(lines)


def _cell(outcome: CheckOutcome) -> str:
    if outcome.verdict == "none":
        return "–"
    figure = "error" if outcome.worst is None else f"{outcome.worst:.1g}"
    return figure + ("✗" if outcome.verdict == "fail" else "")


def as_json(outcomes: Sequence[CheckOutcome]) -> str:
    """One object per outcome; `worst` is null if there is no number, "inf" if it is infinite."""
    rows = [asdict(outcome) | ({"worst": "inf"} if outcome.worst == float("inf") else {}) for outcome in outcomes]
    return json.dumps(rows, indent=1, ensure_ascii=False)
