"""Runs on disk: whole or not at all, checked when read."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from benchmark.scoring import Scores
from benchmark.store import DamagedError, Failure, Store, lock, summary_table
from benchmark.store.runs import FILES
from datasets._files import write_atomically

ID = "0123456789abcdef"


def files(value: float = 0.5) -> dict[str, bytes]:
    return {
        **Scores({"test/accuracy": value, "test/eer": None}, {}, {"test/accuracy": np.array([0.4, 0.6])}).files(),
        "history.csv": b"epoch,loss\n1,2.5\n",
        "embeddings.safetensors": safetensors.torch.save({"weight": torch.ones(3, 2)}),
    }


def cell(label: str = "arcface", seed: int = 0) -> dict:
    about = {"backbone": "convnet", "dim": 8, "loss": "arcface", "hyper": {}, "seed": seed, "recipe": {"lr": 0.1}}
    return {"cell": about, "labels": {"loss": label, "dataset": "digits"}, "protocol": 1}


def test_a_run_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    assert not store.has(ID)
    store.save(ID, files(), cell())
    run = store.load(ID)
    assert run.metrics["test/accuracy"] == 0.5
    assert run.cell["cell"]["loss"] == "arcface"
    assert np.array_equal(run.arrays()["weight"], np.ones((3, 2)))
    assert run.arrays("bias") == {}
    assert run.shapes() == {"weight": (3, 2)}
    assert run.jackknife()["test/accuracy"].tolist() == [0.4, 0.6]
    assert run.history() == "epoch,loss\n1,2.5\n"
    assert [one.id for one in store.load_all()[0]] == [ID]
    assert sorted(os.listdir(tmp_path / "exp" / "runs")) == [ID]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "empty"])
def test_damage_is_found(tmp_path: Path, name: str, damage: str) -> None:
    store = Store(tmp_path, "exp")
    store.save(ID, files(), cell())
    file = tmp_path / "exp" / "runs" / ID / name
    content = file.read_bytes()
    if damage == "remove":
        file.unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        file.write_bytes({"truncate": content[:-5], "flip": flipped, "empty": b""}[damage])
    with pytest.raises(DamagedError, match=name):
        store.load(ID)
    runs, problems = store.load_all()
    assert runs == []
    assert len(problems) == 1


def test_an_edited_figure_is_found_even_if_the_json_is_fine(tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    store.save(ID, files(), cell())
    file = tmp_path / "exp" / "runs" / ID / "metrics.json"
    file.write_text(file.read_text().replace("0.5", "0.9"))
    with pytest.raises(DamagedError, match="has changed since it was written"):
        store.load(ID)


def test_saving_again_replaces_and_keeps_the_old_one_aside(tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    store.save(ID, files(0.1), cell())
    store.save(ID, files(0.2), cell())
    assert store.load(ID).metrics["test/accuracy"] == 0.2
    assert len(list((tmp_path / "exp" / "damaged").iterdir())) == 1


def test_failures_are_remembered_until_a_result_comes(tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    assert store.failure(ID) is None
    store.record_failure(Failure(ID, "digits · arcface", "it was not to be", {"seed": 3}))
    found = store.failure(ID)
    assert found is not None
    assert found == Failure(ID, "digits · arcface", "it was not to be", {"seed": 3})
    store.save(ID, files(), cell())
    assert store.failure(ID) is None
    (tmp_path / "exp" / "failed" / f"{ID}.json").write_text("{broken")
    assert store.failure(ID) is None


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.csv"
    write_atomically(path, b"old")

    def no_space(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["summary.csv"]


def test_a_claim_is_held_by_one_and_dropped_by_death(tmp_path: Path) -> None:
    path = tmp_path / "claims" / "one.lock"
    mine = lock(path)
    assert mine is not None
    code = (
        "import sys, time; from pathlib import Path; from benchmark.store import lock\n"
        f"held = lock(Path({str(path)!r})); print(held is not None, flush=True); time.sleep(60)"
    )
    other = subprocess.run([sys.executable, "-c", code.replace("time.sleep(60)", "")], capture_output=True, text=True)
    assert other.stdout == "False\n", other.stderr
    mine.release()
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert lock(path) is None
    holder.kill()
    holder.wait()
    again = lock(path)
    assert again is not None
    again.release()
    assert not path.exists()


def test_half_written_runs_are_cleared_unless_somebody_is_writing(tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    store.save(ID, files(), cell())
    left, under_way = (store.runs / f".aside-{name * 16}-abcd" for name in "ab")
    left.mkdir()
    under_way.mkdir()
    checkpoint = store.checkpoint("a" * 16)
    for name in (checkpoint.name, f".aside-{checkpoint.name}-abcd"):
        write_atomically(checkpoint.with_name(name), b"")
    held = store.lock("b" * 16)
    assert held is not None
    store.clear_leftovers()
    assert (left.exists(), under_way.exists()) == (False, True)
    assert list(checkpoint.parent.iterdir()) == [checkpoint]
    held.release()
    assert store.load(ID).id == ID


def test_summary_rows_are_tidy_and_in_a_fixed_order(tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    for number, (label, seed) in enumerate([("b", 1), ("a", 1), ("b", 0), ("a", 0)]):
        store.save(f"{number:016x}", files(number / 10), cell(label, seed))
    table = summary_table(store.load_all()[0])
    assert list(zip(table["label"], table["seed"], strict=True)) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert table["test/accuracy"].tolist() == [0.3, 0.1, 0.2, 0.0]
    assert table["test/eer"].isna().all()
    assert not any("second" in column or "host" in column or "time" in column for column in table.columns)
