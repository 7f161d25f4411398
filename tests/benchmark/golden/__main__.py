"""Records what the cells give here: `python -m tests.benchmark.golden`."""

import sys

from tests.benchmark.golden import goldens
from tests.benchmark.golden.cells import cells, outcome


def main() -> int:
    found = {name: outcome(cell) for name, cell in cells().items()}
    before = goldens.own(goldens.known())
    golden = before.cells if before else {}
    problems = [goldens.changed_bits(name, found[name], golden[name]) for name in found if name in golden]
    for problem in filter(None, problems):
        print(problem, file=sys.stderr)
    if any(problems):
        return 1
    print(goldens.write(found))
    return 0


sys.exit(main())
