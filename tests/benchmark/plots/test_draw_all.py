"""Every picture of whole experiments: sound ones, sick ones, small and large ones."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib.text import Text

from benchmark.cell import Cell
from benchmark.plots import Context, Picture, Skipped, draw_all, names, picture_sections, plot, save
from benchmark.plots._registry import EACH_APART, PLOTS
from tests.benchmark.plots.made import BOTH, LOSSES, made
from tests.benchmark.plots.seen import faults, is_empty

DRAWN_FROM_RESULTS = (
    *(
        "forest",
        "heatmap",
        "roc",
        "det",
        "angles",
        "geometry",
        "tsne",
        "target-logits",
        "pulls",
        "loss_shapes",
        "circle",
    ),
    *("loss_shapes", "sphere", "critical", "gradient", "margin", "scale", "sensitivity"),
)
HOSTILE = '<script>alert("x")</script> $x_1$ & \\alpha^2 %'
LONG = "a very long label for a loss with many settings s=16 m=0.25 gradient=detached "


def parts(drawn: list[Picture | Skipped]) -> tuple[dict[str, Picture], dict[str, Skipped]]:
    pictures = {item.name: item for item in drawn if isinstance(item, Picture)}
    return pictures, {item.name: item for item in drawn if isinstance(item, Skipped)}


def check(pictures: dict[str, Picture]) -> None:
    """No empty panel, no text over another or cut off, and words about everything."""
    for name, picture in pictures.items():
        assert picture.section in picture_sections()
        assert picture.title
        assert len(picture.caption) > 50
        assert "nan" not in picture.words.lower().split()
        assert (picture.finding or picture.caption) in picture.alt
        assert picture.alt.startswith(f"{picture.title}. ")
        smallest = min(text.get_fontsize() for text in picture.figure.findobj(Text) if text.get_text())
        assert smallest >= 8, name  # points
        assert picture.figure.axes, name
        assert not [axes for axes in picture.figure.axes if is_empty(axes)], name
        found = faults(picture.figure)
        if name.startswith(("circle", "sphere")):  # there, numbers stand where the classes are
            found = [fault for fault in found if "lies over" not in fault]
        assert found == [], name


@pytest.mark.contract
def test_plots_come_in_the_order_of_their_sections() -> None:
    order, plots = list(picture_sections()), [PLOTS.get(name) for name in names()]
    assert sorted(names()) == PLOTS.names()
    places = [(order.index(one.section), one.place) for one in plots]
    assert places == sorted(places)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(made(tmp_path_factory.mktemp("sound"), seeds=2), "test/accuracy")


@pytest.mark.contract
@pytest.mark.parametrize("name", names())
def test_every_plot_draws_a_sound_experiment_or_says_why_not(name: str, sound: Context) -> None:
    pictures, skipped = parts(list(PLOTS.get(name).draw(sound)))
    assert pictures or skipped
    check(pictures)
    assert all(len(item.reason) > 15 and item.title for item in skipped.values())


def test_a_sound_experiment_has_every_picture(sound: Context) -> None:
    both = ("closed-set-f7684c", "open-set-76ba65")
    expected = {name: [name] for name in ("forest", "heatmap", "geometry", "training", "adaptation")}
    for plot_name, kinds in {"roc": ("roc", "det"), "loss_shapes": ("target-logits", "pulls")}.items():
        expected[plot_name] = [f"{kind}-{one}" for one in both for kind in kinds]
    expected |= {name: [f"{name}-{one}" for one in both] for name in ("angles", "tsne")}
    drawn = {name: parts(list(PLOTS.get(name).draw(sound)))[0] for name in expected}
    assert all(picture.finding for pictures in drawn.values() for picture in pictures.values())
    assert {name: sorted(pictures) for name, pictures in drawn.items()} == {
        name: sorted(pictures) for name, pictures in expected.items()
    }


def test_what_a_sound_experiment_lacks_is_not_drawn(sound: Context) -> None:
    maps = ["scale", "margin_effect", "scale_margin", "gradient"]
    expected = ["critical_difference", "sensitivity", *maps, "circle", "sphere"]
    found = {name: parts(list(PLOTS.get(name).draw(sound))) for name in expected}
    assert [name for name, (pictures, skipped) in found.items() if not pictures and list(skipped) == [name]] == expected
    reason = found["critical_difference"][1]["critical_difference"].reason
    assert reason == "2 datasets are too few to separate 4 losses by rank; 3 are needed"


def test_an_alternative_text_names_panels_axes_rows_and_lines(sound: Context) -> None:
    (forest,) = PLOTS.get("forest").draw(sound)
    (training,) = PLOTS.get("training").draw(sound)
    assert isinstance(forest, Picture)
    assert isinstance(training, Picture)
    assert "3 panels: closed set, open set and all datasets." in forest.alt
    assert "Horizontal axis: difference from normface s=16, percentage points (right is better)." in forest.alt
    rows = forest.alt.partition("Rows: ")[2].partition(". ")[0]
    assert all(loss in rows for loss in ("softmax", "arcface m=0.3 s=16", "adacos"))
    assert "Vertical axis: training loss. Labelled: softmax, arcface" in training.alt


def test_two_and_three_dimensions_are_drawn_as_they_are(tmp_path: Path) -> None:
    pictures, skipped = parts(list(draw_all(made(tmp_path, LOSSES[:2], BOTH, dim=[2, 3], seeds=1))))
    for kind in ("circle", "sphere"):
        assert sum(name.startswith(f"{kind}-") for name in pictures) == 2
    assert sum(name.startswith("tsne") for name in skipped) == 4
    check({name: picture for name, picture in pictures.items() if name.startswith(("circle", "sphere"))})


def is_sick(cell: Cell) -> bool:
    return cell.dataset_label == "closed set" or cell.loss == "adacos" or (cell.loss == "softmax" and cell.seed == 0)


SICK: dict[str, dict[str, Any]] = {
    "one loss, one dataset, one seed": {"losses": ["softmax"], "datasets": BOTH[:1], "seeds": 1, "baseline": "softmax"},
    "a dataset without a result": {"diverged": is_sick, "missing": lambda cell: cell.loss == "arcface" and cell.seed},
    "every run diverged": {"diverged": lambda cell: True},
    "no baseline": {"missing": lambda cell: cell.loss == "normface", "datasets": BOTH[1:], "seeds": 1},
    "no run": {"missing": lambda cell: True},
    "one run": {"missing": lambda cell: (cell.loss, cell.seed, cell.dataset_label) != ("softmax", 1, "open set")},
}


@pytest.mark.parametrize("what", SICK)
def test_what_cannot_be_drawn_is_told_and_the_rest_is_drawn(tmp_path: Path, what: str) -> None:
    pictures, skipped = parts(list(draw_all(made(tmp_path, **SICK[what]))))
    check(pictures)
    assert all(picture.finding for picture in pictures.values())
    for item in skipped.values():
        assert len(item.reason) > 15
        assert item.title
    if what == "no run":
        assert list(skipped) == names()
    if what == "every run diverged":
        assert {"adaptation", "training"} <= set(pictures)
        assert not [name for name in pictures if name.startswith(DRAWN_FROM_RESULTS)]
    if what == "no baseline":
        assert "the baseline, normface s=16, has no run" in skipped["forest"].reason
        assert "Not drawn: normface s=16 has no run" in pictures["roc-open-set-76ba65"].caption
    if what == "a dataset without a result":
        assert "every run of adacos diverged" in pictures["roc-open-set-76ba65"].caption
        assert "seed 0 (of softmax seed 1, since" in pictures["tsne-open-set-76ba65"].caption


def test_twenty_four_losses_with_long_labels_stay_readable(tmp_path: Path) -> None:
    many = [{"arcface": {"m": round(0.02 * i, 2)}, "label": f"{LONG if i % 3 else 'arcface m='}{i}"} for i in range(22)]
    pictures, _ = parts(list(draw_all(made(tmp_path, ["softmax", "normface", *many], BOTH[1:], seeds=1))))
    check(pictures)


def test_more_rows_than_can_be_told_apart_are_not_drawn_each_by_itself(tmp_path: Path) -> None:
    many = [{"arcface": {"m": round(0.01 * i, 2)}} for i in range(EACH_APART)]
    pictures, skipped = parts(list(draw_all(made(tmp_path, ["normface", *many], BOTH[:1], seeds=1))))
    assert skipped["roc"].reason == "49 rows are too many for one picture; it can show 48"
    assert {"angles", "geometry", "training", "adaptation", "loss_shapes"} <= set(skipped)
    assert "heatmap" in pictures


def test_hostile_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    odd = [{"softmax": None, "label": HOSTILE}, {"normface": None, "label": "日本 $\\frac{1}"}]
    sets = [{"digits": None, "label": HOSTILE}, {"glyphs": {"classes": 20}, "label": "../../etc/passwd"}]
    collected = made(tmp_path, odd, sets, seeds=2, baseline="日本 $\\frac{1}")
    pictures, _ = parts(list(draw_all(collected)))
    assert pictures
    whole = ""
    for picture in pictures.values():
        for path in save(picture, tmp_path / "figures"):
            assert path.parent == tmp_path / "figures"
            if path.suffix == ".svg":
                tree = ElementTree.parse(path)
                assert not [one for one in tree.iter() if one.tag.endswith(("script", "foreignObject"))]
                whole += "".join(tree.getroot().itertext())
    assert HOSTILE in whole
    assert "日本 $\\frac{1}" in whole


@pytest.fixture
def newcomers() -> Iterator[None]:
    """A plot in a section that there is, and one in a section of its own."""
    for name, section in (("newcomer", "geometry"), ("stranger", "Zebras")):

        def draw(context: Context, name: str = name, section: str = section) -> Any:
            yield Skipped(name, "New", f"{len(context.losses)} losses", section)

        draw.__module__ = f"benchmark.plots.{name}"
        plot("New", section, place=999)(draw)
    yield
    for name in ("newcomer", "stranger"):
        PLOTS.forget(f"benchmark.plots.{name}")


def test_a_function_marked_as_a_plot_is_drawn_with_the_others(tmp_path: Path, newcomers: None) -> None:
    in_section = [name for name in names() if PLOTS.get(name).section == "geometry"]
    assert in_section[-1] == "newcomer"
    assert names()[-1] == "stranger"
    _, skipped = parts(list(draw_all(made(tmp_path, LOSSES[:2], BOTH[:1], seeds=1))))
    assert skipped["newcomer"].reason == skipped["stranger"].reason == "2 losses"


def test_a_section_that_only_a_plot_names_comes_last_under_its_own_name(newcomers: None) -> None:
    assert list(picture_sections().items())[-1] == ("Zebras", "Zebras")


def test_a_user_s_settings_are_neither_used_nor_changed(tmp_path: Path) -> None:
    collected = made(tmp_path, LOSSES[:2], BOTH[:1], seeds=2)
    draw: Callable[[str], bytes] = lambda name: save(  # noqa: E731
        next(item for item in draw_all(collected) if isinstance(item, Picture) and item.name == "heatmap"),
        tmp_path / name,
    )[0].read_bytes()
    usual = draw("usual")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "savefig.dpi": 30, "text.usetex": True}):
        before = dict(matplotlib.rcParams)
        assert draw("odd") == usual
        assert dict(matplotlib.rcParams) == before
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == []
