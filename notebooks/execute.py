"""Executes the notebooks and saves them in place with their outputs: `python -m notebooks.execute [NAME]...`."""

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from datasets._files import write_atomically

FOLDER = Path(__file__).resolve().parent
SECONDS_A_CELL = 900
LARGEST = 300 * 2**10  # bytes of a notebook with its pictures
PLACE_OF_A_MACHINE = re.compile(r"(?<![\w./~])/(?:home|Users|root|tmp|var|private|work|mnt|opt|usr)/|\b[A-Z]:\\")


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def executed(path: Path) -> Any:
    """The notebook with the outputs of a new run. It stops at the first error."""
    notebook = read(path)
    for cell in notebook.cells:
        cell.metadata = {}
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent), "IPYTHONDIR": home}
        client = NotebookClient(
            notebook,
            timeout=SECONDS_A_CELL,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(FOLDER)}},
        )
        client.execute(env=environment)
    return _reproducible(notebook)


def _reproducible(notebook: Any) -> Any:
    """The same cells give the same file: numbered ids, no Python version, a digest in each code cell."""
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.metadata = {"executed": digest(cell.source)}
    return notebook


def digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def faults(notebook: Any) -> Iterator[str]:
    """What is wrong with a notebook, one sentence per fault."""
    size = len(as_text(notebook).encode())
    if size > LARGEST:
        yield f"it has {size:,} bytes, more than {LARGEST:,}"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not any(cell.outputs for cell in code):
        yield "it has no outputs"
    for number, cell in enumerate(code, 1):
        if cell.execution_count != number:
            yield f"code cell {number} was executed as number {cell.execution_count}"
        if cell.metadata.get("executed") != digest(cell.source):
            yield f"code cell {number} was edited after it was executed"
        for output in cell.outputs:
            yield from (f"code cell {number} {fault}" for fault in _of_output(output))


def _of_output(output: Any) -> Iterator[str]:
    if output.output_type == "error":
        yield f"raised {output.ename}"
    if output.get("name") == "stderr":
        yield f"wrote to stderr: {output.text[:200]}"
    shown = {"text/plain": output.get("text", ""), **output.get("data", {})}
    for kind, content in shown.items():
        if kind.startswith("image/"):
            continue
        text = content if isinstance(content, str) else json.dumps(content)
        place = PLACE_OF_A_MACHINE.search(text)
        if place:
            yield f"shows a place of this machine: {text[max(0, place.start() - 20) : place.end() + 40]!r}"
        if "Warning" in text:
            yield f"shows a warning: {text[:200]!r}"


def as_text(notebook: Any) -> str:
    return nbformat.writes(notebook) + "\n"


def main(names: list[str]) -> int:
    """Executes the notebooks, saves those without a fault and returns the exit code."""
    known = {path.stem: path for path in notebooks()}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"there is no notebook {', '.join(unknown)} (there are {', '.join(known)})", file=sys.stderr)
        return 2
    status = 0
    for name in names or known:
        notebook = executed(known[name])
        found = list(faults(notebook))
        for fault in found:
            print(f"{name}: {fault}", file=sys.stderr)
        if found:
            status = 1
            continue
        write_atomically(known[name], as_text(notebook).encode())
        print(f"{name}: executed and saved")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
