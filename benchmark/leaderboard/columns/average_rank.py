"""The average rank over the datasets of a table."""

from benchmark.leaderboard.columns import Standing, leaderboard_column
from benchmark.tables import Value, with_error


@leaderboard_column("Average rank", "over the datasets; 1 is the best; equal means share their ranks", place=10)
def average_rank(standing: Standing) -> Value:
    return with_error(standing.rank, decimals=1)
