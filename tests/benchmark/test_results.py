"""From stored runs to one tidy frame: which of them count, and what they are called."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from benchmark import spec
from benchmark.cell import PROTOCOL_VERSION, Cell
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.results import collect
from benchmark.scoring import Scores
from benchmark.spec.loss_rows import TunedSetting
from benchmark.store import Failure, Store

EXPERIMENT = """\
name: exp
baseline: normface
seeds: 2
dim: [4, 8]
datasets: [digits]
recipe: {lr: [0.1, 0.2]}
losses: [softmax, {normface: {s: 8}}]
"""


def experiment(folder: Path, text: str = EXPERIMENT) -> spec.Experiment:
    (folder / "exp.yaml").write_text(text)
    return spec.load(str(folder / "exp.yaml"))


def save(
    store: Store,
    cell: Cell,
    value: float,
    begun: str = "2026-01-01T00:00:00Z",
    test_sets: tuple[str, ...] = ("test",),
    **other: str,
) -> str:
    code = {"loss_digest": loss_digest(cell.loss), "backbone_digest": backbone_digest(cell.backbone)}
    digests = {"dataset_digest": "d", **code, **other}
    cell_id = cell.id(**digests)
    about = {
        "cell": cell.description(),
        "labels": {"loss": "an old label", "dataset": "an old label"},
        "protocol": PROTOCOL_VERSION,
        "test_sets": list(test_sets),
        "provenance": {"begun": begun},
        **digests,
    }
    keys = [f"{name}/accuracy" for name in test_sets]
    metrics = {key: value + place for place, key in enumerate(keys)}
    without = {key: np.array([one, one + 0.1]) for key, one in metrics.items()}
    scores = Scores({**metrics, "w_inter": 90.0}, {}, without)
    files = {
        **scores.files(),
        "history.csv": b"epoch\n",
        "embeddings.safetensors": safetensors.numpy.save(
            {"weight": np.eye(2), **{f"{one}/labels": np.ones(2) for one in test_sets}}
        ),
    }
    store.save(cell_id, files, about)
    return cell_id


def test_every_run_is_a_row_named_as_the_experiment_names_it_now(tmp_path: Path) -> None:
    asked = experiment(tmp_path)
    store = Store(tmp_path, "exp")
    for number, cell in enumerate(asked.cells()):
        save(store, cell, float(number))
    found = collect(asked, tmp_path)
    assert not found.missing
    assert len(found.table) == len(asked.cells()) == 16
    assert set(found.table["loss"]) == {"softmax", "normface s=8"}
    assert set(found.table["name"]) == {"softmax", "normface"}
    assert set(found.table["dataset"]) == {f"digits · dim {dim} · lr {lr}" for dim in (4, 8) for lr in (0.1, 0.2)}
    assert not found.table.duplicated(["loss", "dataset", "seed"]).any()
    for run, (_, row) in zip(found.runs, found.table.iterrows(), strict=True):
        assert run.id == row["id"]
        stored = found.jackknife[row["loss"], row["dataset"], row["seed"]]["test/accuracy"]
        assert stored.tolist() == [row["test/accuracy"], row["test/accuracy"] + 0.1]


def test_settings_that_do_not_vary_are_not_in_the_name(tmp_path: Path) -> None:
    asked = experiment(tmp_path, EXPERIMENT.replace("[4, 8]", "4").replace("[0.1, 0.2]", "0.1"))
    store = Store(tmp_path, "exp")
    for cell in asked.cells():
        save(store, cell, 0.5)
    assert set(collect(asked, tmp_path).table["dataset"]) == {"digits"}


def tuned(asked: spec.Experiment, rates: dict[str, float]) -> spec.Experiment:
    """With a tuned row for each loss: its settings as they are, the rate as given."""
    rows = []
    for row in asked.losses:
        setting = TunedSetting(row.hyper, rates[row.name])
        rows += [row, replace(row, label=f"{row.name} (tuned)", tuned={"digits": setting}, of=row.label)]
    return replace(asked, losses=tuple(rows))


def test_a_tuned_rate_does_not_split_a_dataset_and_equal_settings_are_two_rows(tmp_path: Path) -> None:
    plain = experiment(tmp_path, EXPERIMENT.replace("[4, 8]", "4").replace("[0.1, 0.2]", "0.1"))
    asked = tuned(plain, {"softmax": 0.1, "normface": 0.4})
    store = Store(tmp_path, "exp")
    ids = [save(store, cell, 0.5) for cell in asked.cells()]
    assert len(set(ids)) == 6  # softmax is trained once for both rows
    found = collect(asked, tmp_path)
    assert not found.missing
    assert set(found.table["dataset"]) == {"digits"}
    assert found.table.groupby("loss").size().to_dict() == {
        "softmax": 2, "softmax (tuned)": 2, "normface s=8": 2, "normface (tuned)": 2,
    }  # fmt: skip
    assert len(found.jackknife) == 8
    for run, loss in zip(found.runs, found.table["loss"], strict=True):
        assert run.cell["labels"] == {"loss": loss, "dataset": "digits", "tuned": "(tuned)" in loss}
    assert len(collect(plain, tmp_path).table) == 4


def test_what_is_missing_or_failed_is_told(tmp_path: Path) -> None:
    asked = experiment(tmp_path)
    store = Store(tmp_path, "exp")
    cells = asked.cells()
    save(store, cells[0], 0.5)
    store.record_failure(Failure("0" * 16, "another title", "it broke", cells[1].description()))
    store.record_failure(Failure("1" * 16, cells[2].title, "it broke long ago", {**cells[2].description(), "dim": 99}))
    found = collect(asked, tmp_path)
    assert [cell.title for cell in found.missing] == [cell.title for cell in cells[1:]]
    assert [(cell, failure.reason) for cell, failure in found.failures] == [(cells[1], "it broke")]


@pytest.mark.parametrize("part", ["loss_digest", "backbone_digest"])
def test_a_run_of_edited_code_does_not_count(tmp_path: Path, part: str) -> None:
    asked = experiment(tmp_path)
    save(Store(tmp_path, "exp"), asked.cells()[0], 0.5, **{part: "of older code"})
    assert collect(asked, tmp_path).table.empty


def test_of_two_runs_on_different_data_the_later_counts(tmp_path: Path) -> None:
    asked = experiment(tmp_path)
    store = Store(tmp_path, "exp")
    cell = asked.cells()[0]
    save(store, cell, 0.25, begun="2026-01-02T00:00:00Z", dataset_digest="new")
    save(store, cell, 0.75, begun="2026-01-01T00:00:00Z", dataset_digest="old")
    assert collect(asked, tmp_path).table["test/accuracy"].tolist() == [0.25]


def test_a_damaged_run_is_named_and_counts_as_missing(tmp_path: Path) -> None:
    asked = experiment(tmp_path)
    cell_id = save(Store(tmp_path, "exp"), asked.cells()[0], 0.5)
    (tmp_path / "exp" / "runs" / cell_id / "metrics.json").write_bytes(b"{}")
    found = collect(asked, tmp_path)
    assert len(found.missing) == 16
    assert cell_id in found.damaged[0]


def test_nothing_was_run(tmp_path: Path) -> None:
    found = collect(experiment(tmp_path), tmp_path)
    assert found.table.empty
    assert len(found.missing) == 16
    assert found.jackknife == {}


def test_each_test_set_is_a_dataset_of_its_own(tmp_path: Path) -> None:
    asked = experiment(tmp_path, "datasets: [digits]\nseeds: 2\nlosses: [softmax, normface]\n")
    store = Store(tmp_path, "exp")
    for number, cell in enumerate(asked.cells()):
        save(store, cell, float(10 * number), test_sets=("lfw", "cfp_fp"))
    found = collect(asked, tmp_path)
    assert not found.missing
    assert len(found.runs) == len(found.table) == 2 * len(asked.cells())
    assert set(found.table["dataset"]) == {"digits: lfw", "digits: cfp_fp"}
    assert (found.table["w_inter"] == 90.0).all()
    on_lfw = found.table[found.table["dataset"] == "digits: lfw"].sort_values(["loss", "seed"])
    on_cfp = found.table[found.table["dataset"] == "digits: cfp_fp"].sort_values(["loss", "seed"])
    assert (on_cfp["test/accuracy"].to_numpy() - on_lfw["test/accuracy"].to_numpy() == 1.0).all()
    assert not [name for name in found.table if "lfw" in name or "cfp" in name]
    for run, row in zip(found.runs, found.table.to_dict("records"), strict=True):
        assert run.metrics["test/accuracy"] == row["test/accuracy"]
        assert run.arrays().keys() == run.shapes().keys() == {"weight", "test/labels"}
        assert run.arrays("test/labels").keys() == {"test/labels"}
        kept = found.jackknife[row["loss"], row["dataset"], row["seed"]]
        assert kept["test/accuracy"][0] == row["test/accuracy"]


def test_runs_of_two_protocols_are_never_one_dataset(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("[4, 8]", "4").replace("{lr: [0.1, 0.2]}", "{flip_test: [false, true], pixel_mean: 0.5}")
    chosen = experiment(tmp_path, text)
    store = Store(tmp_path, "exp")
    for cell in chosen.cells():
        save(store, cell, 0.9 if cell.recipe.flip_test else 0.8)
    table = collect(chosen, tmp_path).table
    assert set(zip(table["dataset"], table["test/accuracy"], strict=True)) == {
        ("digits · flip_test no", 0.8),
        ("digits · flip_test yes", 0.9),
    }


def test_runs_that_were_stored_before_a_key_came_still_count(tmp_path: Path) -> None:
    chosen = experiment(tmp_path)
    for cell in chosen.cells():
        save(Store(tmp_path, "exp"), cell, 0.8)
    found = collect(chosen, tmp_path)
    assert found.missing == []
    assert all("flip_test" not in recipe for recipe in found.table["recipe"])
