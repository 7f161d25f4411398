"""Whether LaTeX sets a text: for every test that writes some."""

import shutil
import subprocess
from pathlib import Path

import pytest

PREAMBLE = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{textcomp}
\usepackage[T1]{fontenc}
\tracinglostchars=2
\begin{document}
"""


def compile_latex(body: str, folder: Path) -> str:
    """The log of a run that must end well, or the test is skipped where there is no pdflatex."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paper.tex").write_text(f"{PREAMBLE}{body}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "-draftmode", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    log = (folder / "paper.log").read_text(errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in log, log
    return log
