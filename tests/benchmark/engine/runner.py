"""The real command line on a tiny experiment, in processes that can be killed."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmark.store.runs import FILES

PROJECT = Path(__file__).parents[3]
TINY = """\
description: Four small cells.
baseline: normface
seeds: 2
dim: 8
datasets: [digits]
recipe: {lr: 0.1, epochs: 2, batch: 64}
losses: [softmax, {normface: {s: 8}}]
"""
CELLS = 4


class Runner:
    """`python -m benchmark run tiny.yaml` in a folder of its own."""

    def __init__(self, folder: Path, text: str = TINY) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tiny.yaml").write_text(text)
        self.results = folder / "results"

    def start(self, *options: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "benchmark", "run", str(self.folder / "tiny.yaml")]
        command += ["--results", str(self.results), "--data", str(self.folder / "data"), "--no-report"]
        command += [*([] if "ray" in options else ["--workers", "2"]), *options]
        return subprocess.Popen(
            command, cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, env={**os.environ, **(environment or {})}, preexec_fn=_heed_ctrl_c,
        )  # fmt: skip

    def run(self, *options: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
        process = self.start(*options, environment=environment)
        output, _ = process.communicate(timeout=600)
        return process.returncode, output

    def runs(self) -> list[Path]:
        return sorted((self.results / "tiny" / "runs").glob("[0-9a-f]*"))

    def bytes(self) -> dict[str, str]:
        """What must be equal whatever happened on the way: the summary, and every run but its provenance."""
        folder = self.results / "tiny"
        files = [folder / "summary.csv"]
        for run in self.runs():
            files += [run / name for name in FILES[1:]]
        return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _heed_ctrl_c() -> None:
    """What a shell starts in the background ignores it, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def children(process: int) -> list[int]:
    """The processes that a process started and that are there still, oldest first."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == process:
            found.append(int(entry.name))
    return sorted(found)


def workers(process: int) -> list[int]:
    """Those that run cells; multiprocessing's resource tracker is not one."""
    found = []
    for child in children(process):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"spawn_main" in words:
            found.append(child)
    return found


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_until_gone(processes: list[int], seconds: float = 10.0) -> list[int]:
    """Those of the processes that are still there after waiting."""
    end = time.monotonic() + seconds
    left = processes
    while left and time.monotonic() < end:
        left = [one for one in left if _alive(one)]
        time.sleep(0.05)
    return left


def _alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
