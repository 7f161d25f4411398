"""Results on disk: written atomically, checked when read, locked by one runner at a time."""

from benchmark.store.locks import CellLock, lock
from benchmark.store.runs import DamagedError, Failure, Run, Store
from benchmark.store.summary import names_of_test_files, summary_table, write_summary
