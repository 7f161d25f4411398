"""No part of a page contradicts another: headline, sentences, marks and differences, for results of many shapes."""

import re

import numpy as np
import pytest

from benchmark.findings import about_losses, answer, by_metric, differences, main_table, why_no_differences
from benchmark.findings.differences import in_short
from benchmark.findings.findings import Findings
from benchmark.findings.verdicts import DatasetVerdict, overall, verdicts
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import BEST, TIED, Table
from tests.benchmark.report.frames import VERIFICATION, Values, findings

SHAPES = range(80)


def made_up(shape: int) -> Findings:
    """Other numbers of losses, datasets and seeds, other spreads, and runs that diverged or are missing."""
    rng = np.random.default_rng(shape)
    losses = ["normface", *(f"loss{place}" for place in range(rng.integers(1, 9)))]
    datasets = [f"set-{size}" for size in (100, 1000, 300)[: rng.integers(1, 4)]]
    seeds, gap, holes = int(rng.choice([2, 5, 5, 6, 8])), rng.choice([0.0, 0.001, 0.01]), rng.choice([0.0, 0.0, 0.1])
    data: dict[str, dict[str, Values]] = {}
    for dataset in datasets:
        shared = 0.002 * rng.standard_normal(seeds)
        for loss in losses:
            noise = rng.choice([0.0003, 0.002, 0.02]) * rng.standard_normal(seeds)
            values = (0.9 + gap * rng.standard_normal() + shared + noise).tolist()
            lost = (rng.random(seeds) < holes).tolist()
            kept = [None if gone else value for gone, value in zip(lost, values, strict=True)]
            data.setdefault(dataset, {})[loss] = kept
        if holes and len(losses) > 2:
            del data[dataset][losses[-1]]
    return findings(data, closed=datasets[:1])


def marks(table: Table, heading: str) -> dict[str, str]:
    place = [column.tags.get("dataset") for column in table.columns].index(heading)
    return {row.entries[0].text: row.entries[place].mark for row in table.rows}


def results(table: Table) -> dict[tuple[str, str], str]:
    """The column "Result", by dataset and loss."""
    place = [column.heading for column in table.columns].index("Result")
    return {(row.entries[1].text, row.entries[0].text): row.entries[place].text for row in table.rows}


def everything(found: Findings) -> list[tuple[DatasetVerdict, dict[str, str]]]:
    """Every verdict with the marks of the table that shows the same metric on the same dataset."""
    about = about_losses(found.results)
    main, verification = main_table(found, about), by_metric(found, about, VERIFICATION)
    together = overall(found)
    parts = [(one, marks(main, one.dataset)) for one in verdicts(found) if one.column is not None]
    return parts + ([(together, marks(verification, ALL_DATASETS))] if together else [])


@pytest.mark.parametrize("shape", SHAPES)
def test_marks_are_those_of_the_sentences(shape: int) -> None:
    for verdict, marked in everything(made_up(shape)):
        if len(marked) < 2:
            continue
        assert {loss for loss, mark in marked.items() if mark == BEST} == set(verdict.best)
        assert {loss for loss, mark in marked.items() if mark == TIED} == set(verdict.tied)


@pytest.mark.parametrize("shape", SHAPES)
def test_differences_from_the_baseline_agree_with_the_marks(shape: int) -> None:
    found = made_up(shape)
    if why_no_differences(found):
        return
    against = results(differences(found, about_losses(found.results)))
    for verdict, _ in everything(found):
        top = [*verdict.best, *verdict.tied]
        of_dataset = {loss: text for (dataset, loss), text in against.items() if dataset == verdict.dataset}
        assert not [loss for loss in top if of_dataset.get(loss) == "worse"]
        if "better" in of_dataset.values():
            assert "normface" not in top
        if "normface" in verdict.best:
            assert {loss for loss, text in of_dataset.items() if text == "worse"} == set(verdict.worse)
        if verdict.is_open:
            assert not {"better", "worse"} & set(of_dataset.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_the_headline_agrees_with_every_dataset(shape: int) -> None:
    found = made_up(shape)
    headline, _, _ = str(answer(found).headline).partition(" Not tested")
    parts = [verdict for verdict, _ in everything(found) if verdict.is_tested]
    if not parts or "depends on the data" in headline:
        return
    praised, _, blamed = headline.partition(";")
    if re.search("is the best loss|safest choice|are among the best", headline):
        top = re.findall("<b>(.*?)</b>", praised) + re.findall("The baseline, <b>(.*?)</b>", blamed)
        assert all(one.has_on_top(loss) for loss in top for one in parts)
        if len(parts) > 1:
            beaten = {loss for verdict, _ in everything(found) for loss in (*verdict.worse, *verdict.behind)}
            assert not beaten & set(top)
        for loss in re.findall("<b>(.*?)</b>", blamed.partition(".")[0]):
            assert not all(one.has_on_top(loss) for one in parts), loss
    if "is the best loss" in headline:
        assert all(one.worse and not one.tied for one in parts)
    if headline.startswith("No winner"):
        assert not [loss for one in parts for loss in (*one.worse, *one.behind)]


@pytest.mark.parametrize("shape", SHAPES)
def test_sentences_about_the_baseline_count_the_rows_of_the_table(shape: int) -> None:
    found = made_up(shape)
    if why_no_differences(found):
        return
    against = results(differences(found, about_losses(found.results)))
    by_dataset: dict[str, list[str]] = {}
    for (dataset, _), text in against.items():
        by_dataset.setdefault(dataset, []).append(text)
    for sentence, texts in zip(in_short(found), by_dataset.values(), strict=True):
        for word in ("better", "worse"):
            assert (f"significantly {word}" in sentence) == (word in texts)


def test_the_shapes_hold_every_case() -> None:
    """Otherwise the tests above would not mean much."""
    headlines = [str(answer(made_up(shape)).headline) for shape in SHAPES]
    for part in ("No winner", "No single winner", "too few seeds", "depends on the data", "is the best loss", "safest"):
        assert any(part in headline for headline in headlines), part
    assert any(verdict.behind for shape in SHAPES for verdict in verdicts(made_up(shape)))


def test_datasets_are_in_natural_order() -> None:
    same: dict[str, Values] = {"arcface": [0.9] * 5, "normface": [0.8] * 5}
    found = findings({"set-1000": same, "set-300": same, "set-100": same})
    order = ["set-100", "set-300", "set-1000"]
    assert found.datasets == list(found.main_columns) == order
    assert list(found.differences["dataset"]) == [*order, ALL_DATASETS]
    tagged = [column.tags.get("dataset") for column in main_table(found, about_losses(found.results)).columns]
    assert [name for name in tagged if name] == [*order, ALL_DATASETS]
