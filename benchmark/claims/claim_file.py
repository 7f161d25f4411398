"""From claim files to checked claims: every row, dataset and metric that a claim names is there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

import losses
from benchmark import metrics, spec
from benchmark.claims.model import DIRECTIONS, Claim, ClaimPart, TunedLoss
from benchmark.errors import InputError
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.values import Keys, OneOrMany, one_of
from benchmark.spec.yaml_file import read_document, read_text
from datasets._names import did_you_mean, listed, shown, unknown

FOLDER = Path(__file__).parent
LETTERS = "abcdefghijklmnopqrstuvwxyz"
VALIDATION = "val/"
Text = Annotated[str, Field(min_length=1, max_length=600)]


class ClaimKeys(Keys):
    number: Annotated[int, Field(ge=1, le=999)]
    paper: Text
    short: Annotated[str, Field(min_length=1, max_length=60)]
    words: Text
    source: Text
    note: Annotated[str, Field(max_length=1000)] = ""
    experiment: str = "claims"
    parts: Annotated[list[Any], Field(min_length=1, max_length=len(LETTERS))]


class ClaimPartKeys(Keys):
    words: Text
    metric: str
    datasets: OneOrMany[str]
    loss: str
    against: Any
    expect: Annotated[str, one_of("direction", DIRECTIONS)]
    margin: Annotated[float, Field(gt=0.0, le=180.0)]
    over: str | None = None
    against_dataset: str | None = None


class TunedLossKeys(Keys):
    tuned: Annotated[str, one_of("loss", losses.names())]
    by: str


def load_all(folder: Path = FOLDER) -> list[Claim]:
    """The claims of a folder's YAML files by their number; ValueError names everything that is wrong."""
    claims: dict[int, tuple[Claim, Path]] = {}
    for path in sorted(folder.glob("*.yaml")):
        claim = load_file(path)
        if claim.number in claims:
            raise InputError(f"{path.name}, number: {claims[claim.number][1].name} has the number {claim.number} too")
        claims[claim.number] = claim, path
    if not claims:
        raise InputError(f"{folder}: there are no claims, which are files that end in .yaml")
    return [claims[number][0] for number in sorted(claims)]


def load_file(path: Path) -> Claim:
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    if not isinstance(data, Mapping):
        allowed = listed(ClaimKeys.model_fields)
        raise InputError(f"{path.name}: a claim file should be a mapping with the keys {allowed}")
    keys = problems.check(ClaimKeys, data, ())
    problems.raise_if_any()
    assert keys is not None
    experiment = _experiment(keys.experiment, problems)
    parts = [_part(one, LETTERS[index], ("parts", index), experiment, problems) for index, one in enumerate(keys.parts)]
    problems.raise_if_any()
    return Claim(**{**dict(keys), "parts": tuple(part for part in parts if part is not None)})


def _experiment(name: str, problems: FileErrors) -> spec.Experiment:
    if name not in spec.names():
        problems.add(("experiment",), unknown("experiment", name, spec.names()))
        problems.raise_if_any()
    return spec.load(name)


def _part(data: Any, letter: str, at: KeyPath, experiment: spec.Experiment, problems: FileErrors) -> ClaimPart | None:
    keys = problems.check(ClaimPartKeys, data, at)
    if keys is None:
        return None
    against = _against(keys.against, (*at, "against"), problems)
    _check_metric(keys.metric, (*at, "metric"), problems)
    _check_datasets(keys, at, experiment, problems)
    others = keys.datasets if keys.against_dataset is None else (keys.against_dataset,)
    _check_row(keys.loss, keys.datasets, (*at, "loss"), experiment, problems)
    if isinstance(against, str | TunedLoss):
        where = (*at, "against") if isinstance(against, str) else (*at, "against", "tuned")
        _check_row(against, others, where, experiment, problems)
    if keys.over is not None:
        _check_row(keys.over, (*keys.datasets, *others), (*at, "over"), experiment, problems)
    return None if against is None else ClaimPart(letter, **{**dict(keys), "against": against})


def _against(given: Any, at: KeyPath, problems: FileErrors) -> str | float | TunedLoss | None:
    if isinstance(given, str):
        return given
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    if not isinstance(given, Mapping):
        problems.add(at, f"should be a row's label, a value, or {{tuned: loss, by: val/…}}, not {shown(given)}")
        return None
    keys = problems.check(TunedLossKeys, given, at)
    if keys is None:
        return None
    _check_metric(keys.by, (*at, "by"), problems)
    if not keys.by.startswith(VALIDATION):
        problems.add((*at, "by"), f"should be a metric of the validation split, {VALIDATION}…, not {shown(keys.by)}")
    return TunedLoss(keys.tuned, keys.by)


def _check_metric(name: str, at: KeyPath, problems: FileErrors) -> None:
    if name not in metrics.keys():  # noqa: SIM118 — it is not a mapping
        problems.add(at, f"there is no metric {shown(name)}{did_you_mean(name, metrics.keys())}")


def _check_datasets(keys: ClaimPartKeys, at: KeyPath, experiment: spec.Experiment, problems: FileErrors) -> None:
    rows = {row.label: row for row in experiment.datasets}
    named = [((*at, "datasets", index), name) for index, name in enumerate(keys.datasets)]
    if keys.against_dataset is not None:
        named.append(((*at, "against_dataset"), keys.against_dataset))
    for index, name in enumerate(keys.datasets):
        if name in keys.datasets[:index]:
            problems.add((*at, "datasets", index), f"{shown(name)} is listed already; a dataset is tested on once")
    for where, name in named:
        if name not in rows:
            problems.add(where, _no_such("dataset", name, list(rows), experiment))
        elif len(rows[name].backbones) * len(rows[name].dims) * len(rows[name].recipes) > 1:
            problems.add(where, f"{name} is trained on in several ways; a claim needs a dataset of its own for each")
    other = rows.get(keys.against_dataset or "")
    for name in keys.datasets:
        if other is not None and name in rows and rows[name].dataset != other.dataset:
            problems.add((*at, "against_dataset"), f"{other.label} and {name} are not the same data")


def _check_row(
    label: str | TunedLoss, datasets: Sequence[str], at: KeyPath, experiment: spec.Experiment, problems: FileErrors
) -> None:
    """The row is trained on each of the datasets; of a tuned loss, some row to choose from."""
    labels = [row.label for row in experiment.losses]
    if isinstance(label, TunedLoss):
        chosen, name = {row.label for row in experiment.losses if row.name == label.name}, label.name
        missing = f"{experiment.name} has no rows of {name}"
    else:
        chosen, name = {label} & set(labels), shown(label)
        missing = _no_such("row", label, labels, experiment)
    if not chosen:
        problems.add(at, missing)
        return
    for row in experiment.datasets:
        if row.label in datasets and row.losses is not None and chosen.isdisjoint(row.losses):
            problems.add(at, f"{experiment.name} does not train {name} on {row.label}")


def _no_such(noun: str, name: str, known: Sequence[str], experiment: spec.Experiment) -> str:
    hint = did_you_mean(name, known)
    return f"there is no {noun} {shown(name)} in the experiment {experiment.name}{hint} (there are {listed(known)})"
