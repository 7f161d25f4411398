import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import datasets
from benchmark import backbones, spec
from benchmark.cell import Cell
from benchmark.engine.worker import MEMORY, ONE_THREAD

CLONE = Path(__file__).parents[3]


def only_cell(load, entry: str, rest: str = "") -> Cell:
    (cell,) = load(f"seeds: 1\ndatasets: [{entry}]\nlosses: {{arcface: {{s: 16, m: 0.3}}}}\n{rest}\n").cells()
    return cell


def test_larger_images_take_longer(load) -> None:
    small, large = only_cell(load, "{glyphs: {size: 28}}"), only_cell(load, "{glyphs: {size: 56}}")
    first, second = spec.estimate_seconds([small, large])
    assert first is not None
    assert second == pytest.approx(4 * first)


def test_a_folder_s_time_is_unknown(load) -> None:
    cell = only_cell(load, "folder")
    assert spec.estimate_seconds([cell]) == [None]
    assert spec.cell_line(cell, None) == "folder · convnet/64 · arcface s=16 m=0.3 · seed 0 · unknown"


@pytest.mark.contract
@pytest.mark.parametrize("name", backbones.names())
def test_a_declared_throughput_gives_an_estimate(load, name: str) -> None:
    images_per_second = backbones.get(name).images_per_second
    cell = only_cell(load, "{glyphs: {classes: 100, per_class: 30}}", f"backbone: {name}\nrecipe: {{epochs: 4}}")
    expected = None if images_per_second is None else pytest.approx(100 * 30 * 4 / images_per_second)
    assert spec.estimate_seconds([cell]) == [expected]


@pytest.mark.parametrize(
    "entry",
    [
        "digits",
        "{digits: {}, wrappers: [{longtail: {ratio: 1}}]}",
        "{digits: {val_share: 0.3}, wrappers: [{subset: {per_class: 60}}, {longtail: {ratio: 4}}]}",
        "{digits: {test_share: 0.4}, wrappers: [{subset: {classes: 5, share: 0.5}}, label_noise]}",
        "{digits: {}, wrappers: [{subset: {per_class: 20}}]}",
    ],
)
def test_the_size_is_near_that_of_the_data(load, entry: str) -> None:
    dataset = only_cell(load, entry).dataset
    data = datasets.load(dataset["name"], wrappers=dataset["wrappers"], **dataset["options"])
    size = datasets.training_size(dataset)
    assert size is not None
    assert size.images == pytest.approx(len(data.train), rel=0.05)
    assert size.classes == data.num_classes
    assert size.pixels == data.train.images[0].shape[-1] ** 2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ([0.2], "< 1 s"),
        ([1.0], "~1 s"),
        ([60.0, 29.0], "~89 s"),
        ([600.0, None], "~10 min and 1 of unknown time"),
        ([9000.0], "~2.5 h"),
        ([None], "unknown"),
        ([], "~0 s"),
    ],
)
def test_times_in_words(seconds: list[float | None], words: str) -> None:
    assert spec.in_words(seconds) == words


def test_a_cell_on_one_line(load) -> None:
    line = spec.cell_line(only_cell(load, "digits"), 1.2)
    assert line == "digits · convnet/64 · arcface s=16 m=0.3 · seed 0 · ~1.2 s"


PEAK = """
import sys
from pathlib import Path
import torch
from benchmark import spec
from benchmark.engine.job import run_job
from benchmark.engine.plan import facts_of, job_of, load_data

torch.set_num_threads(1)
(cell,) = spec.load(Path(sys.argv[1])).cells()
folder = Path(sys.argv[1]).parent
job = job_of(cell, facts_of(cell.dataset, cell.access, folder))
run_job(job, load_data(cell.dataset, cell.access, folder), "cpu", folder / "checkpoint", False)
print([line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")][0])
"""
"""Runs a cell in a process of its own and prints the most memory that it had, in KiB."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_memory_is_estimated_within_the_stated_factor(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    data = "glyphs: {classes: 64, per_class: 2, eval_per_class: 2, size: 48}"
    file.write_text(
        f"seeds: 1\ndatasets: [{data}]\nlosses: arcface\nbackbone: resnet20\nrecipe: {{epochs: 1, batch: 128}}\n"
    )
    estimated = spec.estimate_memory(spec.load(file).cells())
    fixed = spec.estimate_memory([replace(cell, backbone="convnet") for cell in spec.load(file).cells()])
    assert estimated > 1.4 * fixed, "the batch has to matter, or only the process itself is measured"
    prepared = {**os.environ, **ONE_THREAD, **MEMORY}
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(file)], cwd=CLONE, capture_output=True, text=True, env=prepared
    )
    assert done.returncode == 0, done.stderr
    ratio = estimated / (1024 * int(done.stdout))
    assert 1 / spec.MEMORY_FACTOR < ratio < spec.MEMORY_FACTOR


def test_memory_grows_with_batch_images_and_classes(load) -> None:
    def memory(entry: str, rest: str = "") -> float:
        return spec.estimate_memory([only_cell(load, entry, rest)])

    small = memory("glyphs")
    assert memory("glyphs", "recipe: {batch: 1024}") > small
    assert memory("{glyphs: {size: 64}}") > small
    assert memory("{glyphs: {classes: 1000}}", "dim: 512") > small
    assert memory("cifar10") > memory("fashion_mnist")


def test_memory_of_a_folder_is_unknown(load) -> None:
    assert spec.estimate_memory([only_cell(load, "folder")]) is None
    assert spec.estimate_memory([]) is None


@pytest.mark.contract
@pytest.mark.parametrize("name", backbones.names())
def test_memory_is_known_for_every_backbone(load, name: str) -> None:
    assert spec.estimate_memory([only_cell(load, "{glyphs: {size: 32}}", f"backbone: {name}")]) > 0
