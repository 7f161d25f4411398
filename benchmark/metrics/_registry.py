"""How a metric declares itself: one file holds what it is, what it needs and how it is computed.

@measure(Metric("norm", "Norm", "mean length of an embedding", unit="", range=(0.0, math.inf), decimals=3))
def norm(embeddings):
    return float(np.linalg.norm(embeddings, axis=1).mean())
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from benchmark.errors import InputError
from benchmark.metrics._inputs import Measured
from datasets._names import ONLY_TEST, listed
from datasets._registry import DuplicateNameError, Registry

Unit = Literal["%", "°", ""]
Better = Literal["higher", "lower", "neither"]
Protocol = Literal["closed", "open"]
TableName = Literal["performance", "geometry"]

OF_SPLIT = ("embeddings", "labels", "pairs", "same", "folds", "logits", "clusters", "seen")
"""Arrays of a split. `clusters` has the pair of each image where identities are unknown: then `labels` only say what
pairs say, and a measure gets them only if it takes `clusters` too. `seen` says which images are of training people."""
OF_CLASSES = ("weight", "bias", "posterior", "centres", "class_counts", "mean_angles", "mean_posteriors")
"""Arrays with a row per training class: a measure gets them on the training split, without a split, and where test
classes are training classes. `posterior` is 1 where the softmax of the logits is a posterior."""
ARRAYS = (*OF_SPLIT, *OF_CLASSES)
SPLITS = ("train", "test", "val")


@dataclass(frozen=True)
class Metric:
    """What one metric is and how it is shown."""

    key: str  # stored as test/<key>, val/<key> and so on
    heading: str
    meaning: str
    unit: Unit = "%"  # of the shown value; a metric in per cent is stored as a share of 1
    better: Better = "higher"
    range: tuple[float, float] = (0.0, 1.0)  # of the stored value
    decimals: int = 2
    table: TableName | Literal[""] = "performance"  # "": kept in summary.csv, not shown
    place: float = math.inf  # in tables, the lowest first; without one it comes last
    main: Protocol | Literal[""] = ""  # the main metric of datasets of that protocol
    entered: bool = False  # leaderboard entries keep it without each test identity too: 11 KB for 5 seeds


count = partial(Metric, unit="", better="neither", range=(0.0, math.inf), decimals=0, table="")
"""Of what a metric rests on, or of what it leaves out."""


@dataclass(frozen=True)
class Measure:
    """A function that computes metrics, and where it does so."""

    name: str
    metrics: tuple[Metric, ...]
    compute: Callable[..., Any]
    splits: tuple[str, ...]  # none: the metrics are of the class weights alone
    version: int
    jackknife: Callable[..., Mapping[str, Any]] | None

    def on(self, test_sets: Sequence[str] = (ONLY_TEST,)) -> list[str]:
        """The splits that it measures where there are these test sets; "" for metrics of the class weights alone."""
        found = [list(test_sets) if split == ONLY_TEST else [split] for split in self.splits or ("",)]
        return [split for part in found for split in part]

    def keys(self, test_sets: Sequence[str] = (ONLY_TEST,)) -> dict[str, Metric]:
        """Its metrics by the keys that they are stored under."""
        return {stored(split, metric): metric for split in self.on(test_sets) for metric in self.metrics}

    def fits(self, inputs: Iterable[str]) -> bool:
        """Whether the arrays that it cannot do without are there."""
        taken, known = _arrays(self.compute), set(inputs)
        if "clusters" in known and "clusters" not in taken:
            known.discard("labels")
        return {name for name, needed in taken.items() if needed} <= known

    def __call__(self, inputs: Mapping[str, Any]) -> Measured:
        """The metrics of a split by their keys; `InputError` where it returns one that it does not declare."""
        found = _call(self.compute, inputs)
        values: Measured = dict(found) if isinstance(found, Mapping) else {self.metrics[0].key: found}
        declared = [metric.key for metric in self.metrics]
        if undeclared := sorted(set(values) - set(declared)):
            raise InputError(f"{self.name} returns {listed(undeclared)}, which it does not declare; add a Metric")
        return values

    def without_each_identity(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """For each metric, its value without each test identity; nothing where it has no jackknife."""
        return {} if self.jackknife is None else _call(self.jackknife, inputs)


class _Measures(Registry[Measure]):
    def add(self, name: str, item: Measure, source: Any = None) -> None:
        for other in (one for one in self._items.values() if one.name != name):
            _check_apart(item, other)
        super().add(name, item, source)


MEASURES = _Measures("measure", __package__, "marginbench.metrics")
Function = TypeVar("Function", bound=Callable[..., Any])


def measure(
    *metrics: Metric,
    splits: tuple[str, ...] = ("test", "val"),
    version: int = 1,
    jackknife: Callable[..., Mapping[str, Any]] | None = None,
) -> Callable[[Function], Function]:
    """Registers a function that computes metrics. It returns a value per key, or one number for one metric.

    Its parameters name the arrays that it gets (OF_SPLIT, OF_CLASSES). It is called for each of its splits that has
    those without a default; others are optional. Parameters of other names keep their defaults.

    Args:
        metrics: What it computes.
        splits: Of "train", "test" and "val"; none for metrics of the class weights alone.
        version: Raise it when values change: `score --update` then computes the metrics of stored runs again.
        jackknife: Takes arrays in the same way and returns values without each test identity, for intervals.

    Raises:
        InputError: A declaration is wrong, or another measure has a metric of the same key.

    >>> measure(splits=("test",))(len)
    Traceback (most recent call last):
        ...
    datasets._errors.InputError: the measure len declares no metric; write @measure(Metric(…))
    """

    def register(function: Function) -> Function:
        one = Measure(function.__name__, metrics, function, splits, version, jackknife)
        _check(one)
        MEASURES.add(one.name, one, function)
        return function

    return register


def stored(split: str, metric: Metric) -> str:
    """The key of a metric on a split: `test/eer`, or `w_inter` without one."""
    return f"{split}/{metric.key}" if split else metric.key


def _arrays(function: Callable[..., Any]) -> dict[str, bool]:
    """The arrays that a function takes, and whether it needs them; its other parameters have defaults."""
    taken = inspect.signature(function).parameters.values()
    return {one.name: one.default is one.empty for one in taken if one.default is one.empty or one.name in ARRAYS}


def _call(function: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
    return function(**{name: inputs[name] for name in _arrays(function) if name in inputs})


def _check(one: Measure) -> None:
    if not one.metrics:
        raise InputError(f"the measure {one.name} declares no metric; write @measure(Metric(…))")
    functions = [one.compute, *([one.jackknife] if one.jackknife else [])]
    taken = [name for function in functions for name in _arrays(function)]
    for noun, names, known in (("array", taken, ARRAYS), ("split", one.splits, SPLITS)):
        if wrong := sorted(set(names) - set(known)):
            raise InputError(f"{one.name}: there is no {noun} {listed(wrong)}; expected {listed(known)}")


def _check_apart(one: Measure, other: Measure) -> None:
    mine, theirs = one.keys(), other.keys()
    mains = {metric.main: metric for metric in other.metrics if metric.main}
    for key, metric in mine.items():
        alike = [known for known in other.metrics if known.key == metric.key and known != metric]
        if key in theirs or alike:
            raise DuplicateNameError(f"the measures {other.name} and {one.name} both declare {key!r}; rename one")
        if metric.main in mains and mains[metric.main] != metric:
            raise DuplicateNameError(f"{mains[metric.main].key!r} is the main metric of {metric.main} sets already")
