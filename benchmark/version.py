"""Which MarginBench this is: its version, its commit where it is a git clone, and the libraries that it runs on."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path


def in_words() -> str:
    """`marginbench 0.1.0 (commit 1a2b3c4d5e6f), torch 2.13.0, Python 3.11.7`."""
    found = commit()
    own = f"marginbench {version_of('marginbench') or 'unknown'}" + (f" (commit {found})" if found else "")
    return f"{own}, torch {version_of('torch') or 'unknown'}, Python {platform.python_version()}"


def version_of(package: str) -> str | None:
    """An installed package's version; None if it is not installed."""
    try:
        return installed_version(package)
    except PackageNotFoundError:
        return None


def commit() -> str | None:
    """The project's commit, where it is a git clone; with + when files were changed since."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"],
            cwd=here, capture_output=True, text=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None
