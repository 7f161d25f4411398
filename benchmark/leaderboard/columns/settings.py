"""The loss's hyper-parameters."""

from benchmark.leaderboard.columns import Standing, leaderboard_column
from benchmark.leaderboard.entries import tuned_names
from benchmark.tables import Value
from benchmark.tables.model import NOTHING


@leaderboard_column(
    "Settings",
    "hyper-parameters: the loss's defaults, unless they are named as tuned",
    place=30,
    numeric=False,
    secondary=True,
)
def settings(standing: Standing) -> Value:
    tuned = tuned_names(standing.entry.hyper)
    return Value(" ".join([standing.about.settings or NOTHING, *([f"(tuned: {', '.join(tuned)})"] if tuned else [])]))
