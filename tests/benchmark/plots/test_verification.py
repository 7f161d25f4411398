"""ROC and DET curves."""

import numpy as np
import pytest

from benchmark import metrics
from benchmark.plots import roc
from benchmark.plots._style import looks
from tests.benchmark.plots.seen import faults


def run(seed: int, n: int = 400, spread: float = 1.2) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n // 10), 10)
    embeddings = random.standard_normal((n // 10, 16))[labels] + spread * random.standard_normal((n, 16))
    pairs = random.integers(0, n - 1, (4000, 2))
    pairs[:1000, 1] = pairs[:1000, 0] // 10 * 10 + random.integers(0, 10, 1000)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return {"test/embeddings": embeddings, "test/pairs": pairs, "test/same": labels[pairs[:, 0]] == labels[pairs[:, 1]]}


def longhand(one: dict[str, np.ndarray], far: float) -> float:
    """The largest share of same pairs that a threshold accepts whose false accept rate is no more than `far`."""
    unit = one["test/embeddings"] / np.linalg.norm(one["test/embeddings"], axis=1, keepdims=True)
    scores = (unit[one["test/pairs"][:, 0]] * unit[one["test/pairs"][:, 1]]).sum(axis=1)
    same, different = scores[one["test/same"]], scores[~one["test/same"]]
    accepted = [(same >= threshold).mean() for threshold in scores if (different >= threshold).mean() <= far]
    return float(max(accepted, default=0.0))


def test_curves_are_averaged_over_seeds_at_equal_false_accept_rate() -> None:
    runs = [run(seed) for seed in range(3)]
    found = roc.rates(runs)
    assert found is not None
    assert found.tar.shape == (3, len(found.far))
    assert found.far[-1] == 1.0
    fewest = min(int((~one["test/same"]).sum()) for one in runs)
    assert found.far[0] == pytest.approx(10 / fewest)
    for place in (0, 20, 60):
        expected = [longhand(one, found.far[place] * (1 + 1e-9)) for one in runs]
        assert found.tar[:, place].tolist() == pytest.approx(expected)
    assert (np.diff(found.tar, axis=1) >= 0).all()


@pytest.mark.parametrize("far", ["1e-1", "1e-2"])
def test_a_curve_goes_through_the_tables_figures(far: str) -> None:
    runs = [run(seed) for seed in range(2)]
    found = roc.rates(runs)
    assert found is not None
    names = ("test/embeddings", "test/pairs", "test/same")
    tables = []
    for one in runs:
        embeddings, pairs, same = (one[name] for name in names)
        tables.append(metrics.verification(embeddings, None, pairs, same)[f"tar@far={far}"])
    assert found.tar_at(float(far)) == pytest.approx(np.mean(tables))


def test_pairs_of_one_kind_only_have_no_curve() -> None:
    one = run(0)
    assert roc.rates([{**one, "test/same": np.ones(len(one["test/same"]), bool)}]) is None
    assert roc.rates([]) is None


def test_the_best_and_the_baseline_stand_in_front_of_the_others() -> None:
    spreads = {"best": 0.9, "base": 1.3, "c": 1.2, "d": 1.1}
    found = {loss: roc.rates([run(seed, spread=spread) for seed in range(3)]) for loss, spread in spreads.items()}
    known = {loss: rates for loss, rates in found.items() if rates is not None}
    look = looks(list(known), "base")
    axes = roc.roc_figure(known, "base", "best", look).axes[0]
    shown = {line.get_label(): line for line in axes.lines}
    assert [label for label in shown if not label.startswith("_")] == [
        "2 other losses", "best (best)", "base (baseline)",
    ]  # fmt: skip
    np.testing.assert_allclose(shown["best (best)"].get_ydata(), known["best"].tar.mean(axis=0))
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(known["best"].tar.min())
    figure = roc.det_figure(known, "base", look)
    assert [panel.get_title() for panel in figure.axes] == ["best", "c", "d"]
    expected = known["c"].frr.mean(axis=0)
    np.testing.assert_allclose(figure.axes[1].lines[-1].get_ydata(), np.where(expected > 0, expected, np.nan))
    assert faults(figure) == []
    assert f"best (best) {100 * known['best'].tar_at(0.01):.1f} %" in roc.finding(known, "base", "best")
    assert "the range of 3 seeds" in roc.caption(known)


def test_axes_end_where_the_curves_do() -> None:
    known = {
        loss: roc.rates([run(seed, spread=spread) for seed in range(2)]) for loss, spread in (("a", 0.9), ("b", 1.3))
    }
    found = {loss: rates for loss, rates in known.items() if rates is not None}
    axes = roc.det_figure(found, "a", looks(list(found), "a")).axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    highest = max(float(rates.frr.max()) for rates in found.values())
    last = max(float(rates.far[rates.frr.max(axis=0) >= bottom].max()) for rates in found.values())
    assert highest < top < 2 * highest
    assert (left, right) == (pytest.approx(found["a"].far[0]), pytest.approx(last))
    axes = roc.roc_figure(found, "a", "a", looks(list(found), "a")).axes[0]
    lowest = min(float(rates.tar.mean(axis=0).min()) for rates in found.values())
    assert lowest - 0.05 < axes.get_ylim()[0] < lowest
