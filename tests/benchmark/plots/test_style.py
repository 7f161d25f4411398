"""Looks, labels and places."""

import string
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

import losses
from benchmark.plots import by_dataset
from benchmark.plots._picture import file_name
from benchmark.plots._style import (
    BETTER,
    COLOURS,
    GREY,
    INK,
    OF_CLASSES,
    WORSE,
    applied,
    in_order,
    label_at_right,
    looks,
    panels,
    short,
    short_names,
    spread,
    wrapped,
)


def test_twenty_eight_losses_look_different_and_the_baseline_is_black() -> None:
    names = [f"loss {i}" for i in range(29)]
    found = looks(names, "loss 3")
    assert found["loss 3"].colour == INK
    others = [found[loss] for loss in names if loss != "loss 3"]
    assert len({(look.colour, str(look.dashes)) for look in others}) == 28
    assert all(look.colour != INK for look in others)
    assert all(a.colour != b.colour and str(a.dashes) != str(b.dashes) for a, b in pairwise(others))


def test_a_loss_has_the_same_look_in_every_experiment() -> None:
    few = looks(["arcface", "cosface"], "normface")
    named = {"arcface (tuned)": "arcface", "adaface": "adaface", "cosface": "cosface", "softmax": "softmax"}
    many = looks(named, "softmax", named)
    assert many["arcface (tuned)"] == few["arcface"]
    assert many["cosface"] == few["cosface"]
    twice = looks(["arcface m=0.1", "arcface m=0.3"], "", dict.fromkeys(["arcface m=0.1", "arcface m=0.3"], "arcface"))
    assert twice["arcface m=0.1"] == few["arcface"]
    assert twice["arcface m=0.3"].colour != few["arcface"].colour


def test_all_losses_look_different() -> None:
    found = looks(losses.names(), "")
    assert len({(found[name].colour, str(found[name].dashes)) for name in losses.names()}) == len(losses.names())


def test_datasets_come_in_natural_order_and_all_of_them_last() -> None:
    names = ["glyphs-1000", "all datasets", "glyphs-300", "digits", "glyphs-100"]
    assert sorted(names, key=in_order) == ["digits", "glyphs-100", "glyphs-300", "glyphs-1000", "all datasets"]


def test_equal_words_about_datasets_are_said_once() -> None:
    words = {"b-100": "same", "all datasets": "same", "b-20": "same", "a": "other"}
    assert by_dataset(words) == "On a, other. On b-20 and b-100 and over all datasets, same."


def luminance(rgb: np.ndarray) -> float:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("colour", [INK, GREY, BETTER, WORSE, *COLOURS])
def test_colours_stand_out_from_the_paper_in_the_light_and_in_the_dark_theme(colour: str) -> None:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    # What the page's style does in the dark: invert(0.9) hue-rotate(180deg).
    turn = np.array([[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]])
    dark, dark_paper = ((turn @ (0.9 - 0.8 * one)).clip(0, 1) for one in (rgb, np.ones(3)))
    for ink, paper in ((rgb, np.ones(3)), (dark, dark_paper)):
        bright, deep = sorted((luminance(ink), luminance(paper)), reverse=True)
        assert (bright + 0.05) / (deep + 0.05) > 2.3


def deuteranope(colour: str) -> np.ndarray:
    """A colour as someone without green cones sees it (Machado, Oliveira and Fernandes, 2009), in linear RGB."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])
    return np.asarray(seen @ linear)


@pytest.mark.parametrize("palette", [COLOURS, OF_CLASSES])
def test_a_colour_blind_reader_can_tell_the_colours_apart(palette: tuple[str, ...]) -> None:
    seen = np.array([np.cbrt(deuteranope(colour).clip(0)) for colour in palette])
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + 9 * np.eye(len(seen))
    assert apart.min() > 0.1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=24))
def test_labels_are_spread_within_the_panel_in_their_order(wanted: list[float]) -> None:
    gap = 0.04
    found = spread(wanted, gap)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(found[order]) >= gap - 1e-9).all()
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9


def test_labels_with_room_stay_where_they_belong() -> None:
    assert spread([0.9, 0.1, 0.5], 0.1).tolist() == pytest.approx([0.9, 0.1, 0.5])
    assert spread([0.5, 0.5], 0.1).tolist() == pytest.approx([0.45, 0.55])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_name_at_the_right_has_a_line_to_its_point(scale: str) -> None:
    with applied():
        figure, (axes,) = panels(1, 2.0)
        axes.set_yscale(scale)
        axes.plot([0, 1], [1.0, 100.0])
        label_at_right(axes, {"a": (1.0, 100.0), "b": (0.0, 1.0)}, 0.1)
        FigureCanvasAgg(figure).draw()
        for text, point in zip(axes.texts, [(1.0, 100.0), (0.0, 1.0)], strict=True):
            there = axes.transAxes.transform(text.xy)
            assert there == pytest.approx(axes.transData.transform(point), abs=0.5)


@given(st.lists(st.text(max_size=60), min_size=1, max_size=12, unique=True))
def test_short_names_are_short_printable_and_different(labels: list[str]) -> None:
    found = short_names(labels, 20)
    assert list(found) == labels
    assert len(set(found.values())) == len(labels)
    assert all(len(name) <= 24 and "\n" not in name for name in found.values())


def test_the_end_of_a_long_label_is_kept() -> None:
    assert short("arcface s=16 m=0.3", 24) == "arcface s=16 m=0.3"
    assert short("arcface with a long remark s=16 m=0.3", 20) == "arcface wi…=16 m=0.3"
    assert len(wrapped("long " * 100, 20).splitlines()) == 3


@given(st.text(max_size=90), st.text(max_size=90))
def test_file_names_are_safe_and_tell_labels_apart(one: str, other: str) -> None:
    found = file_name("roc", one)
    assert set(found) <= set(string.ascii_lowercase + string.digits + "-")
    assert found.startswith("roc")
    assert len(found) < 80
    assert (file_name("roc", other) == found) == (one == other)


def test_plain_labels_give_plain_file_names() -> None:
    assert file_name("roc", "digits") == "roc-digits"
    assert file_name("roc", "../../etc/passwd").startswith("roc-etc-passwd-")


def test_panels_are_as_many_as_asked_for() -> None:
    for count in (1, 2, 5, 7, 13, 24):
        figure, axes = panels(count, 1.0)
        assert len(axes) == count == len(figure.axes)
