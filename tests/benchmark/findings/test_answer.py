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
        "On letters, arcface comes first with a mean verification accuracy of 96.00 % (5 seeds). "
        "Both others are significantly worse."
    )


def test_ties_are_called_ties() -> None:
    headline, sentence = words(
        {"letters": {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "normface": around(0.9, turn=2)}}
    )
    assert headline == ("No single winner: arcface comes first, but cosface is not significantly different.")
    assert sentence == (
        "On letters, arcface comes first with a mean verification accuracy of 96.05 % (5 seeds). "
        "cosface is not significantly different from it; normface is significantly worse."
    )


def test_no_difference_is_significant() -> None:
    same = {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "normface": around(0.9598, turn=2)}
    headline, sentence = words({"letters": same}, closed=["letters"])
    assert headline == "No winner: no loss is significantly worse than another."
    assert sentence == (
        "On letters, arcface comes first with a mean classification accuracy of 96.05 % (5 seeds). "
        "Neither of the other two losses is significantly different from it."
    )


def test_equal_means_share_the_first_place() -> None:
    headline, sentence = words(
        {"letters": {"arcface": [1.0] * 5, "cosface": [1.0] * 5, "normface": around(0.9)}}, closed=["letters"]
    )
    assert headline == "arcface and cosface share the first place; every other loss is significantly worse."
    assert "arcface and cosface come first with a mean classification accuracy of 100.00 % (5 seeds)." in sentence


@pytest.mark.parametrize(("seeds", "count", "told"), [(1, "1 seed", "is one"), (4, "4 seeds", "are 4")])
def test_too_few_seeds_for_a_test(seeds: int, count: str, told: str) -> None:
    losses = {"arcface": around(0.96, seeds=seeds), "normface": around(0.9, seeds=seeds, turn=1)}
    headline, sentence = words({"letters": losses})
    assert headline == f"There are too few seeds for a test: it needs 5, and there {told}. So far, arcface ranks first."
    assert sentence == (
        f"On letters, arcface comes first with a mean verification accuracy of 96.00 % ({count}). "
        f"The difference could not be tested (too few paired seeds: {seeds}, a test needs 5)."
    )


@pytest.mark.parametrize("datasets", [["letters"], ["letters", "digits"]])
def test_equal_means_of_too_few_seeds_are_not_called_tested(datasets: list[str]) -> None:
    same = {"arcface": [0.9], "normface": [0.9]}
    headline, *sentences = words(dict.fromkeys(datasets, same))
    assert headline == (
        "There are too few seeds for a test: it needs 5, and there is one. "
        "So far, arcface and normface share the first place."
    )
    assert "significant" not in " ".join(sentences)
    assert all(sentence.endswith("Nothing was tested: a test needs 5 seeds.") for sentence in sentences)


def test_one_loss_has_nothing_to_be_compared_with() -> None:
    headline, sentence = words({"letters": {"arcface": around(0.96)}})
    assert headline == "There is nothing to compare: only arcface has a value."
    assert sentence == (
        "On letters, only arcface has a value: a mean verification accuracy of 96.00 % (5 seeds). "
        "There is nothing to compare it with."
    )


def test_everything_diverged() -> None:
    headline, sentence = words({"letters": {"arcface": [None] * 5, "normface": [None] * 5}})
    assert headline == "Every run diverged, so no loss can be recommended with these settings."
    assert sentence == "On letters, every run diverged, so there is nothing to rank."


def test_a_dataset_on_which_everything_diverged_beside_one_that_went_well() -> None:
    well = {"arcface": around(0.96), "normface": around(0.93, turn=1)}
    headline, bad, good = words({"bad": {"arcface": [None] * 5, "normface": [None] * 5}, "letters": well})
    assert headline == "arcface is the best loss on letters: every other one is significantly worse."
    assert bad == "On bad, every run diverged, so there is nothing to rank."
    assert good.endswith("of 96.00 % (5 seeds). normface is significantly worse.")


def test_losses_that_diverged_are_named() -> None:
    partly = [*around(0.97)[:2], None, None, None]
    losses = {"arcface": around(0.96), "cosface": [None] * 5, "normface": around(0.93, turn=1), "softmax": partly}
    headline, sentence = words({"letters": losses})
    assert headline == "No loss could be tested against the best: too many runs diverged or are missing."
    assert "softmax comes first with a mean verification accuracy of 96.85 % (2 seeds)." in sentence
    assert "normface is significantly worse than arcface" in sentence
    assert sentence.endswith("Runs diverged: cosface in all 5 runs and softmax in 3 of 5 runs.")


def test_a_loss_that_could_not_be_tested_does_not_hide_what_could() -> None:
    partly = [*around(0.94)[:2], None, None, None]
    losses = {"arcface": around(0.96), "normface": around(0.93, turn=1), "softmax": partly}
    headline, sentence = words({"letters": losses})
    assert headline == "arcface comes first, but not every other loss is significantly worse or could be tested."
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
        "It depends on the data: no loss is among the best on all 3 datasets and overall. "
        "By average rank, cosface comes first."
    )
    assert sentences[-1].startswith(
        "Over all 3 datasets, cosface comes first with a mean verification accuracy of 86.67 %"
    )


def test_the_safest_choice_is_tied_everywhere() -> None:
    headline, *_ = words(
        {
            "digits": {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "softmax": around(0.9, turn=2)},
            "letters": {"arcface": around(0.96), "cosface": around(0.9, turn=1), "softmax": around(0.9, turn=2)},
        }
    )
    assert headline == (
        "arcface is the safest choice: it is the only loss among the best on both datasets and overall."
    )


def test_a_loss_that_was_not_run_everywhere_is_named() -> None:
    headline, *_ = words(
        {
            "digits": {"arcface": around(0.96), "cosface": around(0.97, turn=1), "softmax": around(0.9, turn=2)},
            "letters": {"arcface": around(0.96), "softmax": around(0.9, turn=2)},
        }
    )
    assert headline == (
        "It depends on the data: no loss is among the best on both datasets and overall. "
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
    assert headline == ("No single winner: arcface and cosface are among the best on both datasets and overall.")
    assert sentences[2].startswith(
        "Over both datasets, arcface comes first with a mean verification accuracy of 96.01 %"
    )


def test_many_names_are_counted() -> None:
    losses = {f"loss{place}": around(0.96 - place * 1e-5, turn=place) for place in range(9)}
    headline, sentence = words({"letters": {**losses, "softmax": around(0.5, turn=13)}})
    counts = "eight of the other nine losses are not significantly different"
    assert headline == f"No single winner: loss0 comes first, but {counts}."
    assert sentence.endswith(f"{counts.capitalize()} from it; softmax is significantly worse.")


def test_of_many_that_are_best_everywhere_the_others_and_the_baseline_are_named() -> None:
    losses = {f"loss{place}": around(0.96 - place * 1e-5, turn=place) for place in range(4)}
    data = {**losses, "normface": around(0.9601, turn=4), "softmax": around(0.5)}
    headline, *_ = words({"digits": data, "letters": data})
    assert headline == (
        "No single winner: five of the six losses are among the best on both datasets and overall; softmax is not. "
        "The baseline, normface, is one of the five."
    )


def test_a_loss_like_the_best_but_worse_than_a_third_is_not_among_the_best() -> None:
    """The best varies too much to be tested apart from anything; the other two do not."""
    losses = {
        "arcface": around(0.97, spread=0.04),
        "cosface": around(0.96, spread=0.0001, turn=1),
        "normface": around(0.95, spread=0.0001, turn=2),
    }
    headline, sentence = words({"letters": losses})
    assert headline == "No single winner: arcface comes first, but cosface is not significantly different."
    assert sentence.endswith(
        "cosface is not significantly different from it; normface is significantly worse than cosface."
    )


def test_names_come_out_as_text() -> None:
    name = "<script>alert('x')</script> & \"co\""
    found = answer(findings({"<b>data</b>": {name: around(0.96), "normface": around(0.93, turn=1)}}))
    text = " ".join([found.headline, *found.sentences])
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;b&gt;data&lt;/b&gt;" in text
    assert f"{name} is the best loss" in found.as_text()
