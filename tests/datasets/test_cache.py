"""Kept arrays: whole, checked, and in a place that can be written to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from datasets._cache import cached, read_arrays, write_arrays
from datasets._files import whole_file
from datasets._index import in_threads
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
    with pytest.warns(RuntimeWarning, match="damaged; it will be made again"):
        found = cached(file, lambda: dict(ARRAYS))
    assert np.array_equal(found["a"], ARRAYS["a"])
    read_arrays(file)


AGAIN_AND_AGAIN = """
import sys, warnings, numpy as np
from pathlib import Path
from datasets._cache import cached
warnings.simplefilter("error")
path = Path(sys.argv[1])
for n in range(300):
    found = cached(path, lambda: {"a": np.arange(100_000)})
    assert found["a"].sum() == 4999950000
    if n % 2:
        path.unlink(missing_ok=True)
"""


def test_processes_at_once_do_not_hurt_each_other(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AGAIN_AND_AGAIN, str(tmp_path / "x")]
    running = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert {file.name for file in tmp_path.iterdir()} <= {"x"}


@pytest.mark.parametrize("length", [0, 5, 100, -1])
def test_a_cut_file_is_noticed(tmp_path: Path, length: int) -> None:
    file = tmp_path / "x"
    write_arrays(file, ARRAYS)
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"header|Header|checksum|metadata"):
        read_arrays(file)


def write_half(path: Path) -> None:
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / "x")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("x", "old")]


def test_where_things_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARGINBENCH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert Place(tmp_path).cache == tmp_path / ".cache"
    (tmp_path / "a file").write_text("")
    assert Place(tmp_path / "a file").cache == tmp_path / "user" / "marginbench"  # cannot be written to
    (tmp_path / "read only").mkdir(mode=0o555)
    assert Place(tmp_path / "read only").cache == tmp_path / "user" / "marginbench"
    monkeypatch.setenv("MARGINBENCH_CACHE", str(tmp_path / "environment"))
    assert Place(tmp_path).cache == tmp_path / "environment"
    assert Place(tmp_path, tmp_path / "chosen").cache == tmp_path / "chosen"


def test_root_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARGINBENCH_DATA", str(tmp_path))
    assert place(None, None).root == tmp_path
    assert place("elsewhere", None).root == Path("elsewhere")
    monkeypatch.delenv("MARGINBENCH_DATA")
    assert place(None, None).root == Path("data")


def test_long_work_says_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_threads(lambda job: 2 * job, range(50), "doubling", "numbers") == list(range(0, 100, 2))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("datasets._index.SECONDS_BETWEEN_LINES", 0)
    in_threads(lambda job: job, [1, 2], "doubling", "numbers", each=1000)
    assert "doubling: 1,000 of 2,000 numbers" in capsys.readouterr().err


def test_an_error_in_a_thread_is_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda job: 1 // job, [1, 0, 1], "dividing", "numbers")
