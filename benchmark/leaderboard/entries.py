"""An entry: one loss with one configuration, its metrics for every seed, and how they were computed.

The JSON Schema in entry.schema.json is made from these models; `python -m benchmark leaderboard schema` prints it.
The validators check what a schema cannot express: lists of equal length, and ids and flags that follow from the rest.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date as calendar_date
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from benchmark.cell import cell_id
from benchmark.errors import InputError
from benchmark.metrics import column, main_columns
from benchmark.spec.values import Keys, with_settings
from datasets._names import ONLY_TEST

FORMAT = 1
LARGEST_FIGURE = 1e6

LossName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Key = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,39}$")]
MetricName = Annotated[str, Field(pattern=r"^[a-z0-9_@=/-]{1,60}$")]
Line = Annotated[str, Field(min_length=1, max_length=200)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
CellId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Figure = Annotated[float, Field(ge=-LARGEST_FIGURE, le=LARGEST_FIGURE, allow_inf_nan=False)]
Identities = Annotated[list[Figure], Field(min_length=2)]
Plain = Annotated[str, Field(max_length=200)] | bool | int | float | None
Described = dict[Key, JsonValue]


class EntryRun(Keys):
    """One seed: the trained cell and its embeddings."""

    seed: Count
    cell: CellId
    embeddings: Digest = Field(description="SHA-256 of embeddings.safetensors")
    diverged_at: Count | None = Field(description="the step at which training diverged, null where it did not")
    diverged_reason: Annotated[str, Field(max_length=500)] = ""


class Result(Keys):
    """One dataset and how it was trained on. Every list has one value for each run."""

    label: Line
    dataset: Described
    test_set: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] = ONLY_TEST
    digest: Digest = Field(description="of the data itself")
    backbone: Key
    backbone_digest: Digest = Field(description="of the backbone's code")
    dim: Annotated[int, Field(ge=1, le=65_536)]
    recipe: Described
    runs: Annotated[list[EntryRun], Field(min_length=1, max_length=1000)]
    figures: Annotated[dict[MetricName, list[Figure | None]], Field(max_length=200)]
    without_each_identity: Annotated[dict[MetricName, list[Identities | None]], Field(max_length=20)] = Field(
        description="the metric with each test identity left out in turn, for intervals over seeds and identities"
    )

    @model_validator(mode="after")
    def _one_value_for_each_run(self) -> Self:
        _check_different(f"{self.label}: a seed is given twice", self.seeds)
        if len({run.embeddings for run in self.runs}) < len(self.runs):
            raise InputError(f"{self.label}: two runs have the same embeddings")
        for name, values in self.figures.items():
            _check_places(f"{self.label}: figures of {name}", values, self.runs)
            _check_range(f"{self.label}: {name}", name, values)
        for place, run in enumerate(self.runs):
            values = [self.figures[name][place] for name in main_metrics() if name in self.figures]
            if run.diverged_at is None and all(value is None for value in values):
                raise InputError(f"{self.label}: seed {run.seed} did not diverge and has none of {main_metrics()}")
        return self

    @model_validator(mode="after")
    def _one_value_for_each_identity(self) -> Self:
        for name, rows in self.without_each_identity.items():
            if name not in self.figures:
                raise InputError(f"{self.label}: {name} is given without each identity, but not in figures")
            _check_places(f"{self.label}: {name} without each identity", rows, self.runs)
            if len({len(row) for row in rows if row is not None}) > 1:
                raise InputError(f"{self.label}: {name} without each identity: runs have different numbers of them")
            for row in rows:
                _check_range(f"{self.label}: {name} without an identity", name, row or [])
        return self

    @property
    def seeds(self) -> list[int]:
        return [run.seed for run in self.runs]

    @property
    def training(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "backbone": self.backbone, "dim": self.dim, "recipe": self.recipe}

    def setting(self) -> dict[str, Any]:
        """What losses must share to be compared, apart from the digest of the data."""
        return {**self.training, "seeds": sorted(self.seeds)}


class AuditCheck(Keys):
    """One check of the audit; the loss passed it, or it does not apply."""

    check: Line
    verdict: Literal["pass", "none"]
    worst: Figure | None
    tolerance: Figure

    @model_validator(mode="after")
    def _verdict_follows(self) -> Self:
        if self.verdict == "pass" and (self.worst is None or self.worst > self.tolerance):
            raise InputError(f"{self.check}: the verdict is pass, but {self.worst} exceeds {self.tolerance}")
        return self


class Entry(Keys):
    """The content of one entry file."""

    format: Literal[1]
    loss: LossName
    hyper: Annotated[dict[Key, Plain], Field(max_length=50)] = Field(description="what differs from the defaults")
    settings: Annotated[dict[Key, Plain], Field(max_length=50)] = Field(description="every hyper-parameter's value")
    tuned: bool = Field(description="whether any setting differs from the loss's defaults, apart from s=auto")
    family: Line
    description: Annotated[str, Field(max_length=6000)] = Field(description="the loss's docstring")
    origin: Literal["repository", "plug-in"] = Field(description="whether the loss is a file of losses/")
    loss_digest: Digest = Field(description="of the loss's code")
    protocol: Annotated[int, Field(ge=1, le=1_000_000)]
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] = Field(description="of its last run")
    versions: Annotated[dict[Key, Line], Field(max_length=20)]
    audit: Annotated[list[AuditCheck], Field(min_length=1, max_length=100)]
    results: Annotated[list[Result], Field(min_length=1, max_length=100)]

    @model_validator(mode="after")
    def _flag_follows(self) -> Self:
        if self.tuned != bool(tuned_names(self.hyper)):
            raise InputError(f"tuned is {self.tuned}, which does not follow from hyper {self.hyper}")
        unlike = {key: value for key, value in self.hyper.items() if self.settings.get(key) != value}
        if unlike:
            raise InputError(f"settings and hyper differ in {unlike}")
        return self

    @model_validator(mode="after")
    def _checks_date_and_labels_are_sound(self) -> Self:
        _check_different("a check is given twice", [check.check for check in self.audit])
        if not any(check.verdict == "pass" for check in self.audit):
            raise InputError("the audit has no passed check")
        calendar_date.fromisoformat(self.date)
        _check_different("two results have the same label", [result.label for result in self.results])
        return self

    @model_validator(mode="after")
    def _cells_follow(self) -> Self:
        for result in self.results:
            for run in result.runs:
                digests = result.digest, self.loss_digest, result.backbone_digest
                cell = {**result.training, "loss": self.loss, "hyper": self.hyper, "seed": run.seed}
                follows = cell_id(cell, self.protocol, *digests)
                if run.cell != follows:
                    raise InputError(
                        f"{result.label}, seed {run.seed}: the cell id is {run.cell}, but loss, backbone, settings, "
                        f"data and protocol give {follows}"
                    )
        return self

    @property
    def label(self) -> str:
        """Its name in tables: `arcface s=auto`."""
        return with_settings(self.loss, self.hyper)

    @property
    def name(self) -> str:
        """The file's name without the ending: the loss and a short hash of the configuration."""
        return entry_name(self.loss, self.hyper, self.protocol, [result.setting() for result in self.results])


def main_metrics() -> list[str]:
    """The keys of the main metrics of closed and open sets; every run has one of them."""
    return [one.key for one in main_columns().values()]


def entry_name(loss: str, hyper: Mapping[str, Any], protocol: int, settings: list[dict[str, Any]]) -> str:
    """`arcface-1f0c55aa`. The digest of the source does not count, so that an edited loss replaces its entry."""
    return f"{loss}-{short_hash({'hyper': hyper, 'protocol': protocol, 'settings': in_order(settings)})}"


def in_order(settings: list[dict[str, Any]]) -> list[str]:
    """Settings as texts, sorted."""
    return sorted(json.dumps(setting, sort_keys=True) for setting in settings)


def short_hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]


def tuned_names(hyper: Mapping[str, Any]) -> list[str]:
    """The settings that were chosen for this loss. s=auto does not count: it follows from the number of classes."""
    return [name for name, value in hyper.items() if (name, value) != ("s", "auto")]


def schema() -> str:
    """The JSON Schema of an entry, as in the committed file."""
    content = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Entry.model_json_schema()}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _check_different(what: str, values: Sequence[int | str]) -> None:
    if len(set(values)) < len(values):
        raise InputError(f"{what} among {values}")


def _check_places(what: str, values: list[Any], runs: list[EntryRun]) -> None:
    if len(values) != len(runs):
        raise InputError(f"{what}: {len(values)} values for {len(runs)} runs")
    for value, run in zip(values, runs, strict=True):
        if value is not None and run.diverged_at is not None:
            raise InputError(f"{what}: seed {run.seed} diverged and cannot have a value")


def _check_range(what: str, metric: str, values: Sequence[float | None]) -> None:
    """Checks that values lie in the range that the metric declares."""
    low, high = column(metric).metric.range
    for value in values:
        if value is not None and not low <= value <= high:
            raise InputError(f"{what} is {value}, expected {low:g} to {high:g}")
