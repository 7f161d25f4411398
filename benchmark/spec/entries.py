"""Entries of `datasets`, `losses` and `wrappers`: a name, or a name with settings and some keys beside it.

- softmax
- arcface: {m: 0.5}
  label: arcface of the paper
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.spec.file_errors import FileErrors, KeyPath
from datasets._names import did_you_mean, listed, shown, unknown


@dataclass(frozen=True)
class Kind:
    """What the entries of a list name, and which keys may stand beside the name."""

    noun: str
    names: Sequence[str]
    beside: Sequence[str] = ()


@dataclass(frozen=True)
class NamedItem:
    name: str
    settings: Mapping[str, Any]
    settings_at: KeyPath
    beside: Mapping[str, Any]
    at: KeyPath


def entries(value: Any, at: KeyPath, kind: Kind, problems: FileErrors) -> list[NamedItem]:
    """The sound entries of a list; a single entry may stand without its list."""
    if value in (None, [], {}):
        problems.add(at, f"should name at least one {kind.noun}; there are {listed(kind.names)}")
        return []
    items = [((*at, index), one) for index, one in enumerate(value)] if isinstance(value, list) else [(at, value)]
    found = [_entry(one, where, kind, problems) for where, one in items]
    return [entry for entry in found if entry is not None]


def _entry(value: Any, at: KeyPath, kind: Kind, problems: FileErrors) -> NamedItem | None:
    if isinstance(value, str):
        return NamedItem(value, {}, at, {}, at) if _is_known(value, at, kind, problems) else None
    if not isinstance(value, Mapping):
        problems.add(at, f"should be the name of a {kind.noun}, alone or with its settings, not {shown(value)}")
        return None
    name = _name_in(value, at, kind, problems)
    if name is None:
        return None
    settings = {} if value[name] is None else value[name]
    if not isinstance(settings, Mapping):
        problems.add((*at, name), f"should be a mapping of settings, such as {{key: value}}, not {shown(settings)}")
        return None
    beside = {key: one for key, one in value.items() if key in kind.beside}
    return NamedItem(name, settings, (*at, name), beside, at)


def _name_in(value: Mapping[str, Any], at: KeyPath, kind: Kind, problems: FileErrors) -> str | None:
    """The one key that names something; any other should be among those that may stand beside it."""
    candidates = [key for key in value if key not in kind.beside]
    known = [key for key in candidates if key in kind.names]
    if len(known) > 1:
        problems.add(at, f"names {' and '.join(known)}; give each {kind.noun} its own entry")
    elif known:
        for key in candidates:
            if key != known[0]:
                allowed = f"beside the name there may be {listed(kind.beside)}"
                problems.add((*at, key), f"there is no key {shown(key)}; {allowed}{did_you_mean(key, kind.beside)}")
        return known[0]
    elif candidates:
        _is_known(candidates[0], (*at, candidates[0]), kind, problems)
    else:
        problems.add(at, f"names no {kind.noun}; there are {listed(kind.names)}")
    return None


def _is_known(name: str, at: KeyPath, kind: Kind, problems: FileErrors) -> bool:
    if name in kind.names:
        return True
    problems.add(at, unknown(kind.noun, name, kind.names))
    return False
