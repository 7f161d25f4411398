"""Maps made by hand."""

from pathlib import Path

from benchmark.advice.maps_file import COLUMNS, Map, read_maps

ABOUT = "# experiment: made\n# measured: 2026-01-02\n# versions: torch 2.13.0\n# commit: 0123456789ab\n"
HEADER = ",".join(COLUMNS)
VERIFICATION = "test/accuracy"
Line = tuple[str, int, str, float | None, float | None, float, float | None]
"""Dataset, classes, loss, s, m, validation, mean; None for a mean: it diverged."""
LINES: list[Line] = [
    ("ten", 10, "normface", 8, None, 0.80, 0.81),
    ("ten", 10, "normface", 16, None, 0.90, 0.89),
    ("ten", 10, "normface", 64, None, 0.70, 0.95),  # best on test only
    ("ten", 10, "arcface", 8, 0.1, 0.91, 0.90),
    ("ten", 10, "arcface", 8, 0.5, 0.95, 0.93),
    ("ten", 10, "arcface", 16, 0.5, 0.94, 0.925),
    ("ten", 10, "arcface", 64, 0.5, 0.50, 0.50),
    ("other ten", 10, "normface", 4, None, 0.60, 0.61),
    ("hundred", 100, "normface", 16, None, 0.85, 0.84),
    ("hundred", 100, "normface", 32, None, 0.99, None),
    ("thousand", 1000, "cosface", 32, 0.35, 0.75, 0.74),
]


def line(dataset: str, classes: int, loss: str, s: object, m: object, validation: object, mean: object) -> str:
    shown = ["" if value is None else f"{value:g}" for value in (s, m)]
    setting = f"{loss} s={shown[0]}" + (f" m={shown[1]}" if shown[1] else "")
    low, high = (None, None) if mean is None else (mean - 0.01, mean + 0.01)  # type: ignore[operator]
    numbers = ["" if value is None else f"{value:g}" for value in (mean, low, high)]
    ends = ["0", "3", "3"] if mean is None else ["3", "3", "0"]
    words = "95% t interval" if mean is not None else ""
    fields = [dataset, "open", classes, 20 if classes < 1000 else 10, 64, loss, setting, *shown, VERIFICATION]
    return ",".join(map(str, [*fields, f"{validation:g}", *numbers, words, *ends]))


def text(lines: list[Line] | None = None) -> str:
    body = "\n".join(line(*one) for one in (LINES if lines is None else lines))
    return f"{ABOUT}{HEADER}\n{body}\n"


def write(folder: Path, content: str | None = None) -> Path:
    path = folder / "maps.csv"
    path.write_text(text() if content is None else content, encoding="utf-8")
    return path


def maps(folder: Path) -> Map:
    return read_maps(write(folder))
