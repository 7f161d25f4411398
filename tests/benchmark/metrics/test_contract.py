"""What every measure promises, those of a newcomer's file included."""

import math

import numpy as np
import pytest

from benchmark import metrics, scoring
from benchmark.errors import InputError
from benchmark.metrics import MEASURES, Metric, measure
from datasets._registry import DuplicateNameError, forget

pytestmark = pytest.mark.contract


def made_up(seed: int, closed: bool = True) -> dict[str, np.ndarray]:
    """The arrays of a run with frequent, medium and rare classes."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((6, 8))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = np.repeat(np.arange(6), 5)
    pairs = np.array([(one, other) for one in range(30) for other in range(one)])
    arrays = {
        "weight": random.standard_normal((6, 8)),
        "bias": random.standard_normal(6),
        "posterior": np.array(1),
        "train/centres": centres,
        "train/counts": np.array([150, 101, 100, 20, 19, 2]),
        "train/mean_angles": random.uniform(0.0, 90.0, 6),
        "train/mean_posteriors": random.uniform(0.0, 1.0, 6),
    }
    for split in ("test", "val"):
        embeddings = centres[labels] + 0.5 * random.standard_normal((30, 8))
        of_split = {"embeddings": embeddings, "labels": labels, "pairs": pairs, "fold": np.arange(len(pairs)) % 5}
        of_split["same"] = labels[pairs[:, 0]] == labels[pairs[:, 1]]
        of_split |= {"logits": embeddings @ centres.T, "seen": labels == 0} if closed else {}
        arrays |= {f"{split}/{name}": value for name, value in of_split.items()}
    return arrays


@pytest.mark.parametrize("name", MEASURES.names())
def test_a_measure_computes_what_it_declares(name: str) -> None:
    one = MEASURES.get(name)
    computed = set()
    for seed in range(3):
        found = scoring.score(made_up(seed), [one])
        assert found.versions == {name: one.version}
        assert found.metrics.keys() <= one.keys().keys()
        assert found.jackknife.keys() <= one.keys().keys()
        for key, value in found.metrics.items():
            low, high = one.keys()[key].range
            assert value is None or low <= value <= high, key
        computed |= found.metrics.keys()
    assert computed == one.keys().keys()


@pytest.mark.parametrize("name", MEASURES.names())
def test_a_measure_describes_its_metrics(name: str) -> None:
    for metric in MEASURES.get(name).metrics:
        assert metric.heading, metric.key
        assert metric.meaning, metric.key
        assert metric.range[0] < metric.range[1], metric.key
        assert metric.unit != "%" or metric.range == (0.0, 1.0), metric.key
        assert metric.key == metric.key.lower(), metric.key


def test_the_keys_of_columns_are_unique_and_known() -> None:
    columns = metrics.columns()
    assert len({column.slug for column in columns}) == len(columns)
    assert {column.key for column in columns} <= set(metrics.keys())
    assert len({column.heading for column in columns}) == len(columns)


def test_open_sets_get_no_metrics_that_need_training_classes() -> None:
    found = scoring.score(made_up(0, closed=False)).metrics
    assert found["test/accuracy"] is not None
    assert not [key for key in found if "classification" in key or key.endswith("rare") or "ncm" in key]


def test_a_newcomer_comes_last_in_its_table() -> None:
    try:

        @measure(Metric("shortest", "Shortest", "length of the shortest embedding", "", range=(0.0, math.inf)))
        def shortest(embeddings: np.ndarray) -> float:
            return float(np.linalg.norm(embeddings, axis=1).min())

        arrays = made_up(0)
        key = "test/shortest"
        assert scoring.score(arrays).metrics[key] == np.linalg.norm(arrays["test/embeddings"], axis=1).min()
        performance = [column.key for column in metrics.columns() if column.metric.table == "performance"]
        assert performance[-1] == key
        assert metrics.column("val/shortest").heading == "Shortest, val"
    finally:
        forget(__name__)
    assert key not in metrics.keys()  # noqa: SIM118 — it is not a mapping


def of_an_unknown_array(wings: np.ndarray) -> float:
    return 0.0


def of_nothing() -> float:
    return 0.0


@pytest.mark.parametrize(
    ("declared", "options", "function", "said"),
    [
        ((), {}, of_nothing, "declares no metric"),
        ((Metric("a", "A", "a"),), {}, of_an_unknown_array, "there is no array wings; expected embeddings"),
        ((Metric("a", "A", "a"),), {"splits": ("tset",)}, of_nothing, "there is no split tset; expected train"),
        ((Metric("eer", "EER", "another"),), {}, of_nothing, "verification and of_nothing both declare 'test/eer'"),
        ((Metric("a", "A", "a", main="open"),), {}, of_nothing, "'accuracy' is the main metric of open sets already"),
    ],
)
def test_a_wrong_declaration_is_refused(declared: tuple, options: dict, function: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        measure(*declared, **options)(function)
    assert issubclass(DuplicateNameError, InputError)
    assert "of_nothing" not in MEASURES.names()


def test_a_metric_that_is_not_declared_is_refused() -> None:
    one = metrics.Measure("mine", (Metric("a", "A", "a"),), lambda: {"b": 1.0}, ("test",), 1, None)
    with pytest.raises(InputError, match="mine returns b, which it does not declare"):
        one({})


def test_a_column_that_nothing_declares_is_shown_as_it_is() -> None:
    column = metrics.column("test/of-tomorrow")
    assert (column.key, column.heading, column.factor) == ("test/of-tomorrow", "test/of-tomorrow", 1.0)
