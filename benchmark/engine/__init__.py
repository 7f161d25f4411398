"""Running cells: which are to be run, on which processes, and what becomes of them."""

from benchmark.engine.local import Outcome, run_local
from benchmark.engine.plan import Job, Plan, plan

__all__ = ["Job", "Outcome", "Plan", "plan", "run_local"]
