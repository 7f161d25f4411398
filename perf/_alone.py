"""Runs one measurement, prints its table, and exits with 1 if a bar is missed."""

import argparse
import sys
from collections.abc import Callable

from perf._model import Part, missed


def alone(measure: Callable[[bool], Part]) -> None:
    # Imported here, so that processes whose peak memory is measured do not load torch and pandas.
    from benchmark.tables import as_terminal
    from perf._tables import growth_table, measured_table
    from perf._timed import timed

    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run? No bar is judged")
    part = timed(measure, parser.parse_args().quick)
    print("\n\n".join(as_terminal(table) for table in (measured_table(part), growth_table([part])) if table.rows))
    problems = missed([part])
    print("\n" + ("\n".join(f"MISSED: {problem}" for problem in problems) or "no bar is missed"))
    sys.exit(1 if problems else 0)
