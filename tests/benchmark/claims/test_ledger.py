"""Verdicts on claims from frames made by hand: every kind of comparison, every verdict, and what is missing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmark.claims import Claim, ClaimFinding, ClaimPart, Ledger, TunedLoss
from benchmark.claims.ledger import Lacking, LedgerInput, make_ledger, whole_verdict
from benchmark.claims.tables import claimed, to_decide

NOISE = np.array([-0.001, -0.0005, 0.0, 0.0005, 0.001])
PART = ClaimPart("a", "it is better", "test/accuracy", ("small",), "new", "old", "higher", 0.5)


def claim(*parts: ClaimPart) -> Claim:
    lettered = [replace(part, letter="abcdef"[number]) for number, part in enumerate(parts)]
    return Claim(1, "Somebody", "better", "It is better.", "a paper", "", "claims", tuple(lettered))


def runs(loss: str, mean: float, dataset: str = "small", noise: float = 1.0, shift: int = 0, **rest) -> pd.DataFrame:
    """Five seeds around a mean; `shift` rolls the noise, so that differences vary."""
    values = mean + noise * np.roll(NOISE, shift)
    name = rest.pop("name", loss.partition(" ")[0])
    table = pd.DataFrame({"loss": loss, "name": name, "dataset": dataset, "seed": range(5), "test/accuracy": values})
    return table.assign(**rest)


def judged(*frames: pd.DataFrame, part: ClaimPart = PART, **rest) -> ClaimFinding:
    ledger = make_ledger([claim(part)], {"claims": LedgerInput(pd.concat(frames), **rest)})
    (finding,) = ledger.findings
    return finding


@pytest.mark.parametrize(
    ("new", "expect", "verdict"),
    [
        (0.95, "higher", "supported"),
        (0.95, "lower", "refuted"),
        (0.95, "not_lower", "supported"),
        (0.95, "not_higher", "refuted"),
        (0.85, "higher", "refuted"),
        (0.85, "lower", "supported"),
        (0.85, "not_lower", "refuted"),
        (0.85, "not_higher", "supported"),
        (0.9, "higher", "refuted"),
        (0.9, "not_lower", "supported"),
        (0.9, "not_higher", "supported"),
    ],
)
def test_directions(new: float, expect: str, verdict: str) -> None:
    found = judged(runs("new", new), runs("old", 0.9, shift=1), part=replace(PART, expect=expect))
    assert found.verdict == verdict
    assert found.difference == pytest.approx(100 * (new - 0.9))
    assert found.low < found.difference < found.high
    assert found.high - found.difference == pytest.approx(found.difference - found.low)
    assert (found.n_seeds, found.n_identities, found.against, found.key) == (5, 0, "old", "1a")
    assert (found.detectable, found.seeds_to_support, found.seeds_to_refute) == (None, None, None)


@pytest.mark.parametrize(("expect", "sign"), [("higher", 1), ("lower", -1)])
def test_what_is_not_decided_says_what_it_takes(expect: str, sign: int) -> None:
    frames = runs("new", 0.9 + sign * 0.004, noise=5), runs("old", 0.9, shift=1)
    found = judged(*frames, part=replace(PART, expect=expect))
    assert found.verdict == "not decided"
    assert sign * found.detectable > 0.5
    assert found.seeds_to_support > 5
    assert to_decide(found) == f"{found.seeds_to_support} seeds would support"


def test_angles_are_not_multiplied() -> None:
    part = replace(PART, metric="train/wc_intra", expect="lower", margin=1.0)
    one = runs("new", 10.0).rename(columns={"test/accuracy": "train/wc_intra"})
    other = runs("old", 40.0, shift=1).rename(columns={"test/accuracy": "train/wc_intra"})
    found = judged(one, other, part=part)
    assert (found.difference, found.verdict) == (pytest.approx(-30.0), "supported")
    assert claimed(part) == "lower (1°)"
    assert claimed(replace(PART, expect="not_lower")) == "not lower (0.5 points)"


def test_a_value_is_compared_in_per_cent() -> None:
    found = judged(runs("new", 0.8), part=replace(PART, against=90.0, expect="lower"))
    assert (found.difference, found.against, found.verdict) == (pytest.approx(-10.0), "90 %", "supported")


def test_tuning_looks_at_validation_alone() -> None:
    """The row that is best on the test split is not the one that validation chooses."""
    part = replace(PART, against=TunedLoss("arcface", "val/accuracy"), expect="not_lower")
    chosen = runs("arcface m=1", 0.9, shift=1, **{"val/accuracy": 0.8})
    frames = [
        runs("new", 0.9, **{"val/accuracy": 0.99}),
        runs("arcface m=2", 0.99, **{"val/accuracy": 0.7}),
        chosen,
        runs("arcface m=3", 0.99, dataset="large", **{"val/accuracy": 1.0}),
        runs("arcface m=4", 0.99, **{"val/accuracy": [1.0, 1.0, 1.0, 1.0, np.nan]}),
        runs("cosface", 0.99, **{"val/accuracy": 1.0}),
    ]
    found = judged(*frames, part=part)
    assert (found.against, found.verdict) == ("arcface m=1", "supported")
    assert found.note == "chosen by val/accuracy among 3 settings"
    by_error = replace(part, against=TunedLoss("arcface", "val/eer"))
    assert judged(*(frame.rename(columns={"val/accuracy": "val/eer"}) for frame in frames), part=by_error).against == (
        "arcface m=2"
    )


def test_a_loss_whose_every_setting_diverged() -> None:
    part = replace(PART, against=TunedLoss("arcface", "val/accuracy"))
    frames = runs("new", 0.9, **{"val/accuracy": 0.9}), runs("arcface", np.nan, **{"val/accuracy": np.nan})
    found = judged(*frames, part=part)
    assert (found.verdict, found.note) == ("not decided", "every setting of arcface diverged in some run")


def test_a_loss_without_any_run_did_not_diverge() -> None:
    part = replace(PART, against=TunedLoss("arcface", "val/accuracy"))
    found = judged(runs("new", 0.9, **{"val/accuracy": 0.9}), part=part)
    assert (found.verdict, found.note) == ("not decided", "no setting of arcface was run on small")


def test_gains_over_a_third_row_on_two_datasets() -> None:
    part = replace(PART, loss="new", against="new", over="old", against_dataset="large")
    frames = [
        runs("new", 0.95),
        runs("old", 0.90, shift=1),
        runs("new", 0.96, dataset="large", shift=2),
        runs("old", 0.95, dataset="large", shift=4),
    ]
    found = judged(*frames, part=part)
    assert found.difference == pytest.approx(5.0 - 1.0)
    assert (found.against, found.verdict) == ("new on large", "supported")


def test_the_test_identities_are_carried() -> None:
    """Two identities of many pull in one direction: with them the interval is wider."""
    table = pd.concat([runs("new", 0.91), runs("old", 0.9, shift=1)])
    jackknife = {}
    for row in table.to_dict("records"):
        pull = np.zeros(20) if row["loss"] == "old" else np.r_[np.full(2, -0.005), np.full(18, 0.005 / 9)]
        jackknife[row["loss"], "small", row["seed"]] = {"test/accuracy": row["test/accuracy"] + pull}
    plain, carried = judged(table), judged(table, jackknife=jackknife)
    assert (plain.n_identities, carried.n_identities) == (0, 20)
    assert plain.verdict == "supported"
    assert carried.high - carried.low > 5 * (plain.high - plain.low)
    assert carried.verdict == "not decided"
    assert to_decide(carried) == "no number of seeds with these 20 test identities"


def test_diverged_runs_are_counted() -> None:
    one = runs("new", 0.95)
    one.loc[one["seed"] == 2, "test/accuracy"] = np.nan
    found = judged(one, runs("old", 0.9, shift=1))
    assert found.verdict == "not decided"
    assert found.note == "1 seed left out because a run diverged; too few paired seeds: 4, a test needs 5"
    assert (found.n_seeds, found.n_left_out) == (4, 1)
    assert to_decide(found).endswith(" seeds would support, of which none diverges; 1 of 5 did")
    gone = judged(runs("new", np.nan), runs("old", 0.9))
    assert (gone.verdict, gone.difference) == ("not decided", None)
    assert "no seed has a value for both" in gone.note


def test_what_was_not_run_is_not_judged() -> None:
    frames = [runs("new", 0.95)[:3], runs("old", 0.9)]
    missing = [Lacking("new", "new", "small")] * 2 + [Lacking("else", "else", "small"), Lacking("new", "new", "large")]
    found = judged(*frames, missing=missing)
    assert (found.verdict, found.note, found.difference) == ("not run", "2 runs have no result", None)
    assert judged(*frames, missing=missing[2:]).verdict != "not run"


def test_tuning_waits_for_all_settings() -> None:
    part = replace(PART, against=TunedLoss("arcface", "val/accuracy"))
    frames = [runs("new", 0.9, **{"val/accuracy": 0.9}), runs("arcface m=1", 0.9, **{"val/accuracy": 0.9})]
    found = judged(*frames, part=part, missing=[Lacking("arcface m=2", "arcface", "small")])
    assert (found.verdict, found.note, found.against) == ("not run", "1 run has no result", "tuned arcface")


def test_results_of_an_older_version_lack_a_figure() -> None:
    found = judged(runs("new", 0.9), runs("old", 0.9), part=replace(PART, metric="train/posterior"))
    assert (found.verdict, found.note) == ("not run", "no run has the metric train/posterior")


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["supported", "supported"], "supported"),
        (["supported", "not decided"], "not decided"),
        (["supported", "refuted"], "refuted"),
        (["not decided", "refuted", "not run"], "refuted"),
        (["not decided", "not run"], "not run"),
    ],
)
def test_a_whole_claim(parts: list[str], whole: str) -> None:
    assert whole_verdict(parts) == whole


def test_a_claim_of_two_parts_on_two_datasets() -> None:
    parts = replace(PART, datasets=("small", "large")), replace(PART, expect="not_higher")
    frames = [runs(loss, mean, data, shift=len(loss + data)) for loss, mean in (("new", 0.95), ("older", 0.9))
              for data in ("small", "large")]  # fmt: skip
    table = pd.concat(frames).replace({"loss": {"older": "old"}})
    one = claim(*parts)
    ledger = make_ledger([one], {"claims": LedgerInput(table)})
    assert [(finding.key, finding.dataset, finding.verdict) for finding in ledger.findings] == [
        ("1a", "small", "supported"),
        ("1a", "large", "supported"),
        ("1b", "small", "refuted"),
    ]
    assert ledger.datasets == ["small", "large"]
    assert ledger.whole(one, "small") == "refuted"
    assert ledger.whole(one, "large") == "supported"
    assert Ledger([one], []).whole(one, "large") is None
