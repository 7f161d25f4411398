"""The template of a new loss: short, commented, and working."""

import keyword
import re
from pathlib import Path

import losses
from benchmark.errors import InputError
from datasets._files import write_atomically

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
RESERVED = ("all", "run", "verify", "site", "schema")
"""Words that experiment files and the command line use."""

TEMPLATE = '''\
"""{title}: say in one line what is new about it."""

from torch import Tensor

from {losses} import Batch, TargetOnlyHead, number, scale


class {title}(TargetOnlyHead):
    """ℓ_y = s·(cos θ_y − m), every other ℓ_j = s·cos θ_j.

    Paper: authors, title, year.
    Good for: data or tasks it suits.
    """

    name = "{name}"
    neutral = ({{"m": 0.0}}, "normface")  # the audit checks that without margin the loss equals normface

    # Hyper-parameters with default, range and meaning. s="auto" derives the scale from the number of classes.
    s: float = scale("auto")
    m: float = number(0.2, low=0.0, high=1.0, meaning="margin subtracted from the target's cosine")
    search = {{"m": (0.0, 0.5)}}  # what `tune` searches; the scale has a default range

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        # `cosine` is cos θ between each embedding and its own class (B). The result replaces it in training; autograd
        # does the rest. It must not rise while θ goes from 0 to π. losses/_head.py says what else a loss can declare.
        return cosine - self.m
'''


def write_template(name: str, folder: Path | None = None) -> Path:
    """Writes `<name>.py` into losses/, or into another folder as a plug-in. `InputError` if the name cannot be used."""
    check_name(name)
    path = (folder or Path(losses.__file__).parent) / f"{name}.py"
    if path.exists():
        raise InputError(f"{path} exists already; choose another name, or remove the file first")
    write_atomically(path, TEMPLATE.format(name=name, title=_title(name), losses=losses.__name__).encode())
    return path


def _title(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def check_name(name: str) -> None:
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise InputError(
            f"{name!r} cannot be a loss's name: expected a word of lower-case letters, digits and underscores that "
            "begins with a letter, at most 40 characters, such as my_loss"
        )
    if name in RESERVED or name in losses.__all__ or _title(name) in losses.__all__ or _title(name) == "Tensor":
        raise InputError(f"{name!r} has another meaning in experiment files, commands or losses/; choose another name")
    if name in losses.names() or name in losses.broken():
        raise InputError(f"there is a loss named {name!r} already; choose another name")
