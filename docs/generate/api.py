"""The pages of the Python API, from docstrings, and what Sphinx has to know to show them."""

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from sphinx.ext.napoleon import GoogleDocstring

import datasets
import losses
from benchmark import metrics, statistics
from docs.generate.markdown import first_sentence, page, text

MODULES: dict[str, ModuleType] = {
    "losses": losses,
    "datasets": datasets,
    "benchmark.metrics": metrics,
    "benchmark.statistics": statistics,
}
INTRODUCTION = (
    "In the clone the packages are `losses`, `datasets`, `benchmark.metrics` and `benchmark.statistics`. Installed, "
    "they are `marginbench.losses`, `marginbench.datasets`, `marginbench.metrics` and `marginbench.statistics`. The "
    "tests run every example."
)
EXTERNAL = [(r"py:.*", r"(?!losses\.|datasets\.|benchmark\.).*"), (r"py:.*", r".*\._\w+\..*")]
"""Names that the pages do not explain: those of other libraries, and of modules that are machinery."""
_ALIGNED = re.compile(r"^(?!>>>|\.\.\.)(\S+) {2,}(\S.*)$")


def names() -> list[str]:
    return [f"api-{name.replace('.', '-')}" for name in MODULES]


def links() -> Iterator[str]:
    for file, (name, module) in zip(names(), MODULES.items(), strict=True):
        yield f"[{name}]({file}.md): {text(first_sentence(module))}"


def pages() -> Iterator[tuple[str, str | bytes]]:
    for file, (name, module) in zip(names(), MODULES.items(), strict=True):
        yield f"reference/{file}.md", page(name, *_blocks(name, module))


def public(module: ModuleType) -> dict[str, Any]:
    """The functions and classes that a package offers, by name; registered losses have pages of their own."""
    listed = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    found = {name: getattr(module, name) for name in listed}
    home = module.__name__.split(".")[0]
    return {
        name: one
        for name, one in sorted(found.items())
        if (inspect.isfunction(one) or inspect.isclass(one)) and one.__module__.split(".")[0] == home
    }


def _blocks(name: str, module: ModuleType) -> Iterator[str]:
    found = public(module)
    yield _directive("automodule", name, "no-members")
    functions = [key for key, one in found.items() if inspect.isfunction(one)]
    classes = [key for key, one in found.items() if inspect.isclass(one)]
    for heading, keys, kind in (("Functions", functions, "autofunction"), ("Classes", classes, "autoclass")):
        if keys:
            yield f"## {heading}"
            yield from (
                _directive(kind, f"{name}.{key}", *(["members"] if kind == "autoclass" else [])) for key in keys
            )


def _directive(kind: str, name: str, *options: str) -> str:
    return "\n".join(["```{eval-rst}", f".. {kind}:: {name}", *(f"   :{option}:" for option in options), "```"])


def prepare(app: Any, what: str, name: str, one: Any, options: Any, lines: list[str]) -> None:
    """Reads `Args:` and its like, and turns aligned lines of a name and its meaning into a list: Sphinx would run them
    together. An attribute's text is left alone: napoleon would take what stands before a colon for its type."""
    aligned = [_ALIGNED.sub(r":\1: \2", line) for line in lines]
    lines[:] = aligned if what in ("attribute", "data", "property") else GoogleDocstring(aligned).lines()
