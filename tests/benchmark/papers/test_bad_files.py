"""A wrong paper file is refused with file, line, key and the nearest name."""

import pytest

from tests.benchmark.papers.conftest import PAPER


def refusal(load, text: str) -> str:
    with pytest.raises(ValueError, match=r"mine\.yaml") as caught:
        load(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("claim:", "clam:", "mine.yaml, line 2, clam: there is no key 'clam'"),
        ("claim:", "clam:", "did you mean 'claim'?"),
        ("source: own, values: {MNIST: 98.0", "source: onw, values: {MNIST: 98.0", "line 14, rows.published.source: "),
        ("source: own, values: {MNIST: 98.0", "source: onw, values: {MNIST: 98.0", "did you mean 'own'?"),
        ("source: own, values: {MNIST: 98.0", "values: {MNIST: 98.0", "published.source: is missing"),
        ("{MNIST: 98.0", "{MINST: 98.0", "there is no column 'MINST'; did you mean 'MNIST'?"),
        ("MNIST: 98.0", "MNIST: high", "should be a number, or a list of them for several runs, not 'high'"),
        ("MNIST: 98.0", "MNIST: true", "should be a number"),
        ("{source: quoted, values: {Faces: 95.0}}", "{source: own, values: {MNIST: 1}}", "has this column already"),
        ("link: https://example.org/paper", "link: javascript:alert(1)", "sources.own.link: "),
        ("paper: A. Author, ", "", "sources.own.paper: is missing"),
        ("setting:", "comparable: [{sources: [own, qouted], because: x}]\nsetting:", "did you mean 'quoted'?"),
        ("setting:", "comparable: [{sources: [own, own], because: x}]\nsetting:", "'own' is listed already"),
        ("setting:", "comparable: [{sources: [own], because: x}]\nsetting:", "should be two sources or more"),
        ("setting:", "comparable: [{sources: [own, quoted]}]\nsetting:", "comparable.because: is missing"),
        ("setting:", "comparable: [{sources: [own, quoted], because: ''}]\nsetting:", "comparable.because: "),
        ("[[margin, plain]]", "[[margin, plan]]", "effects[0]: there is no row 'plan'; did you mean 'plain'?"),
        ("[[margin, plain]]", "[[margin]]", "should be two rows"),
        ("name: Faces", "name: MNIST", "two columns are named 'MNIST'"),
        ("label: quoted only", "label: plain", "two rows have the label 'plain'"),
        ("batch: 512", "batch: many", "setting.batch: should be a whole number, not 'many'"),
        ("batch: 512", "bach: 512", "did you mean 'batch'?"),
        ("dataset: digits", "dataset: digit", "scales.smoke.measured.dataset: there is no dataset in this scale's"),
        (
            "metric: test/accuracy",
            "metric: val/accuracy",
            "scales.smoke.measured.metric: there is no metric of a test set",
        ),
        ("metric: test/accuracy", "metric: test/acuracy", "did you mean 'test/accuracy'?"),
        ("metric: test/accuracy", "metric: test/eer", "is better when lower"),
        ("beside: [Faces]", "beside: [Face]", "did you mean 'Faces'?"),
        ("    measured:\n", "    unmeasured: [{columns: [Fces], because: x}]\n    measured:\n", "did you mean 'Faces'"),
        ("    measured:\n", "    unmeasured: [{columns: [Faces]}]\n    measured:\n", "because: is missing"),
        (
            "    measured:\n",
            "    unmeasured: [{columns: [Faces], because: x}]\n    measured:\n",
            "'Faces' has a measured column beside it, 'on digits'",
        ),
        ("  full: *scale\n", "", "there should be a scale 'full'"),
        ("  full: *scale\n", "  ful: *scale\n", "there is no scale 'ful'; did you mean 'full'?"),
        ("arcface: {s: auto}", "arcfase: {s: auto}", "line 34, scales.smoke.experiment.losses.arcfase: there is"),
        ("arcface: {s: auto}", "arcface: {s: -1}", "scales.smoke.experiment.losses.arcface.s: -1 is not allowed"),
        ("label: margin}", "label: margn}", "there is no row 'margn'; did you mean 'margin'?"),
        ("datasets: [mnist, digits]", "datasets: [mnist, digts]", "scales.smoke.experiment.datasets[1]: "),
        ("datasets: [mnist, digits]", "datasets: [mnist, digits]\n      dim: [8, 16]", "one backbone, dim and recipe"),
        ("seeds: 5", "seeds: 5\n      name: mine", "experiment.name: should be left out"),
        ("seeds: 5", "seeds: none", "scales.smoke.experiment.seeds: should be a count"),
        ("  smoke: &scale\n", "  smoke: &scale\n    alike: [trian]\n", "did you mean 'train'?"),
        ("  smoke: &scale\n", "  smoke: &scale\n    data: {mnist: {data: x, get: y}}\n", "there is no folder"),
        ("  full: *scale\n", "  full: {published_only: ''}\n", "scales.full.published_only: should have at least 1"),
        ("  full: *scale\n", "  full: {published_only: x, note: y}\n", "there is no key 'note'"),
        ("[mnist, digits]", "[mnist, digits, {folder: {path: x}, label: f}]", "should say of the folder 'f'"),
    ],
)
def test_refusals(load, old: str, new: str, message: str) -> None:
    assert old in PAPER
    assert message in refusal(load, PAPER.replace(old, new))


def test_a_row_that_no_scale_trains_needs_no_reason(load) -> None:
    assert load(PAPER.replace("    unmeasured: it is another suite's\n", "")).rows[2].unmeasured == ""


@pytest.mark.parametrize("text", ["", "[]", "title: x", "a: !!python/object:os.system x", "a: &a [*a]", "\x00"])
def test_what_is_no_paper_at_all(load, text: str) -> None:
    assert refusal(load, text)


def test_a_dataset_that_is_no_folder_cannot_be_called_another(load) -> None:
    """So that no file can have glyphs subtracted from faces."""
    text = PAPER.replace("  smoke: &scale\n", "  smoke: &scale\n    data: {digits: {data: faces, get: nowhere}}\n")
    assert "there is no folder in this scale's experiment 'digits'" in refusal(load, text)
