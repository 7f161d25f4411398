"""The ledger end to end: real runs of the smallest experiment, the command, and the files that it writes."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from benchmark import claims, spec
from benchmark.options import RunOptions
from benchmark.results import collect
from benchmark.statistics import summarise
from benchmark.statistics.evidence import RULES

pytestmark = pytest.mark.xdist_group("claims")  # what its fixtures make is made once

PROJECT = Path(__file__).parents[3]
HOSTILE = "<script>alert(1)</script> $x$ | =1+1 \\input{x} [a](b)"
FILE = """\
number: 7
paper: Somebody
short: "<b>"
words: "WORDS"
source: "=cmd()"
experiment: smoke
parts:
  - words: it verifies better
    metric: test/accuracy
    datasets: [digits, glyphs]
    loss: arcface s=16 m=0.2
    against: {tuned: normface, by: val/accuracy}
    expect: higher
    margin: 0.5
  - words: the posterior is below 100 %
    metric: train/posterior
    datasets: [digits]
    loss: normface s=16
    against: 100
    expect: lower
    margin: 0.5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("claims")


@pytest.fixture(scope="module")
def ledger(folder: Path) -> claims.Ledger:
    (folder / "mine.yaml").write_text(FILE.replace("WORDS", HOSTILE.replace("\\", "\\\\")))
    known = claims.load_all(folder)
    before = claims.ledger_of(known, folder / "results")
    assert {finding.verdict for finding in before.findings} == {"not run"}
    assert claims.commands_for_missing(before, Path("results")) == ["python -m benchmark run smoke"]
    assert claims.commands_for_missing(before, Path("a b")) == ["python -m benchmark run smoke --results 'a b'"]
    assert claims.run_missing(known, RunOptions(results=folder / "results", data=folder / "data", workers=1)) == 0
    return claims.ledger_of(known, folder / "results")


def test_three_seeds_are_too_few_and_the_ledger_says_so(ledger: claims.Ledger, folder: Path) -> None:
    assert claims.commands_for_missing(ledger, folder) == []
    assert [(finding.key, finding.dataset) for finding in ledger.findings] == [
        ("7a", "digits"), ("7a", "glyphs"), ("7b", "digits"),
    ]  # fmt: skip
    for finding in ledger.findings:
        assert finding.verdict == "not decided"
        assert "too few paired seeds: 3, a test needs 5" in finding.note
        assert finding.low < finding.difference < finding.high
        assert finding.detectable is not None
    assert -100 < ledger.findings[2].difference < 0


def test_numbers_of_the_smallest_experiment_do_not_look_broken(ledger: claims.Ledger, folder: Path) -> None:
    table = collect(spec.load("smoke"), folder / "results").table
    found = pd.concat([
        summarise(table[table["dataset"] == dataset], [metric])
        for dataset, metric in (("digits", "test/classification_accuracy"), ("glyphs", "test/accuracy"))
    ])  # fmt: skip
    assert len(found) == 6
    assert (found["mean"] > 0.8).all()
    assert (found["high"] - found["low"] < 0.1).all()


def test_files(ledger: claims.Ledger, folder: Path) -> None:
    place = claims.write(ledger, folder / "out")
    assert sorted(path.name for path in place.iterdir()) == ["ledger.csv", "ledger.html", "ledger.json", "ledger.md"]
    read = json.loads((place / "ledger.json").read_text())
    assert tuple(read["rules"]) == RULES
    assert [finding["words"] for finding in read["findings"]] == [HOSTILE] * 3
    table = pd.read_csv(place / "ledger.csv")
    assert table["difference"].to_list() == pytest.approx([finding.difference for finding in ledger.findings])
    assert table["source"].to_list() == ["'=cmd()"] * 3


def test_words_come_out_as_text(ledger: claims.Ledger, folder: Path) -> None:
    place = claims.write(ledger, folder / "out")
    page = (place / "ledger.html").read_text()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(1)" in page
    markdown = (place / "ledger.md").read_text()
    assert "<script>" not in markdown
    assert "[a](b)" not in markdown


def test_the_tables(ledger: claims.Ledger) -> None:
    overview, of_claim = claims.tables(ledger)
    assert [column.heading for column in overview.columns] == ["claim", "digits", "glyphs"]
    assert [entry.text for entry in overview.rows[0].entries[1:]] == ["? not decided"] * 2
    assert set(RULES) <= set(overview.footnotes)
    assert "Of 3 tests 0 support what is claimed, 0 refute, 3 do not decide, 0 were not run." in overview.footnotes
    assert len(of_claim.rows) == 3
    assert dict(of_claim.rows[0].tags) == {"claim": "7", "dataset": "digits", "verdict": "not decided"}
    text = claims.as_text(ledger)
    assert all(rule in text for rule in RULES)


def test_the_report_of_the_experiment_shows_the_ledger(tmp_path: Path) -> None:
    shipped = collect(spec.load("claims"), tmp_path)
    overview, *of_claims = claims.tables_about(shipped)
    assert (overview.name, len(of_claims)) == ("claims", 8)
    assert {entry.text for row in overview.rows for entry in row.entries[1:]} == {"", "– not run"}
    assert claims.tables_about(collect(spec.load("smoke"), tmp_path)) == []
    copy = tmp_path / "claims.yaml"
    copy.write_text(spec.load("claims").path.read_text().replace("0.55", "0.6"))
    assert claims.tables_about(collect(spec.load(copy), tmp_path)) == []


def call(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark", "claims", *words]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=600)


def test_without_results_it_shows_the_committed_ledger_and_what_to_run(tmp_path: Path) -> None:
    done = call("--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "This is the ledger that comes with MarginBench" in done.stdout.splitlines()[0]
    command = (
        rf"To run the claims here: python -m benchmark run claims --results {re.escape(str(tmp_path))} \(340 cells, ~"
    )
    assert re.match(command, done.stdout.splitlines()[1])
    assert "Claim 8" in done.stdout
    counted = re.search(
        r"Of (\d+) tests \d+ support what is claimed, \d+ refute, \d+ do not decide, 0 were not", done.stdout
    )
    committed = pd.read_csv(PROJECT / "results" / "reference" / "claims" / "ledger.csv")
    assert int(counted[1]) == len(committed)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_survives_its_file(ledger: claims.Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = claims.write(ledger, folder / "kept") / "ledger.csv"
    monkeypatch.setattr("benchmark.claims.command.COMMITTED", (folder / "nowhere.csv", file))
    again = claims.committed_ledger(ledger.claims)
    assert claims.tables(again)[1].rows == claims.tables(ledger)[1].rows
    changed = replace(ledger.claims[0], parts=ledger.claims[0].parts[:1])
    assert {finding.key for finding in claims.committed_ledger([changed]).findings} == {"7a"}
    monkeypatch.setattr("benchmark.claims.command.COMMITTED", (folder / "nowhere.csv",))
    assert claims.committed_ledger(ledger.claims) is None


def test_help_has_examples() -> None:
    assert "python -m benchmark claims --run" in call("--help").stdout
