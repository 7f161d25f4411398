"""Shared machinery computes what it did: a cell's id does not cover it, so PROTOCOL_VERSION has to."""

import math
import warnings
from dataclasses import replace

import pytest

import losses
from benchmark.recipe import augmentation
from tests.benchmark.golden import goldens
from tests.benchmark.golden.cells import cells, data, outcome

CELLS = cells()


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_gives_what_was_recorded(name: str) -> None:
    recorded = goldens.known()
    assert recorded, f"nothing is recorded under the present PROTOCOL_VERSION: {goldens.RECORD}"
    known = goldens.own(recorded)
    golden = (known or recorded[0]).cells.get(name)
    if golden is None:  # a new component must not need an edit here
        warnings.warn(f"{name} has no golden yet: {goldens.RECORD}", stacklevel=1)
        return
    found = outcome(CELLS[name])
    if found.code != golden.code:
        warnings.warn(f"{name}: the component's own code has changed, as its ids have: {goldens.RECORD}", stacklevel=1)
    if known is None:
        here, there = f"{goldens.kind()}, torch {goldens.torch_version()}", f"{recorded[0].kind}, {recorded[0].torch}"
        warnings.warn(f"{here} has no goldens: figures are those of {there} ± {goldens.TOLERANCE:g}", stacklevel=1)
    problem = (goldens.changed_bits if known else goldens.moved_figures)(name, found, golden)
    assert not problem, problem


def test_a_change_of_machinery_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the processor: the golden is made here."""
    cell = CELLS["augmentation shift"]
    golden = outcome(cell)
    assert not goldens.changed_bits("cell", outcome(cell), golden)
    monkeypatch.setattr(augmentation, "SHIFT", augmentation.SHIFT + 1)
    assert "raise PROTOCOL_VERSION in benchmark/cell.py" in goldens.changed_bits("cell", outcome(cell), golden)


def test_an_edited_component_has_new_ids_and_needs_no_new_protocol() -> None:
    golden = replace(outcome(CELLS["loss softmax"]), digest="of other bits")
    assert "raise PROTOCOL_VERSION" in goldens.changed_bits("cell", outcome(CELLS["loss softmax"]), golden)
    golden = replace(golden, code="of other code")
    assert not goldens.changed_bits("cell", outcome(CELLS["loss softmax"]), golden)


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1.0 + 0.5 * goldens.TOLERANCE, True), (1.05, False)])
def test_on_another_processor_figures_may_differ_by_rounding_alone(factor: float, passes: bool) -> None:
    found = outcome(CELLS["loss softmax"])
    assert set(found.figures) == {"loss", "backbone norm", "weight norm", "mean cosine"}
    assert all(math.isfinite(value) for value in found.figures.values())
    golden = replace(found, digest="", figures={**found.figures, "loss": factor * found.figures["loss"]})
    said = goldens.moved_figures("cell", found, golden)
    assert (not said) == passes
    assert passes or ("loss is" in said and "raise PROTOCOL_VERSION" in said)


@pytest.mark.parametrize("name", CELLS)
def test_the_path_is_the_one_that_the_name_says(name: str) -> None:
    cell = CELLS[name]
    head = losses.create(cell.loss, num_classes=data(cell.dataset["name"]).num_classes, dim=cell.dim, **cell.hyper)
    fused = isinstance(head, losses.CosineHead) and head.uses_fused_path(cell.recipe.batch)
    assert fused == name.startswith("fused")
