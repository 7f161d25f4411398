"""Kept arrays: whole, checked, and in a place that can be written to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from datasets._cache import cached, read_arrays, whole_file, write_arrays
from datasets._place import Place, place

ARRAYS = {"a": np.arange(100, dtype=np.uint8).reshape(4, 25), "b": np.array([-1, 2], dtype=np.int64)}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_arrays(tmp_path / "new" / "x.safetensors", ARRAYS)
    found = read_arrays(tmp_path / "new" / "x.safetensors")
    assert found.keys() == ARRAYS.keys()
    assert all(np.array_equal(found[key], ARRAYS[key]) for key in ARRAYS)


def test_made_once(tmp_path: Path) -> None:
    made = []
    for _ in range(3):
        cached(tmp_path / "x", lambda: made.append(1) or ARRAYS)  # type: ignore[func-returns-value]
    assert made == [1]


@pytest.mark.parametrize("place_in_file", [0, 9, 60, -101, -1])
def test_any_changed_byte_is_noticed(tmp_path: Path, place_in_file: int) -> None:
    file = tmp_path / "x"
    write_arrays(file, ARRAYS)
    content = bytearray(file.read_bytes())
    content[place_in_file] ^= 0x10
    file.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="damaged and is made again"):
        found = cached(file, lambda: dict(ARRAYS))
    assert np.array_equal(found["a"], ARRAYS["a"])
    read_arrays(file)


@pytest.mark.parametrize("length", [0, 5, 100, -1])
def test_a_cut_file_is_noticed(tmp_path: Path, length: int) -> None:
    file = tmp_path / "x"
    write_arrays(file, ARRAYS)
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(ValueError, match="."):
        read_arrays(file)


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "x") as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("x", "old")]


def test_where_things_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARGINBENCH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert Place(tmp_path).cache == tmp_path / ".cache"
    (tmp_path / "a file").write_text("")
    assert Place(tmp_path / "a file").cache == tmp_path / "user" / "marginbench"  # cannot be written to
    monkeypatch.setenv("MARGINBENCH_CACHE", str(tmp_path / "environment"))
    assert Place(tmp_path).cache == tmp_path / "environment"
    assert Place(tmp_path, tmp_path / "chosen").cache == tmp_path / "chosen"


def test_root_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARGINBENCH_DATA", str(tmp_path))
    assert place(None, None).root == tmp_path
    assert place("elsewhere", None).root == Path("elsewhere")
    monkeypatch.delenv("MARGINBENCH_DATA")
    assert place(None, None).root == Path("data")
