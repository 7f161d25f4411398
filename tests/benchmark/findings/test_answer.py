"""The answer in words, for every case that data can make."""

import pytest

from benchmark.findings.answer import answer
from tests.benchmark.report.frames import around, findings


def words(*args: object, **kwargs: object) -> list[str]:
    return answer(findings(*args, **kwargs)).as_text().splitlines()  # type: ignore[arg-type]


def test_a_clear_winner_on_one_dataset() -> None:
    headline, sentence = words(
        {"letters": {"arcface": around(0.96), "normface": around(0.93, turn=1), "softmax": around(0.9, turn=2)}}
    )
    assert headline == "arcface is the best loss: every other one is significantly worse."
    assert sentence == (
        "On letters, arcface has the highest mean verification accuracy (96.00 %, 5 seeds): "
        "both others are significantly worse."
    )


def test_ties_are_called_ties() -> None:
    headline, sentence = words(
        {"letters": {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "normface": around(0.9, turn=2)}}
    )
    assert headline == (
        "No single winner: arcface has the highest mean, but one of the other two is not significantly different."
    )
    assert sentence == (
        "On letters, arcface has the highest mean verification accuracy (96.05 %, 5 seeds): "
        "cosface is not significantly different from it; normface is significantly worse."
    )


def test_nothing_can_be_told_apart() -> None:
    same = {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "normface": around(0.9598, turn=2)}
    headline, sentence = words({"letters": same}, closed=["letters"])
    assert headline == "No winner: none of the three losses is significantly worse than the best."
    assert sentence == (
        "On letters, arcface has the highest mean classification accuracy (96.05 %, 5 seeds): "
        "neither of the other two is significantly different from it."
    )


def test_equal_means_share_the_first_place() -> None:
    headline, sentence = words(
        {"letters": {"arcface": [1.0] * 5, "cosface": [1.0] * 5, "normface": around(0.9)}}, closed=["letters"]
    )
    assert headline == "arcface and cosface share the highest mean; every other loss is significantly worse."
    assert "arcface and cosface share the highest mean classification accuracy (100.00 %, 5 seeds)" in sentence


@pytest.mark.parametrize(("seeds", "count", "told"), [(1, "1 seed", "is one"), (4, "4 seeds", "are 4")])
def test_too_few_seeds_for_a_test(seeds: int, count: str, told: str) -> None:
    losses = {"arcface": around(0.96, seeds=seeds), "normface": around(0.9, seeds=seeds, turn=1)}
    headline, sentence = words({"letters": losses})
    assert headline == f"Too few seeds to say: a test needs 5, and there {told}. So far arcface ranks first."
    assert sentence == (
        f"On letters, arcface has the highest mean verification accuracy (96.00 %, {count}): "
        f"the difference could not be tested (too few paired seeds: {seeds}, a test needs 5)."
    )


def test_one_loss_has_nothing_to_be_compared_with() -> None:
    headline, sentence = words({"letters": {"arcface": around(0.96)}})
    assert headline == "Nothing to compare: only arcface has a value."
    assert sentence == (
        "On letters, only arcface has a value (verification accuracy 96.00 %, 5 seeds): "
        "there is nothing to compare it with."
    )


def test_everything_diverged() -> None:
    headline, sentence = words({"letters": {"arcface": [None] * 5, "normface": [None] * 5}})
    assert headline == "Every run diverged: none of these losses can be recommended with these settings."
    assert sentence == "On letters, every run diverged, so there is nothing to rank."


def test_a_dataset_on_which_everything_diverged_beside_one_that_went_well() -> None:
    well = {"arcface": around(0.96), "normface": around(0.93, turn=1)}
    headline, bad, good = words({"bad": {"arcface": [None] * 5, "normface": [None] * 5}, "letters": well})
    assert headline == "arcface is the best loss on letters: every other one is significantly worse."
    assert bad == "On bad, every run diverged, so there is nothing to rank."
    assert good.endswith("(96.00 %, 5 seeds): normface is significantly worse.")


def test_losses_that_diverged_are_named() -> None:
    partly = [*around(0.97)[:2], None, None, None]
    losses = {"arcface": around(0.96), "cosface": [None] * 5, "normface": around(0.93, turn=1), "softmax": partly}
    headline, sentence = words({"letters": losses})
    assert headline == "No difference could be tested: too many runs diverged or are missing."
    assert "softmax has the highest mean verification accuracy (96.85 %, 2 seeds)" in sentence
    assert sentence.endswith("Runs diverged: cosface in all 5 runs and softmax in 3 of 5 runs.")


def test_a_loss_that_could_not_be_tested_does_not_hide_what_could() -> None:
    partly = [*around(0.94)[:2], None, None, None]
    losses = {"arcface": around(0.96), "normface": around(0.93, turn=1), "softmax": partly}
    headline, sentence = words({"letters": losses})
    assert headline == "arcface has the highest mean, but not every other loss could be tested against it."
    assert (
        "normface is significantly worse; softmax could not be tested (too few paired seeds: 2, a test needs 5)"
        in sentence
    )


def test_one_winner_on_every_dataset() -> None:
    headline, *_ = words(
        {
            "digits": {"arcface": around(0.99), "normface": around(0.95, turn=1)},
            "letters": {"arcface": around(0.96), "normface": around(0.93, turn=1)},
        },
        closed=["digits"],
    )
    assert headline == "arcface is the best loss on both datasets and overall: every other one is significantly worse."


def test_it_depends_on_the_data() -> None:
    headline, *sentences = words(
        {
            "digits": {"arcface": around(0.9), "cosface": around(0.8, turn=1)},
            "letters": {"arcface": around(0.8), "cosface": around(0.9, turn=1)},
            "signs": {"arcface": around(0.8), "cosface": around(0.9, turn=1)},
        }
    )
    assert headline == (
        "It depends on the data: no loss is best, or tied with the best, on all 3 datasets and overall. "
        "By average rank cosface comes first."
    )
    assert sentences[-1].startswith("Over all 3 datasets, cosface has the highest mean verification accuracy (86.67 %")


def test_the_safest_choice_is_tied_everywhere() -> None:
    headline, *_ = words(
        {
            "digits": {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "softmax": around(0.9, turn=2)},
            "letters": {"arcface": around(0.96), "cosface": around(0.9, turn=1), "softmax": around(0.9, turn=2)},
        }
    )
    assert headline == (
        "arcface is the safest choice: no other loss is best, or tied with the best, on both datasets and overall."
    )


def test_a_loss_that_was_not_run_everywhere_is_named() -> None:
    headline, *_ = words(
        {
            "digits": {"arcface": around(0.96), "cosface": around(0.97, turn=1), "softmax": around(0.9, turn=2)},
            "letters": {"arcface": around(0.96), "softmax": around(0.9, turn=2)},
        }
    )
    assert headline == (
        "It depends on the data: no loss is best, or tied with the best, on both datasets and overall. "
        "Not tested everywhere: cosface."
    )


def test_several_are_tied_everywhere_named_in_the_order_of_their_ranks() -> None:
    headline, *sentences = words(
        {
            "digits": {"arcface": around(0.9601), "cosface": around(0.96, turn=1), "softmax": around(0.9, turn=2)},
            "letters": {"arcface": around(0.9601), "cosface": around(0.96, turn=1), "softmax": around(0.9, turn=2)},
        },
        closed=["digits"],
    )
    assert headline == (
        "No single winner: arcface and cosface are best, or tied with the best, on both datasets and overall."
    )
    assert sentences[2].startswith("Over both datasets, arcface has the highest mean verification accuracy (96.01 %")


def test_many_names_are_counted() -> None:
    losses = {f"loss{place}": around(0.96 - place * 1e-5, turn=place) for place in range(9)}
    _, sentence = words({"letters": {**losses, "softmax": around(0.5)}})
    assert "loss1, loss2, loss3, loss4, loss5 and three others are not significantly different from it" in sentence


def test_names_come_out_as_text() -> None:
    name = "<script>alert('x')</script> & \"co\""
    found = answer(findings({"<b>data</b>": {name: around(0.96), "normface": around(0.93, turn=1)}}))
    text = " ".join([found.headline, *found.sentences])
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;b&gt;data&lt;/b&gt;" in text
    assert f"{name} is the best loss" in found.as_text()
