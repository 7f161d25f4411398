"""The installed package's name, in the clone: `marginbench.losses` is `losses`, `marginbench.metrics` is
`benchmark.metrics`. They are the same modules, so there is one registry. The wheel has a package instead of this file.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__path__: list[str] = []  # makes it a package, whose modules the finder below knows


class _InClone:
    """Finds `marginbench.x` and loads the module of the clone, which keeps its own name and spec."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        real = _name_in_clone(name)
        try:
            found = importlib.util.find_spec(real) if real else None
        except ModuleNotFoundError:
            return None
        return found and ModuleSpec(name, self, is_package=found.submodule_search_locations is not None)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(_name_in_clone(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The import system has put this finder's spec into the module: the clone's is put back."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def _name_in_clone(name: str) -> str:
    package, _, inside = name.partition(".")
    if package != "marginbench" or not inside:
        return ""
    return inside if inside.partition(".")[0] in ("losses", "datasets") else f"benchmark.{inside}"


sys.meta_path.insert(0, _InClone())

if __name__ == "__main__":
    from benchmark.cli import main

    main()
