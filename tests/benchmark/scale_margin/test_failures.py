"""Where training fails: counted once each, and nothing where all is well."""

from typing import Any

from benchmark.scale_margin import failures
from benchmark.scale_margin import with_settings as filled
from tests.benchmark.scale_margin.frames import CLASSES, METRIC_COLUMNS, frame


def test_nothing_fails_where_all_is_well() -> None:
    assert len(failures(filled(frame(lambda *_: 0.9), CLASSES), METRIC_COLUMNS, CLASSES)) == 0


def test_diverged_near_chance_and_unlearned() -> None:
    def sick(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float | None:
        if name == "arcface" and hyper["s"] == 64.0:
            return None if seed < 2 else 0.9
        if name == "normface" and hyper["s"] == 4.0:
            return 0.18  # of ten classes chance is .1 and a tenth of the way .19; of pairs it is .5 and .55
        return 0.54 if name == "kappaface" and hyper["s"] == 16.0 else 0.9

    rows = filled(frame(sick), CLASSES)
    rows.loc[(rows["name"] == "kappaface") & (rows["s"] == 64.0) & (rows["seed"] == 0), "train/wc_intra"] = 88.0
    found = failures(rows, METRIC_COLUMNS, CLASSES).set_index(["dataset", "loss"])
    counts = found[["runs", "diverged", "near_chance", "unlearned"]]
    assert counts.loc[("open", "arcface s=64 m=0.1")].tolist() == [5, 2, 0, 0]
    assert counts.loc[("open", "normface s=4")].tolist() == [5, 0, 5, 0]
    assert counts.loc[("closed", "normface s=4")].tolist() == [5, 0, 5, 0]
    assert counts.loc[("open", "kappaface s=16")].tolist() == [5, 0, 5, 0]
    assert ("closed", "kappaface s=16") not in found.index  # .54 is far above one in ten
    assert counts.loc[("open", "kappaface s=64")].tolist() == [5, 0, 0, 1]
    assert len(found) == 2 * 2 + 2 + 1 + 2


def test_a_run_without_the_angle_or_the_figure_is_not_called_failed() -> None:
    rows = filled(frame(lambda *_: 0.9), CLASSES).drop(columns="train/wc_intra")
    rows["test/accuracy"] = float("nan")
    assert len(failures(rows, METRIC_COLUMNS, CLASSES)) == 0
