"""From a paper file to a checked `Paper`. The file is not trusted: every problem is named with its line and key."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

import datasets
from benchmark.errors import InputError
from benchmark.metrics import column
from benchmark.metrics import keys as metric_keys
from benchmark.papers import paper as model
from benchmark.papers.paper import MeasuredColumn, Paper, PaperRow, Published, PublishedColumn, Scale, Source, Text
from benchmark.papers.setting import SettingKeys
from benchmark.spec import Experiment
from benchmark.spec.builtin import PAPERS, SCALES, read_scale
from benchmark.spec.file_errors import FileErrors, KeyPath, Model
from benchmark.spec.values import Keys, Label, one_of
from benchmark.spec.yaml_file import SUFFIXES, read_document, read_text
from datasets._names import shown, unknown

OF_OWN_FILES = ("folder", "faces")
Named = TypeVar("Named")
Stripped = Annotated[Text, AfterValidator(str.strip)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)]


class PaperKeys(Keys):
    title: Label
    claim: Stripped
    layout: Annotated[str, one_of("layout", (model.LOSSES, model.COLUMNS))] = model.LOSSES
    sources: dict[str, Any] = Field(min_length=1)
    comparable: list[Any] = Field(default_factory=list)
    setting: dict[str, Any]
    columns: list[Any] = Field(min_length=1)
    rows: list[Any] = Field(min_length=1)
    effects: list[Any] = Field(default_factory=list)
    scales: dict[str, Any]


class RowKeys(Keys):
    label: Label
    hyper: dict[str, float | int | str] = Field(default_factory=dict)
    published: list[Any] = Field(default_factory=list)
    unmeasured: Text = ""


class PublishedKeys(Keys):
    source: str
    values: dict[str, Any] = Field(min_length=1)


class ScaleKeys(Keys):
    note: Stripped = ""
    differences: Texts = ()
    alike: Texts = ()
    data: dict[str, Any] = Field(default_factory=dict)
    measured: list[Any] = Field(min_length=1)
    unmeasured: list[Any] = Field(default_factory=list)
    experiment: Any


class PublishedOnlyKeys(Keys):
    """A scale at which nothing can be measured yet."""

    published_only: model.Reason


def names() -> list[str]:
    """The shipped papers, sorted."""
    return sorted(path.stem for path in PAPERS.glob("*.yaml"))


def load(source: str | Path, overrides: Mapping[str, Sequence[str]] | None = None) -> Paper:
    """A shipped paper by its name, or any by the path of its file; ValueError names everything that is wrong.

    `overrides` are of the experiments of scales, by the scale's name, as in `--override`.
    """
    path = PAPERS / f"{source}.yaml" if source in names() else Path(source)
    if path.suffix not in SUFFIXES:
        raise InputError(unknown("paper", str(source), names(), "or give the path of a .yaml file"))
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    keys = problems.check(PaperKeys, data, ())
    problems.raise_if_any()
    assert keys is not None
    checked = {key: problems.check(Source, about, ("sources", key)) for key, about in keys.sources.items()}
    sources = {key: source for key, source in checked.items() if source is not None}
    comparable = _read_comparable(keys.comparable, sources, problems)
    setting = problems.check(SettingKeys, keys.setting, ("setting",))
    columns = _read_columns(keys.columns, problems)
    rows = _read_rows(keys.rows, sources, columns, problems)
    effects = _read_effects(keys.effects, rows, problems)
    scales, published_only = _read_scales(data, path, overrides or {}, columns, rows, problems)
    problems.raise_if_any()
    return Paper(
        name=path.stem,
        path=path,
        title=keys.title,
        claim=keys.claim,
        layout=keys.layout,
        sources=tuple(sources.values()),
        comparable=comparable,
        setting={} if setting is None else setting.model_dump(exclude_none=True),
        columns=tuple(columns.values()),
        rows=tuple(rows.values()),
        effects=effects,
        scales=scales,
        published_only=published_only,
    )


def _each(of: type[Model], given: list[Any], at: KeyPath, problems: FileErrors) -> Iterator[tuple[KeyPath, Model]]:
    """The entries of a list that are sound, each with its place in the file."""
    for index, about in enumerate(given):
        keys = problems.check(of, about, (*at, index))
        if keys is not None:
            yield (*at, index), keys


def _read_comparable(
    given: list[Any], sources: Mapping[str, Source], problems: FileErrors
) -> tuple[model.Comparable, ...]:
    """A source is in one group at most: whichever two of a group are taken, the reason holds for them."""
    found: list[model.Comparable] = []
    for at, group in _each(model.Comparable, given, ("comparable",), problems):
        if len(group.sources) < 2:
            problems.add((*at, "sources"), f"should be two sources or more, not {shown(list(group.sources))}")
        for number, key in enumerate(group.sources):
            where = (*at, "sources", number)
            _known(key, sources, "source", where, problems)
            if key in group.sources[:number] or any(key in other.sources for other in found):
                problems.add(where, f"{shown(key)} is listed already; name each source once, in one group")
        found.append(group)
    return tuple(found)


def _read_columns(given: list[Any], problems: FileErrors) -> dict[str, PublishedColumn]:
    found: dict[str, PublishedColumn] = {}
    for at, one in _each(PublishedColumn, given, ("columns",), problems):
        if one.name in found:
            problems.add((*at, "name"), f"two columns are named {shown(one.name)}; rename one")
        found.setdefault(one.name, one)
    return found


def _read_rows(
    given: list[Any], sources: Mapping[str, Source], columns: Mapping[str, PublishedColumn], problems: FileErrors
) -> dict[str, PaperRow]:
    found: dict[str, PaperRow] = {}
    for at, keys in _each(RowKeys, given, ("rows",), problems):
        if keys.label in found:
            problems.add((*at, "label"), f"two rows have the label {shown(keys.label)}; rename one")
        published: dict[str, Published] = {}
        for place, entry in _each(PublishedKeys, keys.published, (*at, "published"), problems):
            source = _known(entry.source, sources, "source", (*place, "source"), problems)
            for name, value in entry.values.items():
                where = (*place, "values", name)
                runs = _runs(value, where, problems)
                if not runs or not _known(name, columns, "column", where, problems) or not source:
                    continue
                if name in published:
                    problems.add(where, "the row has this column already; make it a column of its own")
                published[name] = Published(runs, entry.source, source)
        found[keys.label] = PaperRow(keys.label, keys.hyper, published, keys.unmeasured)
    return found


def _runs(value: Any, at: KeyPath, problems: FileErrors) -> tuple[float, ...]:
    runs = value if isinstance(value, list) else [value]
    if runs and all(isinstance(run, int | float) and not isinstance(run, bool) for run in runs):
        return tuple(map(float, runs))
    problems.add(at, f"should be a number, or a list of them for several runs, not {shown(value)}")
    return ()


def _read_effects(
    given: list[Any], rows: Mapping[str, PaperRow], problems: FileErrors
) -> tuple[model.PaperEffect, ...]:
    found = []
    for index, pair in enumerate(given):
        if not isinstance(pair, list) or len(pair) != 2:
            problems.add(("effects", index), f"should be two rows, [this, against this], not {shown(pair)}")
            continue
        both = [_known(row, rows, "row", ("effects", index), problems) for row in pair]
        found += [model.PaperEffect(*pair)] if all(both) else []
    return tuple(found)


def _read_scales(
    data: Mapping[str, Any],
    path: Path,
    overrides: Mapping[str, Sequence[str]],
    columns: Mapping[str, PublishedColumn],
    rows: Mapping[str, PaperRow],
    problems: FileErrors,
) -> tuple[dict[str, Scale], dict[str, str]]:
    """The scales, and the reasons of those at which nothing is measured."""
    for name in data["scales"]:
        _known(name, dict.fromkeys(SCALES, True), "scale", ("scales", name), problems)
    found: dict[str, Scale] = {}
    reasons: dict[str, str] = {}
    for name in SCALES:
        at = ("scales", name)
        given = data["scales"].get(name)
        if name not in data["scales"]:
            problems.add(("scales",), f"there should be a scale {name!r}")
            continue
        if isinstance(given, Mapping) and "published_only" in given:
            only = problems.check(PublishedOnlyKeys, given, at)
            reasons[name] = "" if only is None else only.published_only
            continue
        keys = problems.check(ScaleKeys, given, at)
        experiment = None if keys is None else read_scale(data, path, name, problems, overrides.get(name, ()))
        if keys is not None and experiment is not None:
            found[name] = _scale(name, keys, experiment, columns, problems)
            _check_experiment(experiment, rows, (*at, "experiment"), problems)
    return found, reasons


def _scale(
    name: str, keys: ScaleKeys, experiment: Experiment, columns: Mapping[str, PublishedColumn], problems: FileErrors
) -> Scale:
    at = ("scales", name)
    for index, key in enumerate(keys.alike):
        _known(key, SettingKeys.model_fields, "key of the setting", (*at, "alike", index), problems)
    own_data = _read_own_data(keys.data, experiment, (*at, "data"), problems)
    measured = _read_measured(keys.measured, experiment, columns, (*at, "measured"), problems)
    unmeasured = _read_unmeasured(keys.unmeasured, measured, columns, (*at, "unmeasured"), problems)
    alike = frozenset(keys.alike)
    return Scale(name, keys.note, keys.differences, alike, own_data, measured, unmeasured, experiment)


def _read_own_data(
    given: Mapping[str, Any], experiment: Experiment, at: KeyPath, problems: FileErrors
) -> dict[str, model.OwnData]:
    """Only files of people's own are what people put there; every other dataset cannot be called another."""
    folders = {row.label: row for row in experiment.datasets if row.name in OF_OWN_FILES}
    found = {}
    for label, about in given.items():
        own = problems.check(model.OwnData, about, (*at, label))
        folder = _known(label, folders, "folder in this scale's experiment", (*at, label), problems)
        if own is not None and folder is not None:
            sets = dict.fromkeys(datasets.test_sets(folder.dataset), True)
            for name in own.tests:
                _known(name, sets, "test set", (*at, label, "tests", name), problems)
            found[label] = own
    for label in sorted(folders.keys() - given.keys()):
        problems.add(at, f"should say of the folder {shown(label)} what data it holds and how to get it")
    return found


def _read_measured(
    given: list[Any], experiment: Experiment, columns: Mapping[str, PublishedColumn], at: KeyPath, problems: FileErrors
) -> tuple[MeasuredColumn, ...]:
    labels = {shown: row for row in experiment.datasets for _, shown in model.shown_as(row)}
    of_tests = {key: True for key in metric_keys() if column(key).split != "val"}
    found: dict[str, MeasuredColumn] = {}
    for where, one in _each(MeasuredColumn, given, at, problems):
        _known(one.dataset, labels, "dataset in this scale's experiment", (*where, "dataset"), problems)
        known = [_known(name, columns, "column", (*where, "beside"), problems) for name in one.beside]
        _known(one.metric, of_tests, "metric of a test set", (*where, "metric"), problems)
        if one.name in found:
            problems.add((*where, "name"), f"two columns are named {shown(one.name)}; rename one")
        if any(known) and column(one.metric).lower_is_better:
            said = "is better when lower, published values are not; name one that rises with them"
            problems.add((*where, "metric"), f"{one.metric} {said}")
        found[one.name] = one
    return tuple(found.values())


def _read_unmeasured(
    given: list[Any],
    measured: tuple[MeasuredColumn, ...],
    columns: Mapping[str, PublishedColumn],
    at: KeyPath,
    problems: FileErrors,
) -> tuple[model.Unmeasured, ...]:
    beside = {name: one.name for one in measured for name in one.beside}
    found = list(_each(model.Unmeasured, given, at, problems))
    for place, one in found:
        for number, name in enumerate(one.columns):
            where = (*place, "columns", number)
            _known(name, columns, "column", where, problems)
            if name in beside:
                problems.add(where, f"{shown(name)} has a measured column beside it, {shown(beside[name])}")
    return tuple(one for _, one in found)


def _check_experiment(experiment: Experiment, rows: Mapping[str, PaperRow], at: KeyPath, problems: FileErrors) -> None:
    for loss in experiment.losses:
        row = _known(loss.label, rows, "row", (*at, "losses"), problems)
        if row is not None and row.unmeasured:
            problems.add((*at, "losses"), f"{shown(row.label)} is trained here but has unmeasured:")
    for dataset in experiment.datasets:
        if len(dataset.backbones) * len(dataset.dims) * len(dataset.recipes) > 1:
            said = "a table's column has one backbone, dim and recipe; give the others an experiment of their own"
            problems.add((*at, "datasets"), f"{shown(dataset.label)} has several: {said}")
    if len({row.label for row in experiment.datasets}) < len(experiment.datasets):
        problems.add((*at, "datasets"), "two entries have the same label; rename one")


def _known(name: Any, known: Mapping[str, Named], noun: str, at: KeyPath, problems: FileErrors) -> Named | None:
    if isinstance(name, str) and name in known:
        return known[name]
    problems.add(at, unknown(noun, name, known))
    return None
