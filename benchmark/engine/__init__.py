"""Running cells: which are to be run, on which processes or machines, and what becomes of them."""

from benchmark.engine.base import Follow, RunOutcome, nothing_follows
from benchmark.engine.local import run_local
from benchmark.engine.plan import Job, Plan, plan

__all__ = ["Follow", "Job", "Plan", "RunOutcome", "nothing_follows", "plan", "run_local"]
