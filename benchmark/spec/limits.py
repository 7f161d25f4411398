"""How large an experiment may be."""

MOST_CELLS = 100_000
