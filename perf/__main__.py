"""`python -m perf`: runs every measurement and writes one report. Exits with 1 if a bar is missed or one fails."""

import argparse
import importlib
import sys
from pathlib import Path

from perf._machine import machine
from perf._model import Part, missed
from perf._report import as_text, write_report
from perf._timed import timed

PARTS = ("runner", "default", "loss_head", "verification", "statistics", "geometry", "growth", "startup")


def measured(name: str, quick: bool) -> Part:
    """Runs one part; an error in it does not stop the others."""
    module = importlib.import_module(f"perf.{name}")
    print(f"{module.TITLE} …", file=sys.stderr, flush=True)
    try:
        return timed(module.measure, quick)
    except Exception as problem:
        return Part(name, module.TITLE, module.HOW, failure=f"not measured: {type(problem).__name__}: {problem}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run? No bar is judged")
    parser.add_argument("--only", metavar="PART", nargs="+", choices=PARTS, help=f"of {', '.join(PARTS)}")
    parser.add_argument("--results", type=Path, default=Path("results"), help="the report goes to DIR/perf")
    options = parser.parse_args()
    parts = [measured(name, options.quick) for name in options.only or PARTS]
    about = {**machine(), "quick": options.quick, "minutes": round(sum(part.seconds for part in parts) / 60, 1)}
    page = write_report(parts, about, options.results / "perf")
    print(f"{as_text(parts)}\n\nreport: {page}")
    sys.exit(1 if missed(parts) else 0)


if __name__ == "__main__":
    main()
