"""What is wrong with an experiment file: each problem with its line and key, all in one message."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from benchmark.errors import InputError
from datasets._names import LONGEST_SHOWN, did_you_mean, listed, shown

KeyPath = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

MOST_SHOWN = 10
_TYPES = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "string_type": "a text",
    "tuple_type": "a list",
}


class FileErrors:
    """Collects the problems of one file. `lines` says where each key and list item of it stands."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[KeyPath, int] = {}
        self._overrides: dict[KeyPath, str] = {}  # keys whose values came from the command line, with what was given
        self._found: dict[str, int] = {}
        self._above: KeyPath = ()

    def below(self, above: KeyPath) -> "FileErrors":
        """The same problems for a reader of one part of the file, whose keys are counted from `above` on."""
        inner = FileErrors(self.file)
        inner.lines = {at[len(above) :]: line for at, line in self.lines.items() if at[: len(above)] == above}
        inner._found = self._found
        inner._above = (*self._above, *above)
        return inner

    def override(self, at: KeyPath, text: str) -> None:
        """From now on problems at this key, or below it, are those of `--override text`."""
        self.forget(at)
        self._overrides[at] = text

    def forget(self, at: KeyPath) -> None:
        """A key of the file that does not count any more, with all below it."""
        self.lines = {key: line for key, line in self.lines.items() if key[: len(at)] != at}
        self._overrides = {key: text for key, text in self._overrides.items() if key[: len(at)] != at}

    def add(self, at: KeyPath, message: str, line: int | None = None) -> None:
        line = line or self._line(at)
        whole = (*self._above, *at)
        override = self._override(at)
        given = [f"line {line}"] if line and override is None else []
        where = [self.file if override is None else f"--override {override}", *given]
        self._found.setdefault(f"{', '.join([*where, *([dotted(whole)] if whole else [])])}: {message}", line or 0)

    def raise_if_any(self) -> None:
        if not self._found:
            return
        by_line = sorted(self._found, key=self._found.__getitem__)
        more = len(by_line) - MOST_SHOWN
        last = [f"{self.file}: … and {more} more"] if more > 0 else []
        raise InputError("\n".join(by_line[:MOST_SHOWN] + last))

    def __len__(self) -> int:
        return len(self._found)

    def check(self, model: type[Model], data: Any, at: KeyPath) -> Model | None:
        """`data` as `model`, which is flat; None, and the problems noted, where it is wrong."""
        if not isinstance(data, Mapping):
            self.add(at, f"should be a mapping with keys of {', '.join(model.model_fields)}, not {shown(data)}")
            return None
        try:
            return model.model_validate(data)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                if detail["type"] == "too_short" and detail["input"]:
                    continue  # it is short of sound items, and those that are not are reported themselves
                self.add(self._in_file((*at, *detail["loc"])), _in_words(detail, list(model.model_fields)))
            return None

    def _in_file(self, at: KeyPath) -> KeyPath:
        """Without the trailing indices that a single value gets where a list is allowed."""
        known = at in self.lines or at in self._overrides
        while not known and at and isinstance(at[-1], int):
            at = at[:-1]
        return at

    def _override(self, at: KeyPath) -> str | None:
        """What the command line gave for this key or for one above it."""
        return next((self._overrides[at[:end]] for end in range(len(at), -1, -1) if at[:end] in self._overrides), None)

    def _line(self, at: KeyPath) -> int | None:
        while at and at not in self.lines:
            at = at[:-1]
        return self.lines.get(at)  # without any key of it: where the part begins, if it is one


def dotted(at: KeyPath) -> str:
    """`losses.arcface.m`, `seeds[2]`: an index is shown only where no name follows to tell the entry."""
    words = ""
    for part, following in zip(at, (*at[1:], None), strict=True):
        if isinstance(part, str):
            words += f".{_plain(part)}" if words else _plain(part)
        elif not isinstance(following, str):
            words += f"[{part}]"
    return words


def _plain(part: str) -> str:
    return part if part.isprintable() and len(part) <= LONGEST_SHOWN else shown(part)


def _in_words(detail: ErrorDetails, keys: list[str]) -> str:
    if detail["type"] == "extra_forbidden":
        key = detail["loc"][-1]
        return f"there is no key {shown(key)}; the keys are {listed(keys)}{did_you_mean(key, keys)}"
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"] == "too_short":
        return "should not be empty"
    if detail["type"] == "name":
        return detail["msg"]
    if detail["type"] in _TYPES:
        return f"should be {_TYPES[detail['type']]}, not {shown(detail['input'])}"
    return f"{re.sub(r'^[A-Z][a-z]+ should', 'should', detail['msg'])}, not {shown(detail['input'])}"
