"""Claim files: the shipped ones name what is there; what is wrong in one is said with line, key and nearest name."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark import claims, spec
from benchmark.claims.model import ClaimPart

SOUND = """\
number: 1
paper: Somebody
short: better
words: It is better.
source: a paper
experiment: smoke
parts:
  - words: it verifies better
    metric: test/accuracy
    datasets: [digits, glyphs]
    loss: arcface s=16 m=0.2
    against: normface s=16
    expect: higher
    margin: 0.5
"""


@pytest.fixture
def refusal(tmp_path: Path) -> Callable[[str], str]:
    def message_of(text: str) -> str:
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        with pytest.raises(ValueError, match=r"mine\.yaml") as caught:
            claims.load_file(path)
        return str(caught.value)

    return message_of


def test_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SOUND)
    claim = claims.load_file(path)
    assert (claim.number, claim.paper, claim.experiment) == (1, "Somebody", "smoke")
    (part,) = claim.parts
    assert (part.letter, part.datasets, part.against) == ("a", ("digits", "glyphs"), "normface s=16")
    assert (part.margin, part.unit, part.scale, part.sign, part.no_worse) == (0.5, "points", 100.0, 1.0, False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("number: 1", "number: one", "line 1, number: should be a whole number, not 'one'"),
        ("paper:", "papr:", "line 2, papr: there is no key 'papr'; the keys are"),
        ("paper:", "papr:", "did you mean 'paper'?"),
        ("source: a paper\n", "", "source: is missing"),
        ("smoke", "smok", "line 6, experiment: there is no experiment 'smok'; did you mean 'smoke'?"),
        ("test/accuracy", "test/acuracy", "line 9, parts.metric: there is no metric 'test/acuracy'; did you mean"),
        ("[digits, ", "[digits, digits, ", "line 10, parts.datasets[1]: 'digits' is listed already; a dataset is"),
        ("[digits, ", "[digit, ", "line 10, parts.datasets[0]: there is no dataset 'digit' in the experiment smoke;"),
        ("m=0.2", "m=0.3", "line 11, parts.loss: there is no row 'arcface s=16 m=0.3' in the experiment smoke; did"),
        ("normface s=16", "normface", "line 12, parts.against: there is no row 'normface' in the experiment smoke"),
        ("normface s=16", "[3]", "line 12, parts.against: should be a row's label, a value, or {tuned: loss"),
        ("normface s=16", "true", "line 12, parts.against: should be a row's label, a value, or {tuned: loss"),
        ("normface s=16", "{tuned: arcfase, by: val/eer}", "parts.against.tuned: there is no loss 'arcfase'; did you"),
        ("normface s=16", "{tuned: cosface, by: val/eer}", "parts.against.tuned: smoke has no rows of cosface"),
        ("normface s=16", "{tuned: arcface, by: test/eer}", "parts.against.by: should be a metric of the validation"),
        ("normface s=16", "{tuned: arcface}", "line 12, parts.against.by: is missing"),
        ("expect: higher", "expect: hihger", "parts.expect: there is no direction 'hihger'; did you mean 'higher'"),
        ("margin: 0.5", "margin: 0", "line 14, parts.margin: should be greater than 0, not 0"),
        ("margin: 0.5", "margin: .nan", "line 14, parts.margin: should be a finite number"),
        ("margin: 0.5", "margin: 0.5\n    over: cosface", "line 15, parts.over: there is no row 'cosface'"),
        (
            "datasets: [digits, glyphs]",
            "datasets: digits\n    against_dataset: glyphs",
            "line 11, parts.against_dataset: glyphs and digits are not the same data",
        ),
        ("margin: 0.5", "margin: 0.5\n  - 3", "line 15, parts[1]: should be a mapping with keys of words, metric"),
        (SOUND, "- 1\n", "a claim file should be a mapping with the keys number, paper"),
        (SOUND[SOUND.index("parts") :], "parts: []\n", "line 7, parts: should not be empty"),
        ("a paper", "!!python/object:os.system x", "the tag"),
    ],
)
def test_what_is_wrong_is_said(old: str, new: str, message: str, refusal: Callable[[str], str]) -> None:
    assert message in refusal(SOUND.replace(old, new, 1))


def test_rows_that_a_dataset_is_not_trained_with_are_refused(refusal: Callable[[str], str]) -> None:
    text = SOUND.replace("smoke", "claims").replace("[digits, glyphs]", "[digits, digits-lt]")
    text = text.replace("arcface s=16 m=0.2", "arcface s=auto m=0.5").replace("normface s=16", "normface s=auto")
    assert "line 12, parts.against: claims does not train 'normface s=auto' on digits-lt" in refusal(text)


def test_a_loss_is_tuned_where_it_is_trained(refusal: Callable[[str], str], tmp_path: Path) -> None:
    """Or the ledger would say that its runs diverged, of which there are none."""
    text = SOUND.replace("smoke", "claims").replace("arcface s=16 m=0.2", "arcface s=auto m=0.5")
    text = text.replace("normface s=16", "{tuned: kappaface, by: val/accuracy}")
    message = refusal(text.replace("[digits, glyphs]", "[digits-lt, digits]"))
    assert "line 12, parts.against.tuned: claims does not train kappaface on digits" in message
    assert "digits-lt" not in message
    for against in ("kappaface", "arcface"):
        sound = tmp_path / f"{against}.yaml"
        sound.write_text(text.replace("[digits, glyphs]", "digits-lt").replace("kappaface", against))
        assert claims.load_file(sound).parts[0].against == claims.TunedLoss(against, "val/accuracy")


def test_two_claims_of_one_number(tmp_path: Path) -> None:
    for name in ("first.yaml", "second.yaml"):
        (tmp_path / name).write_text(SOUND)
    with pytest.raises(ValueError, match=r"second.yaml, number: first.yaml has the number 1 too"):
        claims.load_all(tmp_path)


def test_no_claims(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are no claims"):
        claims.load_all(tmp_path)


def test_the_shipped_claims() -> None:
    found = claims.load_all()
    assert [claim.number for claim in found] == list(range(1, 9))
    for claim in found:
        assert claim.source
        for part in claim.parts:
            usual = 1.0 if part.unit == "°" else 0.5
            assert part.margin == usual or (part.margin < usual and "smallest gain worth claiming" in claim.note)


def test_margins_are_compared_at_the_same_scale() -> None:
    part = claims.load_all()[0].parts[0]
    assert part.loss.split()[1] == str(part.against).split()[1] == "s=auto"


def test_every_row_of_the_experiment_serves_a_claim() -> None:
    """No cell is trained for nothing."""
    experiment = spec.load("claims")
    served = set()
    for claim in claims.load_all():
        for part in claim.parts:
            for dataset in part.datasets:
                other = part.against_dataset or dataset
                served |= {(part.loss, dataset), (part.over, dataset), (part.over, other)}
                if isinstance(part.against, claims.TunedLoss):
                    served |= {(row.label, other) for row in experiment.losses if row.name == part.against.name}
                elif isinstance(part.against, str):
                    served.add((part.against, other))
    assert {(cell.label, cell.dataset_label) for cell in experiment.cells()} <= served


def test_the_bound_in_words_is_the_formula_s() -> None:
    claim = claims.load_all()[3]
    for classes in (10, 300):
        bound = (classes - 1) / classes * math.log((classes - 1) * 0.9 / 0.1)
        reached = 1 / (1 + (classes - 1) * math.exp(-3 * classes / (classes - 1)))
        assert f"{bound:.3f} for {classes}" in claim.note
        assert f"{100 * reached:.1f} % for {classes}" in claim.note
        assert bound > 3


@pytest.mark.parametrize(
    ("metric", "unit", "scale"),
    [
        ("test/accuracy_rare", "points", 100.0),
        ("train/posterior", "points", 100.0),
        ("w_inter_min", "°", 1.0),
        ("test/auc", "", 1.0),
    ],
)
def test_units_are_those_of_the_metric(metric: str, unit: str, scale: float) -> None:
    part = ClaimPart("a", "", metric, (), "", 0.0, "higher", 1.0)
    assert (part.unit, part.scale) == (unit, scale)
