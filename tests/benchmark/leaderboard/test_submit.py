"""Real runs of a tiny experiment: entries are made, made only once, checked against embeddings, and forgeries found."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import losses
from benchmark import spec
from benchmark.cli import app
from benchmark.findings.findings import PRIMARY, Findings
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import read_entries
from benchmark.leaderboard.standings import Board
from benchmark.results import collect
from tests.benchmark.leaderboard import made

TINY = """\
baseline: normface
seeds: 2
dim: 8
datasets:
  - digits
  - glyphs: {classes: 10, per_class: 8, eval_per_class: 4}
    label: letters
recipe: {lr: 0.1, epochs: 1, batch: 64}
losses: [softmax, {normface: {s: 8}}]
"""


class Place:
    """A folder with an experiment, its results and its entries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.experiment = folder / "tiny.yaml"
        self.entries = folder / "results" / "tiny" / "entries"
        self.runs = folder / "results" / "tiny" / "runs"

    def call(self, *words: str) -> Result:
        options = ["--experiment", str(self.experiment), "--results", str(self.folder / "results")]
        return CliRunner().invoke(app, ["leaderboard", *words, *options])

    def leaderboard(self, *words: str) -> Result:
        return self.call(*words, "--data", str(self.folder / "data"), "--workers", "1")

    def entry(self, loss: str) -> Path:
        (path,) = self.entries.glob(f"{loss}-*.json")
        return path

    def bytes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.entries.iterdir()}


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("board"))
    place.experiment.write_text(TINY)
    done = place.leaderboard()
    assert done.exit_code == 0, done.stderr
    assert "8 cells, 0 with a result, 8 to run" in done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines() if line} >= {"softmax", "normface"}
    return place


@pytest.fixture(autouse=True)
def without_plugins() -> Iterator[None]:
    yield
    losses._registry._losses.pop("plugged", None)


@pytest.fixture
def place(run_once: Place, tmp_path: Path) -> Place:
    """A copy to spoil."""
    shutil.copytree(run_once.folder, tmp_path / "copy")
    return Place(tmp_path / "copy")


def test_what_is_entered_is_not_run_again(place: Place) -> None:
    before = place.bytes()
    assert len(before) == 2
    done = place.leaderboard("softmax")
    assert done.exit_code == 0
    assert "to run" not in done.stderr
    assert done.stdout.startswith("softmax: place ")
    assert place.bytes() == before


def test_a_removed_entry_is_made_again_from_the_stored_runs_to_the_byte(place: Place) -> None:
    before = place.bytes()
    place.entry("softmax").unlink()
    done = place.leaderboard("softmax")
    assert "4 cells, 4 with a result, 0 to run" in done.stderr
    assert place.bytes() == before


def test_entries_give_the_same_figures_as_the_runs_they_were_made_from(run_once: Place) -> None:
    collected = collect(spec.load(run_once.experiment), run_once.folder / "results")
    from_runs = Findings(collected.table, collected.experiment.baseline, collected.jackknife)
    entries = {entry.label: entry for entry in read_entries(run_once.entries).sound.values()}
    from_entries = Board(entries, collected.experiment.baseline).findings
    for key in (PRIMARY, "test/accuracy", "test/eer", "test/intra"):
        ours, theirs = from_entries.of(key), from_runs.of(key)
        assert ours.keys() == theirs.keys()
        for at, one in ours.items():
            assert one.mean == theirs[at].mean
            assert one.carries == theirs[at].carries
            assert one.half_width == pytest.approx(theirs[at].half_width, rel=1e-3)


def test_sound_entries_are_computed_again(run_once: Place) -> None:
    done = run_once.call("verify")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("4 runs recomputed\n") == 2
    assert "2 entries, 0 refused" in done.stdout


def spoil(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_a_forged_figure_is_refused_and_nothing_else_is_disturbed(place: Place) -> None:
    forged = place.entry("softmax")

    def better(entry: Any) -> None:
        values = entry["results"][0]["figures"]["test/classification_accuracy"]
        values[1] = min(1.0, values[1] + 0.002)

    spoil(forged, better)
    done = place.call("verify")
    assert done.exit_code == 1
    assert f"refused: {forged.name}: digits, seed 1: test/classification_accuracy is" in done.stdout
    assert "its embeddings give" in done.stdout
    assert f"correct: {place.entry('normface').name}" in done.stdout
    assert "2 entries, 1 refused" in done.stdout
    shown = place.leaderboard("normface")
    assert shown.exit_code == 0
    assert f"refused: {forged.name}: digits, seed 1" in shown.stderr
    assert "normface s=8: place 1 of 1" in shown.stdout


def test_forged_identities_are_refused(place: Place) -> None:
    forged = place.entry("softmax")

    def surer(entry: Any) -> None:
        rows = entry["results"][1]["without_each_identity"]["test/accuracy"]
        rows[0] = [rows[0][0]] * len(rows[0])

    spoil(forged, surer)
    done = place.call("verify", str(forged))
    assert done.exit_code == 1
    assert "letters, seed 0: test/accuracy without each identity does not follow from its embeddings" in done.stdout


def test_without_embeddings_the_form_alone_is_checked_and_that_is_said(place: Place) -> None:
    shutil.rmtree(place.runs)
    done = place.call("verify")
    assert done.exit_code == 0
    assert done.stdout.count("its metrics were not checked, because the embeddings of 4 runs are not here") == 2
    assert "correct" not in done.stdout


def test_other_embeddings_do_not_hide_a_forged_figure(place: Place) -> None:
    forged = place.entry("softmax")

    def another_machine(entry: Any) -> None:
        for result in entry["results"]:
            for run in result["runs"]:
                run["embeddings"] = hashlib.sha256(run["cell"].encode()).hexdigest()

    def perfect(entry: Any) -> None:
        for result in entry["results"]:
            result["figures"]["test/accuracy"] = [1.0] * len(result["runs"])

    spoil(forged, another_machine)
    done = place.call("verify", str(forged))
    assert done.exit_code == 0
    assert "format only" in done.stdout
    assert "4 of them are stored with other embeddings" in done.stdout
    spoil(forged, perfect)
    done = place.call("verify", str(forged))
    assert done.exit_code == 1
    assert "rounding on another machine does not explain this" in done.stdout


def test_a_figure_left_out_is_missed(place: Place) -> None:
    forged = place.entry("softmax")

    def shy(entry: Any) -> None:
        for result in entry["results"]:
            del result["figures"]["test/eer"]
            result["without_each_identity"] = {}

    spoil(forged, shy)
    done = place.call("verify", str(forged))
    assert done.exit_code == 1
    assert "test/eer is missing, but its embeddings give" in done.stdout
    assert "test/accuracy without each identity is missing" in done.stdout


def test_an_update_completes_entries_whose_embeddings_are_here(place: Place) -> None:
    sound = place.entry("softmax")
    complete, other = sound.read_bytes(), place.entry("normface")

    def older(entry: Any) -> None:
        for result in entry["results"]:
            del result["figures"]["test/map@r"]
            result["figures"]["test/of-a-plug-in"] = [0.5] * len(result["runs"])

    def elsewhere(entry: Any) -> None:
        older(entry)
        for result in entry["results"]:
            result["runs"][0]["embeddings"] = "0" * 64

    spoil(sound, older)
    spoil(other, elsewhere)
    not_here = other.read_bytes()
    done = CliRunner().invoke(
        app, ["score", str(place.experiment), "--results", str(place.runs.parents[1]), "--update"]
    )
    assert done.exit_code == 0, done.output
    assert "8 runs, 0 updated; 1 leaderboard entry updated" in done.stdout
    assert other.read_bytes() == not_here
    updated, expected = json.loads(sound.read_text()), json.loads(complete)
    for result in updated["results"]:
        assert result["figures"].pop("test/of-a-plug-in") == [0.5] * len(result["runs"])
    assert updated == expected


def test_settings_that_the_loss_does_not_take_are_refused(place: Place) -> None:
    path = place.entry("normface")
    content = json.loads(path.read_text())
    content["hyper"]["zzz"] = content["settings"]["zzz"] = 1
    content["tuned"] = True
    entry = Entry.model_validate(made.with_ids(content))
    made.write(place.entries, entry)
    shown = place.leaderboard("softmax")
    assert f"refused: {entry.name}.json: normface has no hyper-parameter 'zzz'" in shown.stderr


PLUGIN = '''\
"""A plug-in."""
from torch import Tensor
from losses import Batch, TargetOnlyHead, scale

class Plugged(TargetOnlyHead):
    """ℓ_y = s·cos θ_y."""
    name = "plugged"
    s: float = scale("auto")
    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        BODY
        return cosine
'''


def test_a_plugin_that_raises_while_training_fails_its_own_cells_only(place: Place, tmp_path: Path) -> None:
    place.entry("softmax").unlink()
    before = place.bytes()
    plugin = tmp_path / "plugged.py"
    plugin.write_text(PLUGIN.replace("BODY", "if len(cosine) > 12: raise RuntimeError('on purpose')"))
    done = place.leaderboard("plugged", "softmax", "--plugin", str(plugin))
    assert done.exit_code == 1
    assert done.stderr.count("RuntimeError: on purpose") >= 4
    assert "plugged: 4 of 4 cells have no result, so it gets no entry" in done.stderr
    assert done.stdout.startswith("softmax: place ")
    assert len(place.bytes()) == len(before) + 1
    plugin.write_text(PLUGIN.replace("BODY", ""))
    done = place.leaderboard("plugged", "--plugin", str(plugin))
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("plugged: place ")
    assert json.loads(place.entry("plugged").read_text())["origin"] == "plug-in"


def test_a_loss_that_fails_its_audit_is_not_run(place: Place, tmp_path: Path) -> None:
    plugin = tmp_path / "plugged.py"
    plugin.write_text(PLUGIN.replace("return cosine", "return -cosine").replace("BODY", ""))
    before = place.bytes()
    done = place.leaderboard("plugged", "--plugin", str(plugin))
    assert done.exit_code == 1
    assert "plugged fails its audit and is not run" in done.stderr
    assert "falls" in done.stderr
    assert place.bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["arcfase"], "did you mean 'arcface'"),
        (["softmax", "--plugin", "nowhere.py"], "there is no plug-in file"),
        (["verify", "--entries", "nowhere"], "there are no entries in nowhere"),
    ],
)
def test_wrong_calls(run_once: Place, words: list[str], message: str) -> None:
    assert isinstance((problem := run_once.call(*words).exception), ValueError)  # which main() prints, exit 2
    assert message in str(problem)


def test_a_file_that_is_not_there_is_refused_by_name(run_once: Place) -> None:
    done = run_once.call("verify", "nowhere.json")
    assert done.exit_code == 1
    assert "refused: nowhere.json: cannot be read as a regular file" in done.stdout
