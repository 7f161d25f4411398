"""From a paper file to a checked `Paper`. The file is not trusted: every problem is named with its line and key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field

from benchmark.metrics import column
from benchmark.metrics import keys as metric_keys
from benchmark.papers.paper import (
    COLUMNS,
    DEGREES,
    LOSSES,
    PERCENT,
    Comparable,
    MeasuredColumn,
    OwnData,
    Paper,
    PaperEffect,
    PaperRow,
    Published,
    PublishedColumn,
    Scale,
    Source,
    Unmeasured,
)
from benchmark.papers.setting import SettingKeys
from benchmark.spec import Experiment
from benchmark.spec.builtin import SCALES, read_scale
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.values import Keys, Label, one_of
from benchmark.spec.yaml_file import read_document, read_text
from datasets._names import shown, unknown

Named = TypeVar("Named")
Text = Annotated[str, Field(max_length=2000)]
Reason = Annotated[str, Field(min_length=1, max_length=2000)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)]
Labels = Annotated[tuple[Label, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)]
Link = Annotated[str, Field(max_length=300, pattern=r"^(https://[^\s\"'<>]+|doi:[^\s\"'<>]+|arXiv:[^\s\"'<>]+)?$")]
Unit = Annotated[str, one_of("unit", (PERCENT, DEGREES))]


class PaperKeys(Keys):
    title: Label
    claim: Text
    layout: Annotated[str, one_of("layout", (LOSSES, COLUMNS))] = LOSSES
    sources: dict[str, Any] = Field(min_length=1)
    comparable: list[Any] = Field(default_factory=list)
    setting: dict[str, Any]
    columns: list[Any] = Field(min_length=1)
    rows: list[Any] = Field(min_length=1)
    effects: list[Any] = Field(default_factory=list)
    scales: dict[str, Any]


class SourceKeys(Keys):
    paper: Text
    table: Text = ""
    link: Link
    second_hand: bool = False
    setting: Text = ""


class ComparableKeys(Keys):
    sources: Labels
    because: Reason


class PublishedColumnKeys(Keys):
    name: Label
    unit: Unit = PERCENT
    data: Label
    meaning: Text = ""
    other_loss: Label | None = None


class RowKeys(Keys):
    label: Label
    hyper: dict[str, float | int | str] = Field(default_factory=dict)
    published: list[Any] = Field(default_factory=list)
    unmeasured: Text = ""


class PublishedKeys(Keys):
    source: str
    values: dict[str, Any] = Field(min_length=1)


class ScaleKeys(Keys):
    note: Text = ""
    differences: Texts = ()
    alike: Texts = ()
    data: dict[str, Any] = Field(default_factory=dict)
    measured: list[Any] = Field(min_length=1)
    unmeasured: list[Any] = Field(default_factory=list)
    experiment: Any


class OwnDataKeys(Keys):
    data: Label
    get: Text


class MeasuredColumnKeys(Keys):
    name: Label
    dataset: str
    metric: str
    beside: Labels = ()


class UnmeasuredKeys(Keys):
    columns: Annotated[Labels, Field(min_length=1)]
    because: Reason


def load_paper_file(path: Path) -> Paper:
    """ValueError names everything that is wrong."""
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    keys = problems.check(PaperKeys, data, ())
    problems.raise_if_any()
    assert keys is not None
    sources = _read_sources(keys.sources, problems)
    comparable = _read_comparable(keys.comparable, sources, problems)
    setting = problems.check(SettingKeys, keys.setting, ("setting",))
    columns = _read_columns(keys.columns, problems)
    rows = _read_rows(keys.rows, sources, columns, problems)
    effects = _read_effects(keys.effects, [row.label for row in rows], problems)
    scales = _read_scales(data, path, columns, rows, problems)
    problems.raise_if_any()
    return Paper(
        name=path.stem,
        path=path,
        title=keys.title,
        claim=keys.claim.strip(),
        layout=keys.layout,
        sources=tuple(sources.values()),
        comparable=comparable,
        setting={} if setting is None else setting.model_dump(exclude_none=True),
        columns=tuple(columns.values()),
        rows=rows,
        effects=effects,
        scales=scales,
    )


def _read_sources(given: Mapping[str, Any], problems: FileErrors) -> dict[str, Source]:
    found = {}
    for key, about in given.items():
        keys = problems.check(SourceKeys, about, ("sources", key))
        if keys is not None:
            found[key] = Source(key, **keys.model_dump())
    return found


def _read_comparable(given: list[Any], sources: Mapping[str, Source], problems: FileErrors) -> tuple[Comparable, ...]:
    """A source is in one group at most: whichever two of a group are taken, the reason holds for them."""
    found: list[Comparable] = []
    for index, about in enumerate(given):
        at = ("comparable", index)
        keys = problems.check(ComparableKeys, about, at)
        if keys is None:
            continue
        if len(keys.sources) < 2:
            problems.add((*at, "sources"), f"should be two sources or more, not {shown(list(keys.sources))}")
        for number, key in enumerate(keys.sources):
            where = (*at, "sources", number)
            _known(key, sources, "source", where, problems)
            if key in keys.sources[:number] or any(key in group.sources for group in found):
                problems.add(where, f"{shown(key)} is listed already; name each source once, in one group")
        found.append(Comparable(frozenset(keys.sources), keys.because.strip()))
    return tuple(found)


def _read_columns(given: list[Any], problems: FileErrors) -> dict[str, PublishedColumn]:
    found: dict[str, PublishedColumn] = {}
    for index, about in enumerate(given):
        keys = problems.check(PublishedColumnKeys, about, ("columns", index))
        if keys is not None and keys.name in found:
            problems.add(("columns", index, "name"), f"two columns are named {shown(keys.name)}; rename one")
        elif keys is not None:
            found[keys.name] = PublishedColumn(keys.name, keys.unit, keys.data, keys.meaning, keys.other_loss or "")
    return found


def _read_rows(
    given: list[Any], sources: Mapping[str, Source], columns: Mapping[str, PublishedColumn], problems: FileErrors
) -> tuple[PaperRow, ...]:
    found: dict[str, PaperRow] = {}
    for index, about in enumerate(given):
        keys = problems.check(RowKeys, about, ("rows", index))
        if keys is None:
            continue
        if keys.label in found:
            problems.add(("rows", index, "label"), f"two rows have the label {shown(keys.label)}; rename one")
        published: dict[str, Published] = {}
        for number, entry in enumerate(keys.published):
            at = ("rows", index, "published", number)
            for name, value in _read_published(entry, at, sources, columns, problems).items():
                if name in published:
                    problems.add((*at, "values", name), "the row has this column already; make it a column of its own")
                published[name] = value
        found[keys.label] = PaperRow(keys.label, keys.hyper, published, keys.unmeasured)
    return tuple(found.values())


def _read_published(
    given: Any, at: KeyPath, sources: Mapping[str, Source], columns: Mapping[str, PublishedColumn], problems: FileErrors
) -> dict[str, Published]:
    keys = problems.check(PublishedKeys, given, at)
    if keys is None:
        return {}
    source = _known(keys.source, sources, "source", (*at, "source"), problems)
    found = {}
    for name, value in keys.values.items():
        where = (*at, "values", name)
        runs = tuple(value) if isinstance(value, list) else (value,)
        if not runs or not all(isinstance(run, int | float) and not isinstance(run, bool) for run in runs):
            problems.add(where, f"should be a number, or a list of them for several runs, not {shown(value)}")
        elif _known(name, columns, "column", where, problems) and source:
            found[name] = Published(tuple(map(float, runs)), source)
    return found


def _read_effects(given: list[Any], labels: list[str], problems: FileErrors) -> tuple[PaperEffect, ...]:
    found = []
    known = dict.fromkeys(labels, True)
    for index, pair in enumerate(given):
        if not isinstance(pair, list) or len(pair) != 2:
            problems.add(("effects", index), f"should be two rows, [this, against this], not {shown(pair)}")
            continue
        both = [_known(row, known, "row", ("effects", index), problems) for row in pair]
        found += [PaperEffect(*pair)] if all(both) else []
    return tuple(found)


def _read_scales(
    data: Mapping[str, Any],
    path: Path,
    columns: Mapping[str, PublishedColumn],
    rows: tuple[PaperRow, ...],
    problems: FileErrors,
) -> dict[str, Scale]:
    for name in data["scales"]:
        _known(name, dict.fromkeys(SCALES, True), "scale", ("scales", name), problems)
    found = {}
    for name in SCALES:
        at = ("scales", name)
        if name not in data["scales"]:
            problems.add(("scales",), f"there should be a scale {name!r}")
            continue
        keys = problems.check(ScaleKeys, data["scales"][name], at)
        experiment = None if keys is None else read_scale(data, path, name, problems)
        if keys is not None and experiment is not None:
            found[name] = _scale(name, keys, experiment, columns, problems)
            _check_experiment(experiment, rows, at, problems)
    return found


def _scale(
    name: str, keys: ScaleKeys, experiment: Experiment, columns: Mapping[str, PublishedColumn], problems: FileErrors
) -> Scale:
    at = ("scales", name)
    for index, key in enumerate(keys.alike):
        _known(key, SettingKeys.model_fields, "key of the setting", (*at, "alike", index), problems)
    measured = _read_measured(keys.measured, experiment, columns, (*at, "measured"), problems)
    return Scale(
        name=name,
        note=keys.note.strip(),
        differences=keys.differences,
        alike=frozenset(keys.alike),
        own_data=_read_own_data(keys.data, experiment, (*at, "data"), problems),
        measured=measured,
        unmeasured=_read_unmeasured(keys.unmeasured, measured, columns, (*at, "unmeasured"), problems),
        experiment=experiment,
    )


def _read_own_data(
    given: Mapping[str, Any], experiment: Experiment, at: KeyPath, problems: FileErrors
) -> dict[str, OwnData]:
    """Only a folder is whatever people put there; every other dataset is what it is and cannot be called another."""
    folders = {row.label: row for row in experiment.datasets if row.name == "folder"}
    found = {}
    for label, about in given.items():
        keys = problems.check(OwnDataKeys, about, (*at, label))
        folder = _known(label, folders, "folder in this scale's experiment", (*at, label), problems)
        if keys is not None and folder is not None:
            found[label] = OwnData(keys.data, keys.get)
    for label in sorted(folders.keys() - given.keys()):
        problems.add(at, f"should say of the folder {shown(label)} what data it holds and how to get it")
    return found


def _read_measured(
    given: list[Any], experiment: Experiment, columns: Mapping[str, PublishedColumn], at: KeyPath, problems: FileErrors
) -> tuple[MeasuredColumn, ...]:
    labels = {row.label: row for row in experiment.datasets}
    of_tests = {key: True for key in metric_keys() if column(key).split != "val"}
    found: dict[str, MeasuredColumn] = {}
    for index, about in enumerate(given):
        keys = problems.check(MeasuredColumnKeys, about, (*at, index))
        if keys is None:
            continue
        _known(keys.dataset, labels, "dataset in this scale's experiment", (*at, index, "dataset"), problems)
        known = [_known(name, columns, "column", (*at, index, "beside"), problems) for name in keys.beside]
        _known(keys.metric, of_tests, "metric of a test set", (*at, index, "metric"), problems)
        if keys.name in found:
            problems.add((*at, index, "name"), f"two columns are named {shown(keys.name)}; rename one")
        if any(known) and column(keys.metric).lower_is_better:
            said = "is better when lower, published values are not; name one that rises with them"
            problems.add((*at, index, "metric"), f"{keys.metric} {said}")
        found[keys.name] = MeasuredColumn(keys.name, keys.dataset, keys.metric, keys.beside)
    return tuple(found.values())


def _read_unmeasured(
    given: list[Any],
    measured: tuple[MeasuredColumn, ...],
    columns: Mapping[str, PublishedColumn],
    at: KeyPath,
    problems: FileErrors,
) -> tuple[Unmeasured, ...]:
    beside = {name: one.name for one in measured for name in one.beside}
    found = []
    for index, about in enumerate(given):
        keys = problems.check(UnmeasuredKeys, about, (*at, index))
        if keys is None:
            continue
        for number, name in enumerate(keys.columns):
            where = (*at, index, "columns", number)
            _known(name, columns, "column", where, problems)
            if name in beside:
                problems.add(where, f"{shown(name)} has a measured column beside it, {shown(beside[name])}")
        found.append(Unmeasured(keys.columns, keys.because.strip()))
    return tuple(found)


def _check_experiment(experiment: Experiment, rows: tuple[PaperRow, ...], at: KeyPath, problems: FileErrors) -> None:
    labels = {row.label: row for row in rows}
    for loss in experiment.losses:
        row = _known(loss.label, labels, "row", (*at, "experiment", "losses"), problems)
        if row is not None and row.unmeasured:
            problems.add((*at, "experiment", "losses"), f"{shown(row.label)} is trained here but has unmeasured:")
    for dataset in experiment.datasets:
        if len(dataset.backbones) * len(dataset.dims) * len(dataset.recipes) > 1:
            said = "a table's column has one backbone, dim and recipe; give the others an experiment of their own"
            problems.add((*at, "experiment", "datasets"), f"{shown(dataset.label)} has several: {said}")
    if len({row.label for row in experiment.datasets}) < len(experiment.datasets):
        problems.add((*at, "experiment", "datasets"), "two entries have the same label; rename one")


def _known(name: Any, known: Mapping[str, Named], noun: str, at: KeyPath, problems: FileErrors) -> Named | None:
    if isinstance(name, str) and name in known:
        return known[name]
    problems.add(at, unknown(noun, name, known))
    return None
