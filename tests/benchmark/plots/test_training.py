"""Training curves and what losses adapt."""

import numpy as np
import pandas as pd

from benchmark.plots import adaptation, training
from benchmark.plots._style import looks
from tests.benchmark.plots.seen import faults


def history() -> pd.DataFrame:
    rows = [
        {"loss_label": loss, "dataset": "d", "seed": seed, "diverged": loss == "b" and seed == 1, "epoch": epoch,
         "step": 5 * epoch, "loss": (seed + 1) * base / epoch, "lr": 0.1, "s": 16.0 if loss == "a" else 20.0 - epoch}
        for loss, base in (("a", 2.0), ("b", 4.0))
        for seed in (0, 1)
        for epoch in range(1, 6)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_curves_are_means_over_the_seeds_that_did_not_diverge() -> None:
    axes = training.figure(history(), looks(["a", "b"], "a")).axes[0]
    whole = [line for line in axes.lines if len(line.get_xdata()) == 5 and line.get_linestyle() != ":"]
    of_b, of_a = (line.get_ydata() for line in whole)  # the baseline is drawn last, over the others
    epochs = np.arange(1, 6)
    np.testing.assert_allclose(of_a, 3.0 / epochs)
    np.testing.assert_allclose(of_b, 4.0 / epochs)
    band = axes.collections[1].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (2.0 / 5, 4.0)
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    np.testing.assert_allclose(dotted[0].get_ydata(), 8.0 / epochs)
    assert [line.get_marker() for line in axes.lines if len(line.get_xdata()) == 1] == ["x"]
    assert sorted(text.get_text() for text in axes.texts) == ["a", "b"]
    assert axes.get_yscale() == "log"
    assert training.finding(history()) == "On d, training ends with a at 0.60 (lowest) and b at 0.80 (highest)."
    assert "Dotted lines that end in a cross diverged: 1 run of b on d." in training.caption(history())


def test_a_run_that_blows_up_does_not_flatten_the_others() -> None:
    rows = history()
    rows.loc[rows["diverged"], "loss"] = 1e9
    figure = training.figure(rows, looks(["a", "b"], "a"))
    assert figure.axes[0].get_ylim()[1] < 100
    assert faults(figure) == []


def test_losses_below_zero_are_on_a_plain_scale() -> None:
    rows = history()
    rows["loss"] -= 1.0
    assert training.figure(rows, looks(["a", "b"], "a")).axes[0].get_yscale() == "linear"


def test_only_what_changes_is_drawn() -> None:
    found = adaptation.changing(history())
    assert set(zip(found["loss_label"], found["quantity"], strict=True)) == {("b", "s")}
    axes = adaptation.figure(found, looks(["a", "b"], "a")).axes[0]
    assert axes.get_ylabel() == "scale s"
    np.testing.assert_allclose(axes.lines[-1].get_ydata(), 20.0 - np.arange(1, 6))
    assert adaptation.finding(found) == "On d, b changes scale s from 19 to 15, up to 19 in 1 run that diverged."
    assert "Dotted lines are runs that diverged." in adaptation.caption(found)


def test_nothing_changes_in_one_epoch() -> None:
    assert len(adaptation.changing(history()[history()["epoch"] == 1])) == 0
    assert len(adaptation.changing(history()[["loss_label", "dataset", "seed", "diverged", "epoch", "loss"]])) == 0
