import pytest
import torch

from tests.browser import axe, browser

__all__ = ["axe", "browser"]

torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those marked as long come first: begun last, one would keep a process busy while the others have nothing left."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
