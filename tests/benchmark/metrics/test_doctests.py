"""The examples in the docstrings of the metrics are right."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

from benchmark import metrics

MODULES = [f"benchmark.metrics.{module.name}" for module in pkgutil.iter_modules(metrics.__path__)]
COMPUTING = [
    name
    for name, function in vars(metrics).items()
    if inspect.isfunction(function)
    and function.__module__ not in ("benchmark.metrics._columns", "benchmark.metrics._registry")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_right(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", COMPUTING)
def test_every_public_function_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(metrics, name).__doc__ or "")
