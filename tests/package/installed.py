"""The built wheel, and Python processes that find it and the installed libraries, but not the clone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

CLONE = Path(__file__).parents[2]


def build_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=CLONE, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def python(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Without `site` (-S): an editable install would put the clone on the path."""
    libraries = [place for place in sys.path if place and Path(place) != CLONE and "/tests" not in place]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *libraries])}
    command = [sys.executable, "-S", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
