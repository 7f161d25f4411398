"""Runs cells: plans them, runs them in local processes or on Ray, and stores results and failures."""

from benchmark.engine.base import RunOutcome, Work
from benchmark.engine.local import run_local
from benchmark.engine.plan import Job, Plan, plan
