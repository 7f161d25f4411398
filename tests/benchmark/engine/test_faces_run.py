"""Real faces through the whole of it: several test sets after one training, and every form in which faces come."""

import csv
import json
import os
import re
import sys
import time
from pathlib import Path

import pytest

from tests.benchmark.engine.runner import Runner, kill, wait_until_gone, workers
from tests.datasets.packs import Images
from tests.datasets.test_faces import FORMS, PAIR_FORMS, listed, some_lfw, write_listed

REAL = Path(os.environ.get("MARGINBENCH_DATA") or "nowhere")
pytestmark = [pytest.mark.skipif(not (REAL / "lfw").is_dir(), reason="MARGINBENCH_DATA has no lfw"), pytest.mark.long]
THREE_SETS = """\
description: One training on people of LFW, tested on three sets.
seeds: 1
dim: 32
datasets:
  - faces:
      train: faces_lfw_112x112
      tests: [lfw.bin, cfp_fp.bin, agedb_30_py2.bin]
      min_per_class: 10
      size: 64
      channels: 1
    label: pack
recipe: {optimiser: adamw, lr: 0.005, epochs: 8, batch: 64}
losses: [{normface: {s: 16}}]
"""
FORM = """\
  - faces: {{train: {train}, tests: [{tests}], size: 32, channels: 1, val: none}}
    label: {label}
"""


def run(runner: Runner, data: Path) -> str:
    code, output = runner.run("--data", str(data), "--workers", "1", environment=own_cache(runner))
    assert code == 0, output
    return output


def own_cache(runner: Runner) -> dict[str, str]:
    return {"MARGINBENCH_CACHE": str(runner.folder.parent / "cache")}


def summary(runner: Runner) -> list[dict[str, str]]:
    with (runner.results / "tiny" / "summary.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
def test_three_sets_after_one_training_that_was_killed(tmp_path: Path) -> None:
    whole = Runner(tmp_path / "whole", THREE_SETS)
    output = run(whole, REAL)
    names = [f"pack: {name}" for name in ("agedb_30_py2", "cfp_fp", "lfw")]
    assert len(whole.runs()) == 1
    assert all(name in output for name in names)
    (row,) = summary(whole)
    accuracy = {name: float(row[f"{name}/accuracy"]) for name in ("lfw", "cfp_fp", "agedb_30_py2")}
    assert accuracy["agedb_30_py2"] == accuracy["cfp_fp"]  # the same pairs in two forms of file
    assert accuracy["lfw"] > 0.7

    killed = Runner(tmp_path / "killed", THREE_SETS)
    process = killed.start("--data", str(REAL), "--workers", "1", environment=own_cache(killed))
    checkpoints = killed.results / "tiny" / "checkpoints"
    while process.poll() is None and not list(checkpoints.glob("[0-9a-f]*.safetensors")):
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[0]
    started = workers(process.pid)
    kill(process.pid)
    process.communicate()
    assert wait_until_gone(started) == []
    assert killed.runs() == []
    run(killed, REAL)
    assert killed.bytes() == whole.bytes()


def people(images: Images, first: int, end: int) -> Images:
    names = sorted({path.split("/")[0] for path, _ in images})[first:end]
    return [(path, content) for path, content in images if path.split("/")[0] in names]


def test_every_form_gives_the_same_figures(tmp_path: Path) -> None:
    faces = some_lfw(people=40, each=4)
    train, test = people(faces, 0, 20), people(faces, 20, 40)
    rows = ""
    for number, (form, write) in enumerate(FORMS.items()):
        (folder := tmp_path / str(number)).mkdir()
        tests = write_listed(tmp_path, PAIR_FORMS[number % len(PAIR_FORMS)], test, listed(test))
        path = write(folder, train).relative_to(tmp_path)
        rows += FORM.format(train=path, tests=json.dumps(tests), label=form.replace("'", ""))
    text = f"seeds: 1\ndim: 16\nlosses: [{{normface: {{s: 16}}}}]\nrecipe: {{epochs: 2, batch: 16}}\ndatasets:\n{rows}"
    runner = Runner(tmp_path / "runner", text)
    run(runner, tmp_path)
    found = [json.loads((one / "metrics.json").read_text())["metrics"] for one in runner.runs()]
    assert len(found) == len(FORMS)
    by_pairs = [key for key in found[0] if re.match(r"pairs_set/(accuracy|eer|auc|tar@|n_same|n_different)", key)]
    assert len(by_pairs) > 10
    # What else is measured on the test set needs identities, and .bin and parquet have none.
    by_pairs += [key for key in found[0] if not key.startswith("pairs_set/")]
    for metrics in found:
        assert {key: metrics[key] for key in by_pairs} == {key: found[0][key] for key in by_pairs}
