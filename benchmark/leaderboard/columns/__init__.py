"""The columns of the standings beside the metrics: one file per column, shown in terminal, site and standings.csv."""

from benchmark.leaderboard.columns._registry import COLUMNS, LeaderboardColumn, Standing, beside, leaderboard_column
