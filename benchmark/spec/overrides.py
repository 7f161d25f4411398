"""`--override KEY=VALUE`: changes to an experiment file's mapping, made before it is checked.

KEY is a path of keys, joined by dots: `backbone`, `recipe.epochs`, `datasets.glyphs.classes`. An entry of a list is
called by its name, which stands for every entry of that name, or by its number from 0. VALUE is YAML; null removes the
key. An override wins everywhere: where datasets or losses have their own value of the same key, they lose it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.errors import InputError
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.yaml_file import read_document
from datasets._names import shown, unknown

OPTION = "--override"
ENTRIES = ("datasets", "losses")  # lists in which a single entry may stand without its list


@dataclass(frozen=True)
class Override:
    text: str  # as given
    keys: tuple[str, ...]
    value: Any


def apply_overrides(data: Any, given: Sequence[str], problems: FileErrors) -> Any:
    """The mapping of an experiment file with the overrides, a later one after an earlier one."""
    for override in map(_read, given):
        if not isinstance(data, Mapping):
            return data  # the reader of the file says so
        data = _Change(override, problems).made_in(data)
        _remove_own_values(data, override, problems)
    return data


def touches(given: Sequence[str], key: str) -> bool:
    """Whether an override changes this key of the file, or one below it."""
    return any(_read(text).keys[0] == key for text in given)


def _read(text: str) -> Override:
    key, sign, value = text.partition("=")
    keys = tuple(part.strip() for part in key.split("."))
    if not sign or not value.strip() or not all(keys):
        raise InputError(f"{OPTION} {text}: expected KEY=VALUE, such as recipe.epochs=1")
    return Override(text, keys, read_document(value, FileErrors(f"{OPTION} {text}")))


class _Change:
    """One override, made in a copy of the mappings and lists on its way."""

    def __init__(self, override: Override, problems: FileErrors) -> None:
        self.override = override
        self.problems = problems

    def made_in(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return self._in_mapping(data, (), self.override.keys)

    def _in_mapping(self, value: Mapping[str, Any], at: KeyPath, keys: Sequence[str]) -> dict[str, Any]:
        key, below = keys[0], keys[1:]
        place = (*at, key)
        if below:
            if key not in value:
                self.problems.override(place, self.override.text)
            return {**value, key: self._below(value.get(key), place, below)}
        self.problems.override(place, self.override.text)
        others = {name: one for name, one in value.items() if name != key}
        return others if self.override.value is None else {**value, key: self.override.value}

    def _below(self, value: Any, at: KeyPath, keys: Sequence[str]) -> Any:
        if isinstance(value, list):
            return self._in_list(value, at, keys)
        if len(at) == 1 and at[0] in ENTRIES:
            return self._in_list([value], at, keys, single=True)[0]
        if isinstance(value, Mapping | None):
            return self._in_mapping(value or {}, at, keys)
        self.problems.override(at, self.override.text)
        self.problems.add(at, f"is {shown(value)}, which has no key {shown(keys[0])}")
        return value

    def _in_list(self, items: list[Any], at: KeyPath, keys: Sequence[str], single: bool = False) -> list[Any]:
        names = [_names_in(item) for item in items]
        numbered = keys[0].isdecimal() and int(keys[0]) < len(items)
        chosen = [int(keys[0])] if numbered else [place for place, own in enumerate(names) if keys[0] in own]
        if not chosen:
            known = dict.fromkeys([name for own in names for name in own] + [str(place) for place in range(len(items))])
            self.problems.override(at, self.override.text)
            self.problems.add(at, unknown("entry", keys[0], known))
            return items
        changed = list(items)
        for place in chosen:
            where = at if single else (*at, place)
            changed[place] = self._in_entry(items[place], where, keys[1:] if numbered else keys)
        return changed

    def _in_entry(self, value: Any, at: KeyPath, keys: Sequence[str]) -> Any:
        if not keys:
            self.problems.override(at, self.override.text)
            return self.override.value
        entry = {value: None} if isinstance(value, str) else value
        return self._in_mapping(entry, at, keys) if isinstance(entry, Mapping) else value


def _names_in(item: Any) -> list[str]:
    return [item] if isinstance(item, str) else list(item) if isinstance(item, Mapping) else []


def _remove_own_values(data: dict[str, Any], override: Override, problems: FileErrors) -> None:
    """What datasets and losses say of the same key themselves, so that the override holds for them too."""
    first, *below = override.keys
    if first in ("backbone", "dim", "recipe"):
        data["datasets"] = _each_without(data.get("datasets"), ("datasets",), override.keys, problems)
    for loss, key in _hyper_keys(below, override.value) if first == "hyper" else ():
        data["losses"] = _each_without(data.get("losses"), ("losses",), (loss, key), problems)


def _hyper_keys(below: Sequence[str], value: Any) -> list[tuple[str, str]]:
    """The loss and the hyper-parameter of everything that an override of `hyper` gives."""
    if len(below) >= 2:
        return [(below[0], below[1])]
    inner = value if isinstance(value, Mapping) else {}
    if below:
        return [(below[0], key) for key in inner]
    return [(loss, key) for loss, given in inner.items() if isinstance(given, Mapping) for key in given]


def _each_without(entries: Any, at: KeyPath, keys: Sequence[str], problems: FileErrors) -> Any:
    if not isinstance(entries, list):
        return _without(entries, at, keys, problems)
    return [_without(one, (*at, place), keys, problems) for place, one in enumerate(entries)]


def _without(value: Any, at: KeyPath, keys: Sequence[str], problems: FileErrors) -> Any:
    """A copy of a mapping without the key that `keys` lead to, if it has it."""
    if not isinstance(value, Mapping) or keys[0] not in value:
        return value
    place = (*at, keys[0])
    if len(keys) > 1:
        return {**value, keys[0]: _without(value[keys[0]], place, keys[1:], problems)}
    problems.forget(place)
    return {key: one for key, one in value.items() if key != keys[0]}
