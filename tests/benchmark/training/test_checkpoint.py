"""A run that was interrupted ends with the bytes of one that was not."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import losses
from benchmark.cell import Cell
from benchmark.training import Trained, train
from benchmark.training.batches import Batches
from datasets import Data

STOP_AFTER = 2


class StopHereError(Exception):
    pass


def bytes_of(trained: Trained) -> dict[str, bytes]:
    tensors = {**trained.backbone.state_dict(), **{f"head.{k}": v for k, v in trained.head.state_dict().items()}}
    return {name: tensor.contiguous().numpy().tobytes() for name, tensor in tensors.items()}


def interrupt(cell: Cell, data: Data, checkpoint: Path) -> None:
    def stop(epoch: int, epochs: int, loss: float) -> None:
        if epoch == STOP_AFTER:
            raise StopHereError

    with pytest.raises(StopHereError):
        train(cell, data, checkpoint=checkpoint, checkpoint_every=0.0, on_epoch=stop)
    assert checkpoint.exists()


def resume(cell: Cell, data: Data, checkpoint: Path) -> tuple[Trained, list[int]]:
    """The result, and the epochs that were trained for it."""
    epochs: list[int] = []
    trained = train(
        cell, data, checkpoint=checkpoint, checkpoint_every=0.0, on_epoch=lambda epoch, *_: epochs.append(epoch)
    )
    return trained, epochs


@pytest.mark.parametrize(
    ("loss", "optimiser", "lr"), [("adacos", "sgd", 0.1), ("kappaface", "adamw", 3e-3), ("sphereface", "muon", 3e-3)]
)
def test_interrupted_and_resumed(
    loss: str, optimiser: str, lr: float, make_cell: Callable[..., Cell], digits: Data, checkpoint: Path
) -> None:
    cell = make_cell(loss, epochs=4, optimiser=optimiser, lr=lr)
    whole = train(cell, digits)
    interrupt(cell, digits, checkpoint)
    resumed, epochs = resume(cell, digits, checkpoint)
    assert epochs == [3, 4]
    assert bytes_of(resumed) == bytes_of(whole)
    assert resumed.history == whole.history
    assert list(checkpoint.parent.iterdir()) == [checkpoint]


KILLED = """
import json, os, signal, sys, torch
from pathlib import Path
import datasets
from benchmark.cell import Cell
from benchmark.recipe import Recipe
from benchmark.training import train
torch.set_num_threads(1)
given = json.loads(sys.argv[1])
cell = Cell(**(given["cell"] | {"recipe": Recipe(**given["cell"]["recipe"])}))
def die(epoch, epochs, loss):
    if epoch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
data = datasets.load("digits", given["folder"], cache=given["folder"])
train(cell, data, checkpoint=Path(given["checkpoint"]), checkpoint_every=0.0, on_epoch=die)
"""


def test_killed_and_resumed(make_cell: Callable[..., Cell], digits: Data, checkpoint: Path, tmp_path: Path) -> None:
    cell = make_cell(epochs=4)
    given = json.dumps({"cell": cell.description(), "folder": str(tmp_path), "checkpoint": str(checkpoint)})
    done = subprocess.run([sys.executable, "-c", KILLED, given], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    resumed, epochs = resume(cell, digits, checkpoint)
    assert epochs == [3, 4]
    assert bytes_of(resumed) == bytes_of(train(cell, digits))


@pytest.mark.parametrize("loss", ["adacos", "kappaface", "elasticface"])
def test_interrupted_within_an_epoch(
    loss: str, make_cell: Callable[..., Cell], digits: Data, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_cell(loss, epochs=3)
    whole = train(cell, digits)
    steps = int(whole.history[0]["step"])
    first_batches: list[int] = []
    batches_of = Batches.epoch

    def watched(batches: Batches, epoch: int, first: int = 0) -> Iterator[Any]:
        first_batches.append(first)
        for number, batch in enumerate(batches_of(batches, epoch, first), first):
            if (epoch, number) == (1, 4) and len(first_batches) == 2:
                raise StopHereError
            yield batch

    monkeypatch.setattr(Batches, "epoch", watched)
    with pytest.raises(StopHereError):
        train(cell, digits, checkpoint=checkpoint, checkpoint_every=0.0)
    resumed = train(cell, digits, checkpoint=checkpoint, checkpoint_every=0.0)
    assert steps > 5
    assert first_batches == [0, 0, 4, 0]
    assert bytes_of(resumed) == bytes_of(whole)
    assert resumed.history == whole.history


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "text"])
def test_damaged_checkpoint_is_not_used(
    damage: str, make_cell: Callable[..., Cell], digits: Data, checkpoint: Path
) -> None:
    cell = make_cell(epochs=3)
    interrupt(cell, digits, checkpoint)
    content = bytearray(checkpoint.read_bytes())
    content[-100] ^= 1
    damaged = {"truncated": content[:-50], "flipped": content, "empty": b"", "text": b"not a checkpoint at all"}
    checkpoint.write_bytes(bytes(damaged[damage]))
    with pytest.warns(UserWarning, match="damaged"):
        resumed, epochs = resume(cell, digits, checkpoint)
    assert epochs == [1, 2, 3]
    assert bytes_of(resumed) == bytes_of(train(cell, digits))


def test_checkpoint_of_another_cell_is_not_used(make_cell: Callable[..., Cell], digits: Data, checkpoint: Path) -> None:
    interrupt(make_cell(epochs=3), digits, checkpoint)
    with pytest.warns(UserWarning, match="another run"):
        resumed, epochs = resume(make_cell(epochs=3, seed=1), digits, checkpoint)
    assert epochs == [1, 2, 3]
    assert bytes_of(resumed) == bytes_of(train(make_cell(epochs=3, seed=1), digits))


def test_a_loss_that_draws_numbers_goes_on_drawing(
    make_cell: Callable[..., Cell], digits: Data, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def jitter(head: losses.Head, batch: losses.Batch) -> None:
        head.weight += 0.01 * torch.randn(head.weight.shape, generator=head.generator)

    monkeypatch.setattr(losses.get("arcface"), "update_state", jitter)
    cell = make_cell("arcface", epochs=4)
    interrupt(cell, digits, checkpoint)
    assert bytes_of(resume(cell, digits, checkpoint)[0]) == bytes_of(train(cell, digits))


def test_short_runs_write_no_checkpoint(make_cell: Callable[..., Cell], digits: Data, checkpoint: Path) -> None:
    train(make_cell(), digits, checkpoint=checkpoint, checkpoint_every=3600.0)
    assert not checkpoint.parent.exists()


def test_a_full_disk_costs_the_checkpoint_and_no_more(
    make_cell: Callable[..., Cell], digits: Data, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(handle: int) -> None:
        raise OSError(28, "No space left on device")

    cell = make_cell("arcface", epochs=3)
    expected = bytes_of(train(cell, digits))
    monkeypatch.setattr("os.fsync", no_space)
    with pytest.warns(UserWarning, match="no checkpoint could be written: .*No space left"):
        trained = train(cell, digits, checkpoint=checkpoint, checkpoint_every=0.0)
    assert bytes_of(trained) == expected
    assert list(checkpoint.parent.iterdir()) == []


def test_a_finished_run_whose_result_was_not_stored_is_not_trained_again(
    make_cell: Callable[..., Cell], digits: Data, checkpoint: Path
) -> None:
    cell = make_cell("arcface", epochs=3)
    first = train(cell, digits, checkpoint=checkpoint, checkpoint_every=0.0)
    again, epochs = resume(cell, digits, checkpoint)
    assert epochs == []
    assert bytes_of(again) == bytes_of(first)
    assert again.history == first.history
