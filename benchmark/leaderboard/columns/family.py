"""The loss's family."""

from benchmark.leaderboard.columns import Standing, leaderboard_column
from benchmark.tables import Value


@leaderboard_column("Family", "what the loss changes", place=20, numeric=False, secondary=True)
def family(standing: Standing) -> Value:
    return Value(standing.entry.family)
