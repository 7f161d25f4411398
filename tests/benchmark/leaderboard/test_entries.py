"""Entries that anybody may submit: sound ones survive a round trip, unsound ones are refused with the reason."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.cell import PROTOCOL_VERSION
from benchmark.leaderboard import entries as module
from benchmark.leaderboard.entries import entry_name, schema
from benchmark.leaderboard.entry_files import LARGEST_FILE, EntryError, parse, read_entries, read_entry
from benchmark.leaderboard.make_entry import as_text
from tests.benchmark.leaderboard import made

SCHEMA = Path(module.__file__).with_name("entry.schema.json")


def test_a_sound_entry_survives_a_round_trip_byte_for_byte(tmp_path: Path) -> None:
    one = made.entry()
    (path,) = made.write(tmp_path, one)
    assert read_entry(path) == one
    assert as_text(read_entry(path)) == path.read_text()
    assert json.loads(path.read_text()) == one.model_dump(mode="json")


def test_the_committed_schema_is_current() -> None:
    command = "python -m benchmark leaderboard schema > benchmark/leaderboard/entry.schema.json"
    assert SCHEMA.read_text() == schema(), f"make it again: {command}"


def test_the_schema_says_what_the_model_says() -> None:
    content = json.loads(SCHEMA.read_text())
    assert content["additionalProperties"] is False
    assert content["required"] == list(made.content())
    assert content["properties"]["loss"]["pattern"] == "^[a-z][a-z0-9_]{0,39}$"


def test_the_name_is_the_loss_and_a_hash_of_its_configuration() -> None:
    plain, tuned = made.entry(), made.entry(hyper={"m": 0.3})
    assert plain.name.startswith("arcface-")
    assert len({plain.name, tuned.name, made.entry(seeds=4).name, made.entry(protocol=PROTOCOL_VERSION + 1).name}) == 4
    assert made.entry(loss_digest="e" * 64).name == plain.name  # an edited loss replaces its entry
    settings = [result.setting() for result in plain.results]
    assert entry_name("arcface", {}, PROTOCOL_VERSION, settings[::-1]) == plain.name  # in any order of the datasets


@pytest.mark.parametrize(
    ("hyper", "tuned"), [({}, False), ({"s": "auto"}, False), ({"s": 16.0}, True), ({"s": "auto", "m": 0.3}, True)]
)
def test_only_the_scale_by_class_count_is_no_tuning(hyper: dict[str, Any], tuned: bool) -> None:
    assert made.entry(hyper=hyper).tuned is tuned


def _set(*path: str | int, to: Any) -> Callable[[made.Content], None]:
    def change(entry: made.Content) -> None:
        place: Any = entry
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = to

    return change


FIGURES = ("results", 0, "figures", "test/accuracy")
WITHOUT = ("results", 1, "without_each_identity", "test/accuracy")

UNSOUND = {
    "a text for a number": (_set(*FIGURES, 0, to="0.99"), "test/accuracy.*should be a valid number"),
    "true for a number": (_set(*FIGURES, 0, to=True), "should be a valid number"),
    "a number for a text": (_set("loss", to=7), "loss: Input should be a valid string, not 7"),
    "a list for a mapping": (_set("versions", to=[]), "versions.*dictionary"),
    "a huge figure": (_set(*FIGURES, 0, to=1e300), "less than or equal to 1000000"),
    "a number beyond floats": (_set(*FIGURES, 0, to=10**400), "whole number is too large"),
    "more than all right": (_set(*FIGURES, 0, to=1.01), "test/accuracy is 1.01, expected 0 to 1"),
    "less than none right": (_set(*FIGURES, 0, to=-0.01), "expected 0 to 1"),
    "an angle of 200": (_set("results", 0, "figures", "w_inter", to=[200.0] * 5), "is 200.0, expected 0 to 180"),
    "a key too many": (_set("admin", to=1), "admin: Extra inputs are not permitted"),
    "another format": (_set("format", to=2), "format: Input should be 1"),
    "a path as a loss": (_set("loss", to="../../etc/passwd"), "loss: String should match pattern"),
    "a loss in capitals": (_set("loss", to="ArcFace"), "loss: String should match pattern"),
    "a path as a backbone": (_set("results", 0, "backbone", to="../x"), "backbone: String should match pattern"),
    "a script in the docstring": (_set("description", to="<script>alert(1)</script>"), "looks like HTML"),
    "a script in the family": (_set("family", to="x<img src=x onerror=alert(1)>"), "looks like HTML"),
    "a script as a key": (_set("results", 0, "recipe", to={"<b>": 1}), "looks like HTML"),
    "a script in the data's options": (_set("results", 0, "dataset", to={"name": "</td>"}), "looks like HTML"),
    "a comment's beginning": (_set("results", 0, "label", to="a <!-- b"), "looks like HTML"),
    "an escape sequence": (_set("family", to="\x1b[31mred"), "the invisible character U\\+001B"),
    "a turned reading direction": (_set("description", to="a\u202eb"), "the invisible character U\\+202E"),
    "a docstring of a megabyte": (_set("description", to="x" * 2**20), "at most 6000"),
    "no results": (_set("results", to=[]), "results: List should have at least 1 item"),
    "a list too short": (_set(*FIGURES, to=[0.9]), "1 values for 5 runs"),
    "a value of a diverged run": (_set("results", 0, "runs", 0, "diverged_at", to=12), "seed 0 diverged and cannot"),
    "a seed twice": (_set("results", 0, "runs", 1, "seed", to=0), "a seed is given twice"),
    "embeddings used twice": (_set("results", 0, "runs", 1, "embeddings", to="0" * 64), "the same embeddings"),
    "a negative seed": (_set("results", 0, "runs", 1, "seed", to=-1), "greater than or equal to 0"),
    "identities of different number": (_set(*WITHOUT, 0, to=[0.9, 0.8]), "different numbers"),
    "identities of an unknown figure": (
        _set("results", 1, "without_each_identity", "test/auc", to=[None] * 5), "but not in figures",
    ),
    "a flag that does not follow": (_set("tuned", to=True), "tuned is True, which does not follow from hyper"),
    "settings that contradict": (_set("hyper", to={"s": "other"}), "follow"),
    "two results of one label": (_set("results", 1, "label", to="digits"), "two results have the same label"),
    "a failed audit": (_set("audit", 0, "verdict", to="fail"), "audit.*'pass' or 'none'"),
    "no audit": (_set("audit", to=[]), "audit: List should have at least 1 item"),
    "a date with a path": (_set("date", to="2026-05-04/../x"), "date: String should match pattern"),
    "a date that does not exist": (_set("date", to="9999-99-99"), "month must be in 1..12"),
    "a pass beyond its tolerance": (_set("audit", 0, "worst", to=0.5), "the verdict is pass, but 0.5 exceeds 0.0"),
    "an audit that passed nothing": (
        _set("audit", 0, to={"check": "looks fine", "verdict": "none", "worst": None, "tolerance": 0.0}),
        "no passed check",
    ),
    "a check twice": (
        _set("audit", to=[{"check": "c", "verdict": "pass", "worst": 0.0, "tolerance": 0.0}] * 2),
        "a check is given twice",
    ),
    "no figures": (_set("results", 0, "figures", to={}), "seed 0 did not diverge and has none of"),
    "rows without identities": (_set(*WITHOUT, to=[[]] * 5), "at least 2 items"),
    "deep nesting": (_set("results", 0, "dataset", to=json.loads("[" * 40 + "]" * 40)), "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("what", UNSOUND)
def test_an_unsound_entry_is_refused_with_the_reason(what: str) -> None:
    change, reason = UNSOUND[what]
    with pytest.raises(ValueError, match=reason):
        parse(made.changed(change))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_number_but_a_finite_one(value: str) -> None:
    text = json.dumps(made.content()).replace('"dim": 64', f'"dim": {value}', 1)
    with pytest.raises(ValueError, match=r"is not a JSON number|too large"):
        parse(text.encode())


@pytest.mark.parametrize(
    "change",
    [
        _set("results", 0, "recipe", "lr", to=0.2),
        _set("results", 0, "dim", to=512),
        _set("results", 1, "dataset", "seed", to=3),
        _set("results", 1, "digest", to="f" * 64),
        _set("results", 1, "backbone_digest", to="f" * 64),
        _set("loss_digest", to="f" * 64),
        _set("protocol", to=PROTOCOL_VERSION + 1),
        _set("results", 0, "runs", 0, "cell", to="0" * 16),
    ],
)
def test_cells_must_follow_from_what_the_entry_says(change: Callable[[made.Content], None]) -> None:
    with pytest.raises(
        ValueError, match=r"seed \d: the cell id is \w+, but loss, backbone, settings, data and protocol give"
    ):
        parse(made.changed(change, keep_ids=True))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"{", "is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"null", "valid dictionary"),
        (b"9" * 5000, "digits"),
        (b'{"format": 1, "format": 1}', "the key 'format' is given twice"),
        (b'"' + b"x" * LARGEST_FILE + b'"', "is larger than 4 MB"),
    ],
)
def test_what_is_no_entry_at_all(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "arcface-00000000.json"
    file.write_bytes(content)
    with pytest.raises(EntryError, match=f"^arcface-00000000.json: .*{reason}"):
        read_entry(file)


def test_a_file_must_be_named_after_what_it_holds(tmp_path: Path) -> None:
    (path,) = made.write(tmp_path, made.entry())
    copy = tmp_path / "best-00000000.json"
    copy.write_bytes(path.read_bytes())
    found = read_entries(tmp_path)
    assert list(found.sound) == [path.stem]
    assert found.refused[copy.name] == f"its content belongs in a file named {path.name}"
    with pytest.raises(EntryError, match=f"^{copy.name}: its content belongs"):
        read_entry(copy)


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    folder = tmp_path / "entries"
    folder.mkdir()
    (folder / "link.json").symlink_to(secret)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    begun = time.monotonic()
    found = read_entries(folder)
    assert time.monotonic() - begun < 5
    assert sorted(found.refused) == ["folder.json", "link.json", "pipe.json"]
    assert "secret" not in "".join(found.refused.values()).replace("secret.txt", "")


def test_unsound_files_do_not_disturb_the_others(tmp_path: Path) -> None:
    paths = made.write(tmp_path, made.entry("one"), made.entry("two"))
    (tmp_path / "bad-00000000.json").write_bytes(made.changed(_set(*FIGURES, 0, to=2.0)))
    (tmp_path / "notes.txt").write_text("no entry")
    found = read_entries(tmp_path)
    assert sorted(found.sound) == sorted(path.stem for path in paths)
    assert list(found.refused) == ["bad-00000000.json"]
    assert found.refused["bad-00000000.json"].startswith("results")


def test_a_plain_less_than_sign_is_allowed() -> None:
    assert made.entry(description="where c < m, and 0 <= θ ≤ π").description.startswith("where c < m")
