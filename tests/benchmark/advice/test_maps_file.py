"""The file of maps is read strictly: what is not what it should be is named with its line."""

from pathlib import Path

import pytest

from benchmark.advice import maps_file
from benchmark.advice.maps_file import MapsError, find_maps, read_maps
from tests.benchmark.advice.made import ABOUT, HEADER, LINES, line, write

GOOD = line(*LINES[0])


def test_what_was_written_is_read(tmp_path: Path) -> None:
    found = read_maps(write(tmp_path))
    assert found.experiment == "made"
    assert len(found.rows) == len(LINES)
    first = found.rows[0]
    assert (first.dataset, first.classes, first.s, first.m, first.mean, first.seeds) == ("ten", 10, 8.0, None, 0.81, 3)
    diverged = found.rows[9]
    assert (diverged.mean, diverged.low, diverged.seeds, diverged.diverged) == (None, None, 0, 3)


def replaced(column: str, value: str) -> str:
    fields = GOOD.split(",")
    at = HEADER.split(",").index(column)
    fields[at] = value
    return f"{ABOUT}{HEADER}\n{','.join(fields)}\n"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("classes", "1"), ("classes", "ten"), ("classes", "10.5"), ("classes", "-3"), ("classes", "9" * 40),
        ("images_per_class", "0"), ("images_per_class", "inf"), ("dim", "0"), ("s", "0"), ("s", "nan"), ("s", "-1"),
        ("m", "-0.1"), ("mean", "1.5"), ("mean", ""), ("mean", "0.99"), ("low", ""), ("low", "0.95"), ("seeds", "-1"),
        ("seeds", "9"), ("diverged", "9"), ("runs", "0"), ("loss", "ArcFace"), ("loss", "../x"), ("loss", ""),
        ("protocol", "ajar"), ("dataset", ""), ("dataset", "x" * 200), ("dataset", "<script>"), ("setting", "\x1b[31m"),
        ("metric", ""), ("validation", "2"),
    ],
)  # fmt: skip
def test_a_field_that_is_not_what_it_should_be(tmp_path: Path, column: str, value: str) -> None:
    with pytest.raises(MapsError) as caught:
        read_maps(write(tmp_path, replaced(column, value)))
    assert str(caught.value).startswith("maps.csv: line 6")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "does not say # experiment"),
        (ABOUT, "should name the columns dataset, protocol"),
        (f"{ABOUT}{HEADER}\n", "has no row"),
        (f"{HEADER}\n{GOOD}\n", "does not say # experiment"),
        (f"# colour: red\n{ABOUT}{HEADER}\n{GOOD}\n", "should be one of # experiment"),
        (f"{ABOUT}# commit: again\n{HEADER}\n{GOOD}\n", "should be one of # experiment"),
        (f"{ABOUT}{HEADER},extra\n{GOOD},1\n", "should name the columns"),
        (f"{ABOUT}{HEADER}\n{GOOD},1\n", "line 6 has 19 fields, expected 18"),
        (f"{ABOUT}{HEADER}\n{GOOD}\n{GOOD}\n", "is given twice"),
        (f'{ABOUT}{HEADER}\n"unclosed\n', "is not CSV"),
        (f"{ABOUT}{HEADER}\n{GOOD}\n" + "#" * (5 << 20), "larger than 4 MB"),
    ],
)
def test_a_file_that_is_no_map(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(MapsError) as caught:
        read_maps(write(tmp_path, content))
    assert words in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "maps.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MapsError, match="is not UTF-8"):
        read_maps(path)


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.csv", tmp_path):
        with pytest.raises(MapsError, match="there is no such file"):
            read_maps(path)


def test_the_committed_maps_are_found_in_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps_file, "IN_CLONE", write(tmp_path))
    assert find_maps() == tmp_path / "maps.csv"


def test_an_installed_package_s_maps_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps_file, "IN_CLONE", tmp_path / "no clone" / "maps.csv")
    assert find_maps() is None
    monkeypatch.setattr(maps_file, "INSTALLED", write(tmp_path))
    assert find_maps() == tmp_path / "maps.csv"
