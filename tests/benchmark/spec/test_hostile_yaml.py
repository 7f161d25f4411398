"""An experiment file may come from anywhere: nothing in it runs, hangs or fills the memory."""

import os
import time
from pathlib import Path

import pytest

from benchmark import spec

REST = "datasets: digits\nlosses: softmax\n"
MANY = list(range(1, 900))
TENTHS = [n / 10 for n in range(1, 10)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{REST}x: !!python/object/apply:os.getcwd []\n", "line 3, x: the tag 'tag:yaml.org,2002:python/object"),
        (f"{REST}x: !!python/name:os.system ''\n", "line 3, x: the tag"),
        (f"{REST}x: !mine {{a: 1}}\n", "line 3, x: the tag '!mine' is not allowed"),
        (f"{REST}x: !!set {{a}}\n", "line 3, x: the tag"),
        (f"{REST}x: !!int abc\n", "line 3, x: should be a finite number of moderate length, not 'abc'"),
        (
            f"{REST}recipe: {{lr: .nan}}\n",
            "line 3, recipe.lr: should be a finite number of moderate length, not '.nan'",
        ),
        (f"{REST}recipe: {{lr: -.inf}}\n", "line 3, recipe.lr: should be a finite number"),
        (f"{REST}recipe: {{lr: 1e999}}\n", "line 3, recipe.lr: should be a finite number"),
        (f"{REST}dim: {'9' * 5000}\n", "line 3, dim: should be a finite number of moderate length"),
        (f"{REST}recipe:\n  lr: 1\n  lr: 2\n", "line 5, recipe.lr: is given twice, first on line 4"),
        (f"{REST}losses: arcface\n", "line 3, losses: is given twice, first on line 2"),
        (f"{REST}? [a, b]\n: 1\n", "line 3: a key should be a name, not a list or mapping"),
        (f"{REST}<<: {{dim: 3}}\n", "line 3, <<: there is no key '<<'"),
        ("x: &a [*a]\n", "is nested more than 20 deep"),
        ("x: &a {y: *a}\n", "is nested more than 20 deep"),
        ("[" * 100_000, "is nested more than 20 deep"),
        ("{a: " * 100_000, "is nested more than 20 deep"),
        ("- " * 100_000, "is nested more than 20 deep"),
        ("x: [" + "1," * 200_000 + "]\n", "it has more than 20,000 values"),
        (f"{REST}x: [\n", "is not valid YAML"),
        (f"{REST}x: a: b\n", "line 3: is not valid YAML"),
        (f"{REST}\tx: 1\n", "line 3: is not valid YAML"),
        (f"{REST}x: *nowhere\n", "line 3: is not valid YAML: found undefined alias 'nowhere'"),
        (f"{REST}--- \nx: 1\n", "is not valid YAML: expected a single document"),
        (f"{REST}x: \x00\n", "is not valid YAML: unacceptable character"),
    ],
)
def test_it_is_refused_with_a_reason(refusal, text: str, message: str) -> None:
    found = refusal(text)
    assert message in found
    assert len(found.splitlines()) == 1
    assert len(found) < 500


def test_an_alias_bomb_is_counted_as_what_it_expands_to(refusal) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "it has more than 20,000 values (aliases count each time" in refusal("\n".join(levels))


def test_aliases_are_otherwise_welcome(load) -> None:
    text = f"{REST}hyper: {{softmax: &none {{}}}}\nrecipe: *none\n"
    assert load(text).cells()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{REST}seeds: 10000\nrecipe: {{lr: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}}\n", "expands into 110,000 cells"),
        (f"{REST}recipe: {{lr: {MANY}, batch: {MANY}}}\n", "more than 100,000 recipes"),
        (
            f"datasets: digits\nlosses: {{combined: {{s: {MANY}, m1: {TENTHS}, m2: {TENTHS}, m3: {TENTHS}}}}}",
            "losses.combined: the lists combine to more than 100,000 settings",
        ),
    ],
)
def test_too_many_cells_are_refused_before_they_are_made(refusal, text: str, count: str) -> None:
    assert count in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        f"datasets: digits\nlosses: [{'nonesuch, ' * 19_000}]\n",
        f"{REST}seeds: [{'-1, ' * 9_900}]\n",
        REST + "".join(f"key{n}: 1\n" for n in range(9_900)),
        f"datasets: digits\nlosses: {{arcface: {{s: {list(range(1, 9_000))}}}}}\nseeds: [{'x, ' * 10_000}]\n",
    ],
)
def test_a_large_wrong_file_does_not_take_long(refusal, text: str) -> None:
    begun = time.process_time()
    assert len(refusal(text)) < 10_000
    assert time.process_time() - begun < 10


def test_too_many_bytes_are_refused(refusal) -> None:
    assert "is larger than 1 MB" in refusal(f"{REST}# {'x' * (1 << 20)}\n")


def test_what_is_not_text_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"name: a\ndescription: \xff\n")
    with pytest.raises(ValueError, match=r"mine\.yaml, line 2: is not UTF-8 text"):
        spec.load(path)


def test_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("folder.yaml", "pipe.yaml"):
        with pytest.raises(ValueError, match=f"{name}: is not a file"):
            spec.load(tmp_path / name)


@pytest.mark.parametrize(
    ("written", "value"),
    [("1e-3", 0.001), ("1E+0", 1.0), ("1", 1.0), (".5", 0.5), ("5.", 5.0), ("+2", 2.0), ("010", 10.0)],
)
def test_numbers_are_read_as_they_look(load, written: str, value: float) -> None:
    (recipe,) = {cell.recipe for cell in load(f"{REST}recipe: {{lr: {written}}}\n").cells()}
    assert recipe.lr == value
    assert type(recipe.lr) is float


def test_words_stay_words_and_a_byte_order_mark_is_skipped(load) -> None:
    assert load(f"\ufeff{REST}description: no\nname: on\n").description == "no"
    assert load(f"{REST}description: 2026-01-01\n").description == "2026-01-01"
