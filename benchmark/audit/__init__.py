"""The audit: properties that every loss must have, a newcomer's included. `python -m benchmark audit`."""

from benchmark.audit.checks import CHECKS, Check
from benchmark.audit.run import CheckOutcome, as_json, as_table, audit
