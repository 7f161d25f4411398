"""The loss's hyper-parameters."""

from benchmark.leaderboard.columns import Standing, leaderboard_column
from benchmark.tables import Value
from benchmark.tables.model import NOTHING


@leaderboard_column("Settings", "hyper-parameters, given or by default", place=30, numeric=False, secondary=True)
def settings(standing: Standing) -> Value:
    return Value(standing.about.settings or NOTHING)
