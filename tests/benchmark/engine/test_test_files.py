"""Two test files of one name, unknown identities and lost pairs, from the run to the tables."""

from pathlib import Path

import pandas as pd

from benchmark import spec
from benchmark.dry_run import dry_run
from benchmark.findings import Findings
from benchmark.findings.about_losses import about_losses
from benchmark.findings.main_table import main_table
from benchmark.options import RunOptions
from benchmark.report.facts import dataset_facts
from benchmark.results import collect
from benchmark.run_experiment import run
from benchmark.tables import as_markdown
from tests.datasets.packs import some_images, write_bin, write_tree

TEXT = """\
description: Two files of one name.
baseline: normface
seeds: 2
backbone: convnet
dim: 4
recipe: {epochs: 1, batch: 16}
datasets:
  - faces: {train: people, tests: [a/lfw.bin], size: 16, val: none}
    label: first
  - faces: {train: people, tests: [b/lfw.bin], size: 16, val: none}
    label: second
losses: [normface]
"""


def test_two_files_of_one_name_and_intervals_by_pairs(tmp_path: Path) -> None:
    write_tree(tmp_path / "people", some_images(6, 4))
    for folder, first in (("a", 20), ("b", 60)):
        (tmp_path / folder).mkdir()
        images = [content for _, content in some_images(20, 2, first=first)]
        write_bin(tmp_path / folder / "lfw.bin", images, [True, False] * 10)
    path = tmp_path / "two.yaml"
    path.write_text(TEXT)
    options = RunOptions(results=tmp_path / "results", data=tmp_path, workers=1)
    assert run(path, options) == 0
    collected = collect(spec.load(path), tmp_path / "results")
    digests = {run.about_test_set["sha256"] for run in collected.runs}
    names = sorted(collected.table["dataset"].unique())
    assert len(digests) == len(names) == 2
    assert {name[-9:-1] for name in names} == {digest[:8] for digest in digests}
    columns = pd.read_csv(tmp_path / "results" / "two" / "summary.csv").columns
    assert {f"lfw (sha256 {digest[:8]})/accuracy" for digest in digests} <= {*columns}
    assert "lfw/accuracy" not in columns
    findings = Findings.of_experiment(collected)
    assert {one.carries for one in findings.of("test/eer", True).values()} == {"seeds and pairs"}
    facts = dict(dataset_facts(collected, names[0]))
    assert facts["Identities"] == "unknown; intervals are by pairs"
    assert facts["Test file"].removeprefix("SHA-256 ") in digests
    shown = as_markdown(main_table(findings, about_losses(collected.table))).replace("\\", "")
    assert "seeds and test pairs (interval by pairs: identities unknown)" in shown


def test_dry_run_says_how_many_pairs_are_lost(tmp_path: Path) -> None:
    write_tree(tmp_path / "people", some_images(6, 4))
    rows = [f"p{n:03d}\t1\t2" for n in (0, 1)] + ["p000\t3\tp001\t4", "p000\t3\tp001\t9"]
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "pairs.txt").write_text("\n".join(["4", *rows]))
    path = tmp_path / "two.yaml"
    path.write_text(TEXT.replace("a/lfw.bin", "lists/pairs.txt"))
    found = dry_run(path, RunOptions(results=tmp_path / "results", data=tmp_path))
    expected = "first: lists: pairs.txt: 1 of 4 pairs left out; missing images: 1"
    assert found.notes == (expected,)
    assert f"note: {expected}" in found.as_text()
    assert found.as_data()["notes"] == [expected]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["lists", "people", "two.yaml"]
