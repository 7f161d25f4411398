"""The notebooks run, and what is committed of them is what they show."""

import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from notebooks.execute import executed, faults, notebooks, read

NAMES = ["adding_a_loss", "geometry_of_margins", "quickstart", "reading_a_report"]
FIRST = ("quickstart",)  # the one that a newcomer opens; make test-all executes the others
by_name = pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)


def test_there_are_four() -> None:
    assert [path.stem for path in notebooks()] == NAMES


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FIRST else pytest.mark.slow, id=path.stem) for path in notebooks()],
)
def test_it_runs_from_beginning_to_end(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(path, tmp_path))
    again = executed(copy)
    assert list(faults(again)) == []
    assert [cell.source for cell in again.cells] == [cell.source for cell in read(path).cells]


@by_name
def test_what_is_committed_was_executed_and_shows_nothing_of_a_machine(path: Path) -> None:
    nbformat.validate(read(path))
    assert list(faults(read(path))) == []


@by_name
def test_it_has_a_picture(path: Path) -> None:
    kinds = {kind for cell in read(path).cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "image/png" in kinds


def changed(path: Path, **output: Any) -> list[str]:
    """The faults of a notebook whose first output is another."""
    notebook = deepcopy(read(path))
    cell = next(cell for cell in notebook.cells if cell.get("outputs"))
    cell.outputs = [nbformat.from_dict(output)]
    return list(faults(notebook))


def test_faults_are_found() -> None:
    path = notebooks()[0]
    assert "wrote to stderr" in changed(path, output_type="stream", name="stderr", text="so slow")[0]
    assert "place of this machine" in changed(path, output_type="stream", name="stdout", text="see /tmp/x/y")[0]
    assert "warning" in changed(path, output_type="stream", name="stdout", text="UserWarning: no")[0]
    assert "raised ValueError" in changed(path, output_type="error", ename="ValueError", evalue="", traceback=[])[0]
    edited = deepcopy(read(path))
    code = [cell for cell in edited.cells if cell.cell_type == "code"]
    code[0].source += "\n1"
    code[1].execution_count = 9
    assert len(list(faults(edited))) == 2
    for cell in code:
        cell.outputs = []
    assert "it has no outputs" in list(faults(edited))


def test_a_cell_that_raises_ends_it(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ipynb"
    cells = [nbformat.v4.new_code_cell("1 / 0")]
    broken.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(broken)
