"""The audit checks properties that every loss must have. `python -m benchmark audit` runs it."""

from benchmark.audit.checks import CHECKS, Check
from benchmark.audit.run import CheckOutcome, as_json, as_table, audit
