"""Which loss is better than which: every pair is tested once, and headline, marks and differences use these tests.

To change the method, replace `Comparisons.of`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from benchmark.statistics import Jackknife, every_pair, tied_with_best


@dataclass(frozen=True)
class Comparisons:
    """All pairs of losses by one metric, on every dataset and over all of them."""

    pairs: pd.DataFrame  # rows of `statistics.every_pair`
    standing: pd.DataFrame  # rows of `statistics.tied_with_best`, which follow from the pairs

    @classmethod
    def of(
        cls, results: pd.DataFrame, metric: str, lower_is_better: bool, jackknife: Jackknife | None = None
    ) -> "Comparisons":
        """Paired tests, corrected by Holm's method over all pairs of a dataset."""
        pairs = every_pair(results, metric, jackknife)
        return cls(pairs, tied_with_best(results, metric, lower_is_better, jackknife, pairs=pairs))

    def against(self, baseline_of: Mapping[str, str]) -> pd.DataFrame:
        """loss − baseline for every loss and its baseline, with the columns of the pairs; dataset by dataset."""
        both = pd.concat([self.pairs, _turned(self.pairs)]).rename(columns={"other": "baseline"})
        chosen = both[both["loss"].map(baseline_of) == both["baseline"]]
        place = {name: number for number, name in enumerate(self.pairs["dataset"].unique())}
        return chosen.sort_values(["dataset", "loss"], key=lambda one: one.map(place) if one.name == "dataset" else one)


def _turned(pairs: pd.DataFrame) -> pd.DataFrame:
    """other − loss."""
    return pairs.assign(
        loss=pairs["other"],
        other=pairs["loss"],
        difference=-pairs["difference"],
        low=-pairs["high"],
        high=-pairs["low"],
    )
