"""Verification sets in `.bin`: every form in circulation is read, and no pickle can do anything else."""

from __future__ import annotations

import os
import pickle
import pickletools
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets._errors import InputError
from datasets._pair_bin import read_pair_bin
from tests.datasets.packs import jpeg

REAL = Path(os.environ.get("MARGINBENCH_DATA") or "nowhere") / "faces_lfw_112x112"
IMAGES = [jpeg(number) for number in range(6)]
SAME = [True, False, True]
IMAGE_FORMS: dict[str, Callable[[bytes], Any]] = {
    "bytes": bytes,
    "array": lambda one: np.frombuffer(one, np.uint8),
    "array of its own": lambda one: np.frombuffer(one, np.uint8).copy(),
    "column": lambda one: np.frombuffer(one, np.uint8)[:, None].copy(),
}
FLAG_FORMS: dict[str, Callable[[list[bool]], Any]] = {
    "list": list,
    "array": np.array,
    "numpy bools": lambda flags: list(np.array(flags)),
    "numbers": lambda flags: [int(one) for one in flags],
}


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("images", IMAGE_FORMS)
@pytest.mark.parametrize("flags", FLAG_FORMS)
def test_every_form_is_read(tmp_path: Path, protocol: int, images: str, flags: str) -> None:
    content = ([IMAGE_FORMS[images](one) for one in IMAGES], FLAG_FORMS[flags](SAME))
    old = pickle.dumps(content, protocol).replace(b"numpy._core", b"numpy.core")
    for written in (pickle.dumps(content, protocol), old if protocol < 4 else pickle.dumps(content, protocol)):
        (tmp_path / "x.bin").write_bytes(written)
        assert read_pair_bin(tmp_path / "x.bin") == (IMAGES, SAME)


@pytest.mark.skipif(not REAL.is_dir(), reason="MARGINBENCH_DATA has no faces_lfw_112x112")
def test_files_of_the_field() -> None:
    images, same = read_pair_bin(REAL / "lfw.bin")
    assert (len(images), sum(same)) == (2200, 550)
    assert read_pair_bin(REAL / "cfp_fp.bin") == read_pair_bin(REAL / "agedb_30_py2.bin")
    assert all(one.startswith(b"\xff\xd8\xff") for one in images)


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def hostile(tmp_path: Path) -> dict[str, tuple[bytes, str]]:
    """Pickles that do harm, and what is said of them."""
    mark = f"touch {tmp_path / 'mark'}"
    text = b"X" + struct.pack("<I", 60_000) + b"a" * 60_000
    encode_often = (
        b"\x80\x02" + text + b"q\x00](" + b"c_codecs\nencode\nh\x00X\x06\x00\x00\x00latin1\x86R" * 5000 + b"e."
    )
    return {
        "os.system": (pickle.dumps(Calls(os.system, mark), 2), "wants to call 'posix system'"),
        "os.system, protocol 4": (pickle.dumps(Calls(os.system, mark), 4), "wants to call 'posix system'"),
        "os.system, protocol 0": (pickle.dumps(Calls(os.system, mark), 0), "wants to call 'posix system'"),
        "eval among images": (pickle.dumps(([Calls(eval, "1")], [True])), "wants to call 'builtins eval'"),
        "numpy's load": (pickle.dumps(Calls(np.load, "x.npy"), 2), r"wants to call 'numpy"),
        "instance": (b"(S'" + mark.encode() + b"'\nios\nsystem\n.", "the step INST is not allowed"),
        "object": (b"(cos\nsystem\nS'x'\no.", "byte 1: it wants to call 'os system'"),
        "extension": (b"\x80\x02\x82\x01.", "byte 2: the step EXT1 is not allowed"),
        "persistent id": (b"Pfile\n.", "the step PERSID is not allowed"),
        "a number of many digits": (
            b"\x80\x02\x8b" + struct.pack("<i", 9) + b"\x7f" * 9 + b".",
            "LONG4 is not allowed",
        ),
        "a large number": (b"\x80\x02\x8a\x64" + b"\x7f" * 100 + b".", "a value is larger than any image"),
        "memo bomb": (b"\x80\x02Nr\xff\xff\xff\x7f.", "byte 3: it keeps a value as number 2147483647"),
        "memo bomb, protocol 0": (b"Np999999999\n.", "keeps a value as number 999999999"),
        "huge list": (b"\x80\x02" + b"]" * (1 << 18) + b".", "more than 262144 steps"),
        "deep nesting": (b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".", "expected .images, same., list came"),
        "deep marks": (b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b".", "expected .images, same., tuple came"),
        "announced length": (b"\x80\x05\x8e" + struct.pack("<Q", 1 << 50) + b"x.", "not a whole pickle, after byte 0"),
        "announced frame": (b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"N.", "pickle"),
        "text encoded again and again": (encode_often, "or too often"),
        "array of objects": (pickle.dumps(([np.array([None])], [True]), 2), "an array of type 'O8' came"),
        "array of floats": (pickle.dumps(([np.ones(3)], [True]), 2), "an array of type 'f8' came"),
        "attributes of a stand-in": (b"\x80\x02cnumpy\ndtype\n}b.", "the step EMPTY_DICT is not allowed"),
        "a list of itself": (b"\x80\x02(]q\x00h\x00a]t.", "image 0: expected an encoded image, list came"),
        "an image of text": (pickle.dumps((["image"], [True])), "image 0: expected an encoded image, str came"),
        "flags of text": (pickle.dumps(([b"1", b"2"], ["yes"])), "pair 0: expected True or False, str came"),
        "flags of 2": (pickle.dumps(([b"1", b"2"], [2])), "pair 0: expected True or False, int came"),
        "no flags": (pickle.dumps(([b"1", b"2"], None)), "expected a list of True and False, NoneType came"),
        "one list": (pickle.dumps([b"1", b"2", b"3"]), "expected .images, same., list came"),
        "cut": (pickle.dumps((IMAGES, SAME))[:-300], "not a whole pickle"),
        "empty": (b"", "not a whole pickle"),
        "no pickle": (b"\x80\x02 image", "not a whole pickle|not allowed"),
    }


@pytest.mark.parametrize("name", hostile(Path()))
def test_hostile_pickles_are_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets._pickle_steps.MOST_STEPS", 1 << 18)
    content, message = hostile(tmp_path)[name]
    file = tmp_path / "x.bin"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_pair_bin(file)
    assert str(file) in str(caught.value)
    assert not (tmp_path / "mark").exists()


def test_one_image_often_is_not_copied_often(tmp_path: Path) -> None:
    """As a pickle writes an object that occurs again: a file of a megabyte, a list of gigabytes."""
    image = bytearray(1 << 20)
    (tmp_path / "x.bin").write_bytes(pickle.dumps(([image] * 20_000, [True] * 10_000), 5))
    images, _ = read_pair_bin(tmp_path / "x.bin")
    assert len({id(one) for one in images}) == 1


@given(st.binary(max_size=60), st.integers(0, 200))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_damaged_pickle_never_does_anything_but_fail(tmp_path: Path, content: bytes, place: int) -> None:
    whole = bytearray(pickle.dumps(([b"1", b"2"], [True]), 2) + bytes(200))
    whole[place : place + len(content)] = content
    (tmp_path / "x.bin").write_bytes(whole)
    before = set(sys.modules)
    try:
        images, same = read_pair_bin(tmp_path / "x.bin")
        assert all(isinstance(one, bytes) for one in images)
        assert all(isinstance(one, bool) for one in same)
    except InputError:
        pass
    assert set(sys.modules) == before


def test_every_step_that_is_allowed_exists() -> None:
    from datasets._pickle_steps import PUTS, STEPS

    known = {step.name for step in pickletools.opcodes}
    assert known >= STEPS >= PUTS
