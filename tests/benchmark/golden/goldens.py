"""What the cells gave when they were recorded: one file for each kind of processor and version of torch."""

import json
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from benchmark.cell import PROTOCOL_VERSION
from tests.benchmark.golden.cells import Outcome

FOLDER = Path(__file__).parent / "recorded"
TOLERANCE = 0.01
"""Relative, or absolute below 1. Other instructions moved no figure by more than 0.003."""
RECORD = "`python -m tests.benchmark.golden` records new goldens"


@dataclass(frozen=True)
class Goldens:
    kind: str
    torch: str
    protocol: int
    cells: dict[str, Outcome]


def kind() -> str:
    """The processor's model and the instructions that torch uses: others round differently."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    model = found[1].strip() if found else platform.processor() or platform.machine()
    return f"{model} {torch.backends.cpu.get_cpu_capability()}"


def torch_version() -> str:
    return torch.__version__.partition("+")[0]


def known() -> list[Goldens]:
    """All that were recorded under the present protocol, those of this torch first."""
    found = [_read(path) for path in sorted(FOLDER.glob("*.json"))]
    current = [one for one in found if one.protocol == PROTOCOL_VERSION]
    return sorted(current, key=lambda one: one.torch != torch_version())


def own(recorded: list[Goldens]) -> Goldens | None:
    """Those of this kind of processor and this torch."""
    return next((one for one in recorded if (one.kind, one.torch) == (kind(), torch_version())), None)


def write(cells: dict[str, Outcome]) -> Path:
    """Replaces the file of this kind, and removes those of other protocols."""
    for path in FOLDER.glob("*.json"):
        if _read(path).protocol != PROTOCOL_VERSION:
            path.unlink()
    lines = [f"{json.dumps(name)}: {json.dumps(asdict(one))}" for name, one in cells.items()]
    about = {"kind": kind(), "torch": torch_version(), "protocol": PROTOCOL_VERSION}
    text = json.dumps(about)[:-1] + ', "cells": {\n' + ",\n".join(lines) + "\n}}\n"
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{re.sub(r'[^a-z0-9.]+', '-', f'{kind()} torch {torch_version()}'.lower())}.json"
    path.write_text(text, encoding="utf-8")
    return path


def _read(path: Path) -> Goldens:
    content = json.loads(path.read_text(encoding="utf-8"))
    return Goldens(**{**content, "cells": {name: Outcome(**one) for name, one in content["cells"].items()}})


def changed_bits(name: str, found: Outcome, golden: Outcome) -> str:
    """Why the outcome is not the golden one, on the same kind of processor; empty if it is or need not be."""
    if found.digest == golden.digest or found.code != golden.code:
        return ""
    return f"{name}: the same cell now gives other bits. If that is intended, {_REMEDY}"


def moved_figures(name: str, found: Outcome, golden: Outcome) -> str:
    """The same on another kind of processor: whether a figure differs by more than rounding explains."""
    if found.code != golden.code:
        return ""
    moved = [
        f"{figure} is {found.figures[figure]:.6g}, not {value:.6g}"
        for figure, value in golden.figures.items()
        if figure in found.figures and abs(found.figures[figure] - value) > TOLERANCE * max(1.0, abs(value))
    ]
    return f"{name}: {', '.join(moved)}. If that is intended, {_REMEDY}" if moved else ""


_REMEDY = f"raise PROTOCOL_VERSION in benchmark/cell.py, so that no stored run is taken for a new one; then {RECORD}"
