"""Writes the report: report.json for scripts, report.md for people, figures/*.png. Each file is written atomically."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmark.plots import as_png
from benchmark.tables import as_markdown, as_terminal, markdown_text
from datasets._files import write_atomically
from perf._figures import draw
from perf._model import MET, Part, missed
from perf._tables import growth_table, measured_table

FORMAT = 1


def write_report(parts: Sequence[Part], about: Mapping[str, Any], folder: Path) -> Path:
    """Writes all files and returns the path of the Markdown page. report.json is written last."""
    pictures = []
    for name, title, figure in draw(parts):
        write_atomically(folder / "figures" / f"{name}.png", as_png(figure))
        pictures.append((title, f"figures/{name}.png"))
    write_atomically(folder / "report.md", as_page(parts, about, pictures).encode())
    write_atomically(folder / "report.json", as_json(parts, about))
    return folder / "report.md"


def as_json(parts: Sequence[Part], about: Mapping[str, Any]) -> bytes:
    content = {
        "format": FORMAT,
        "about": dict(about),
        "missed": missed(parts),
        "parts": [_with_verdicts(part) for part in parts],
    }
    return (json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _with_verdicts(part: Part) -> dict[str, Any]:
    plain = asdict(part)
    for one, measured in zip(plain["measured"], part.measured, strict=True):
        one["verdict"] = measured.verdict
    return plain


def _finite(value: Any) -> Any:
    """Replaces NaN and infinity by null, which every JSON reader accepts."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_page(parts: Sequence[Part], about: Mapping[str, Any], pictures: Sequence[tuple[str, str]]) -> str:
    lines = ["# Speed and memory", "", markdown_text(verdict(parts)), ""]
    lines += [f"- {markdown_text(problem)}" for problem in missed(parts)]
    lines += ["", markdown_text(", ".join(f"{key} {value}" for key, value in about.items())), ""]
    tables = [measured_table(part) for part in parts if part.measured]
    lines += [as_markdown(table) for table in [*tables, growth_table(parts)] if table.rows]
    lines += [f"![{title}]({path})\n" for title, path in pictures]
    return "\n".join(lines)


def as_text(parts: Sequence[Part]) -> str:
    """The same for the terminal."""
    tables = [*(measured_table(part) for part in parts), growth_table(parts)]
    shown = [as_terminal(table) for table in tables if table.rows]
    problems = [f"MISSED: {problem}" for problem in missed(parts)]
    return "\n\n".join([*shown, "\n".join([*problems, verdict(parts)])])


def verdict(parts: Sequence[Part]) -> str:
    """One sentence."""
    barred = [one for part in parts for one in part.measured if one.bar is not None]
    judged = [one for one in barred if one.judged]
    met = sum(one.verdict == MET for one in judged)
    said = f"{met} of {len(judged)} bars met"
    aside = len(barred) - len(judged)
    said += f", {aside} not judged at these sizes" if aside else ""
    failed = [part.title for part in parts if part.failure]
    said += f"; not measured: {', '.join(failed)}" if failed else ""
    return said + "."
