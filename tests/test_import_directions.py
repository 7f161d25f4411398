"""Earlier stages never import later ones; losses, datasets, metrics and statistics stand alone."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[1]
STAGES = (
    "errors cores text tables code_tree options version warning_lines",  # what all stages use
    "metrics statistics",
    "backbones recipe cell code_digest plugins spec",
    "training",
    "scoring store",
    "engine",
    "results provenance metric_names rescore run_experiment dry_run",
    "scale_margin findings claims",
    "plots pages report audit tuning papers",
    "leaderboard advice",
    "commands list_command score_command cli __main__",
)
"""The rooms and modules of benchmark/ in the way of the data. Those of one line may import each other."""
ORDER = {room: number for number, stage in enumerate(STAGES) for room in stage.split()}
LIBRARIES = {
    "losses": {"torch"},
    "datasets": {
        "torch",
        "torchvision",
        "numpy",
        "sklearn",
        "PIL",
        "pyarrow",
        "simplejpeg",
        "safetensors",
        "matplotlib",
    },
}
ROOMS = sorted({file.relative_to(CLONE / "benchmark").parts[0].removesuffix(".py")
                for file in (CLONE / "benchmark").rglob("*.py")} - {"__init__"})  # fmt: skip


def imports(file: Path) -> Iterator[str]:
    """Every imported module, of functions and of type checks too: `from benchmark import spec` is `benchmark.spec`."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports name the whole module"
            inside = node.module in ("benchmark", "losses", "datasets")
            yield from (f"{node.module}.{alias.name}" for alias in node.names) if inside else [node.module or ""]


def files_of(room: str) -> list[Path]:
    place = CLONE / "benchmark" / room
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def imported_rooms(room: str) -> Iterator[tuple[Path, str]]:
    for file in files_of(room):
        for package, _, rest in (name.partition(".") for name in imports(file)):
            if package == "benchmark" and rest.partition(".")[0] in ROOMS:
                yield file.relative_to(CLONE), rest.partition(".")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_a_stage_imports_earlier_ones_only(room: str) -> None:
    assert room in ORDER, f"benchmark/{room} has no stage: add it to STAGES"
    later = [f"{file} imports {other}" for file, other in imported_rooms(room) if ORDER.get(other, 99) > ORDER[room]]
    assert later == []


@pytest.mark.parametrize("room", ["metrics", "statistics"])
def test_numbers_know_nothing_of_the_runner(room: str) -> None:
    assert {other for _, other in imported_rooms(room)} <= {"errors", "text", room}


@pytest.mark.parametrize("package", ["losses", "datasets"])
def test_losses_and_datasets_stand_alone(package: str) -> None:
    allowed = {package, *LIBRARIES[package], *sys.stdlib_module_names}
    used = {name.partition(".")[0] for file in (CLONE / package).rglob("*.py") for name in imports(file)}
    assert used - allowed == set()
