"""The stored maps: a small CSV file of what an experiment measured, found in a clone or an installed package.

Lines that begin with # say where the file comes from. A header follows, then a row for each setting on each dataset.
It may come from anywhere, so it is read strictly: only known columns, plain numbers in their ranges, no row twice.
"""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from benchmark.errors import InputError
from benchmark.leaderboard.entry_files import check_text
from datasets._names import shown

EXPERIMENT = "scale-or-margin"
NAME = "maps.csv"
IN_CLONE = Path(__file__).resolve().parents[2] / "results" / "reference" / EXPERIMENT / NAME
INSTALLED = Path(__file__).parent / NAME
LARGEST_FILE = 4 * 2**20
MOST_ROWS = 20_000
ABOUT = ("experiment", "measured", "versions", "commit")
_ABOUT = re.compile(r"# ([a-z]+): (.*)")


class MapsError(InputError):
    """Why a file cannot be read as maps. The message begins with the file's name."""


def _or_none(value: Any) -> Any:
    return None if value == "" else value


def _plain_text(value: Any) -> Any:
    if isinstance(value, str):
        check_text(value)
    return value


Text = Annotated[str, BeforeValidator(_plain_text), Field(min_length=1, max_length=120)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Bound = Annotated[float, Field(ge=-10.0, le=10.0)]


class MapRow(BaseModel):
    """One setting of a loss on one dataset."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    dataset: Text
    protocol: Literal["closed", "open"]
    classes: Annotated[int, Field(ge=2, le=1_000_000_000)]
    images_per_class: Annotated[float, Field(gt=0.0, le=1e9)]
    dim: Annotated[int, Field(ge=1, le=65_536)]
    loss: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
    setting: Text
    s: Annotated[Annotated[float, Field(gt=0.0, le=1e6)] | None, BeforeValidator(_or_none)]
    m: Annotated[Annotated[float, Field(ge=0.0, le=100.0)] | None, BeforeValidator(_or_none)]
    metric: Text
    validation: Annotated[Share | None, BeforeValidator(_or_none)]
    mean: Annotated[Share | None, BeforeValidator(_or_none)]
    low: Annotated[Bound | None, BeforeValidator(_or_none)]
    high: Annotated[Bound | None, BeforeValidator(_or_none)]
    interval: Annotated[str, BeforeValidator(_plain_text), Field(max_length=120)]
    seeds: Annotated[int, Field(ge=0, le=100_000)]
    runs: Annotated[int, Field(ge=1, le=100_000)]
    diverged: Annotated[int, Field(ge=0, le=100_000)]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "MapRow":
        if self.seeds + self.diverged > self.runs:
            raise InputError(f"{self.seeds} seeds and {self.diverged} diverged ones are more than {self.runs} runs")
        if (self.mean is None) != (self.seeds == 0):
            raise InputError("a row has a mean if and only if some seed has a value")
        ends = (self.low, self.mean, self.high)
        if (self.low is None) != (self.high is None) or (self.low is not None and self.mean is None):
            raise InputError("an interval needs low, high and a mean")
        if None not in ends and not (self.low <= self.mean <= self.high):  # type: ignore[operator]
            raise InputError(f"the mean {self.mean} is not inside {self.low} to {self.high}")
        return self


COLUMNS = tuple(MapRow.model_fields)


@dataclass(frozen=True)
class Map:
    """What a file holds, and where it says that it comes from."""

    path: Path
    about: dict[str, str]  # experiment, measured, versions, commit
    rows: tuple[MapRow, ...]

    @property
    def experiment(self) -> str:
        return self.about["experiment"]


def find_maps() -> Path | None:
    """The committed maps: of the clone, else of the installed package; None if neither has them."""
    return next((place for place in (IN_CLONE, INSTALLED) if place.is_file()), None)


def read_maps(path: Path) -> Map:
    """The maps in a file; `MapsError` says what is wrong, and in which line."""
    try:
        return _parsed(path, _text(path))
    except ValueError as problem:
        raise MapsError(f"{path.name}: {problem}") from None


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"there is no such file ({path})")
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise InputError(f"is larger than {LARGEST_FILE >> 20} MB")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None


def _parsed(path: Path, text: str) -> Map:
    lines = text.splitlines()
    leading = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    about = _about(lines[:leading])
    reader = csv.reader(io.StringIO("\n".join(lines[leading:])), strict=True)
    try:
        header = next(reader, [])
        if tuple(header) != COLUMNS:
            raise InputError(f"line {leading + 1} should name the columns {', '.join(COLUMNS)}")
        rows = tuple(_row(fields, leading + reader.line_num) for fields in reader if fields)
    except csv.Error as problem:
        raise InputError(f"is not CSV: {problem}") from None
    if not rows:
        raise InputError("has no row below its header")
    if len(rows) > MOST_ROWS:
        raise InputError(f"has {len(rows):,} rows; at most {MOST_ROWS:,} are allowed")
    for (dataset, setting), count in Counter((row.dataset, row.setting) for row in rows).items():
        if count > 1:
            raise InputError(f"{shown(setting)} on {shown(dataset)} is given twice")
    return Map(path, about, rows)


def _about(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        match = _ABOUT.fullmatch(line)
        if match is None or match[1] in found or match[1] not in ABOUT:
            raise InputError(f"{shown(line[:60])} should be one of {', '.join(f'# {key}: …' for key in ABOUT)}, once")
        check_text(match[2])
        found[match[1]] = match[2]
    if missing := [key for key in ABOUT if key not in found]:
        raise InputError(f"does not say {', '.join(f'# {key}: …' for key in missing)}")
    return found


def _row(fields: list[str], line: int) -> MapRow:
    if len(fields) != len(COLUMNS):
        raise InputError(f"line {line} has {len(fields)} fields, expected {len(COLUMNS)}")
    try:
        return MapRow.model_validate(dict(zip(COLUMNS, fields, strict=True)))
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        at = f" {first['loc'][0]}" if first["loc"] else ""
        came = f", not {shown(first['input'])}" if first["loc"] else ""
        raise InputError(f"line {line}{at}: {first['msg'].removeprefix('Value error, ')}{came}") from None
