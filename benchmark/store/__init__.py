"""Results on disk: written whole or not at all, checked when read, claimed by one runner at a time."""

from benchmark.store.claims import Claim, claim
from benchmark.store.files import write_atomically
from benchmark.store.runs import DamagedError, Failure, Run, Store
from benchmark.store.summary import summary_table

__all__ = ["Claim", "DamagedError", "Failure", "Run", "Store", "claim", "summary_table", "write_atomically"]
