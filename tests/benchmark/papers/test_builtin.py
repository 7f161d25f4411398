"""Every shipped paper file: it parses, every column has its source, and its cells expand at every scale."""

import csv
import io
import itertools
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import datasets
import losses
from benchmark import papers, spec
from benchmark.papers.comparison import _published_effect
from benchmark.papers.data_check import missing_data, refusal, supply_of
from benchmark.papers.paper import shown_as
from benchmark.papers.setting import differences, unknown
from benchmark.tables import as_csv

NAMES = papers.names()
FULL = [name for name in NAMES if "full" in papers.load(name).scales]
SCALES = [(name, scale) for name in NAMES for scale in papers.load(name).scales]
MAKEFILE = Path(__file__).parents[3] / "Makefile"


def test_each_has_its_target() -> None:
    targets = re.search(r"^TABLES := (.*)$", MAKEFILE.read_text(), re.MULTILINE)
    assert targets is not None
    assert sorted(targets[1].split()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_published_figure_has_a_source_that_can_be_looked_up(name: str) -> None:
    paper = papers.load(name)
    published = [one for row in paper.rows for one in row.published.values()]
    assert published
    for one in published:
        assert one.source in paper.sources
        assert one.source.paper
        assert one.source.link.startswith("https://")
        assert "quoted" not in one.source.in_words.replace("2nd-hand", "") or one.source.second_hand
    assert {one.source for one in published} == set(paper.sources)


def test_published_differences_are_within_a_source_or_say_why() -> None:
    """CosFace's 99.33 is its own net's, the 99.08 beside it another's re-run: nobody published their difference."""
    mixed = {}
    for name in NAMES:
        paper = papers.load(name)
        for effect, measured in itertools.product(paper.effects, paper.scales["cpu"].measured):
            found, remark = _published_effect(paper, effect, measured)
            if remark:
                mixed[effect.row, effect.than] = (len(found), remark)
    assert set(mixed) == {
        ("cosface s=64 m=.35", "cosface s=30 m=.35"),
        ("normface s=20", "normface s=64"),
        ("arcgrad", "softmax"),
        ("kappaface m0=.8", "arcface m=.5"),
    }
    assert mixed["cosface s=64 m=.35", "cosface s=30 m=.35"][0] == 0
    assert "another head" in mixed["arcgrad", "softmax"][1]


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_no_two_columns_of_a_csv_file_have_one_name(name: str, scale: str) -> None:
    """Runs are made up: what is looked at is the layout, of full scale too."""
    paper = papers.load(name)
    measured = paper.scales[scale].measured
    runs = pd.DataFrame(
        {"loss": loss.label, "dataset": shown, "seed": seed}
        for loss in paper.scales[scale].experiment.losses
        for dataset in paper.scales[scale].experiment.datasets
        for _, shown in shown_as(dataset)
        for seed in range(5)
    ).assign(**{one.metric: np.random.default_rng(0).random() for one in measured})
    comparison = papers.compare_with_published(paper, paper.scales[scale], runs)
    for table in papers.tables(comparison, sources=True):
        names = next(csv.reader(as_csv(table).splitlines()))
        assert len(set(names)) == len(names), names


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_its_cells_expand(name: str, scale: str) -> None:
    paper = papers.load(name)
    experiment = paper.scales[scale].experiment
    cells = experiment.cells()
    assert len(cells) == len(experiment.datasets) * len(experiment.losses) * len(experiment.seeds)
    assert {cell.loss for cell in cells} <= set(losses.names())
    assert {cell.dataset["name"] for cell in cells} <= set(datasets.names())
    assert experiment.name == f"table-{name}-{scale}"
    assert spec.load(experiment.name).cells() == cells
    assert {effect.row for effect in paper.effects} <= {row.label for row in experiment.losses}


@pytest.mark.parametrize("name", NAMES)
def test_cpu_scale_is_fair_and_fits_a_quarter_of_an_hour_on_two_cores(name: str) -> None:
    experiment = papers.load(name).scales["cpu"].experiment
    assert len(experiment.seeds) == 5
    seconds = spec.estimate_seconds(experiment.cells())
    assert None not in seconds
    assert sum(one or 0 for one in seconds) / 2 < 15 * 60


def test_all_cpu_tables_fit_an_hour_and_a_half_on_two_cores() -> None:
    cells = [cell for name in NAMES for cell in papers.load(name).scales["cpu"].experiment.cells()]
    assert sum(one or 0 for one in spec.estimate_seconds(cells)) / 2 < 90 * 60


@pytest.mark.parametrize("name", NAMES)
def test_every_table_has_something_to_train_on_without_a_download(name: str) -> None:
    for scale in ("smoke", "cpu"):
        sets = {row.name for row in papers.load(name).scales[scale].experiment.datasets}
        assert sets & {"digits", "glyphs", "glyphs_closed"}


@pytest.mark.parametrize("name", NAMES)
def test_each_cpu_table_says_how_it_differs(name: str) -> None:
    paper = papers.load(name)
    assert len(differences(paper, paper.scales["cpu"])) >= 3
    assert paper.scales["cpu"].note


def test_a_scale_that_measures_nothing_says_why() -> None:
    without = [papers.load(name) for name in NAMES if name not in FULL]
    assert [paper.name for paper in without] == ["timm-face"]
    assert "no ViT with patches of 8 pixels" in without[0].published_only["full"]
    with pytest.raises(ValueError, match="timm-face at scale full: nothing is measured, because this suite has no ViT"):
        papers.measured_at("full", without)


@pytest.mark.parametrize("name", FULL)
def test_every_published_figure_is_measured_at_full_scale_or_says_why_not(name: str) -> None:
    paper = papers.load(name)
    scale = paper.scales["full"]
    measured = [column for one in scale.measured for column in one.beside]
    reasons = [column for one in scale.unmeasured for column in one.columns]
    assert sorted(set(measured) | set(reasons)) == sorted(column.name for column in paper.columns)


@pytest.mark.parametrize("scale", spec.SCALES)
def test_known_differences_are_said_at_every_scale(scale: str) -> None:
    adaacos, adacos, cosface = (papers.load(name) for name in ("adaacos", "adacos", "cosface"))
    pixels = "normalisation of pixels: by .5 and .5, whatever the data there, by the training images'"
    assert any(one.startswith(pixels) for one in differences(adaacos, adaacos.scales[scale]))
    assert any(one.startswith("schedule: cosine, down to .001") for one in differences(adacos, adacos.scales[scale]))
    assert any(one.startswith("net: Sphere20 in the re-run") for one in differences(cosface, cosface.scales[scale]))
    assert any(one.startswith("optimiser, ") for one in unknown(cosface, cosface.scales[scale]))


def test_the_margin_that_was_tuned_is_told_as_it_is_trained() -> None:
    for scale in papers.load("adaacos").scales.values():
        tuned = next(loss for loss in scale.experiment.losses if loss.label == "arcface, margin tuned")
        assert f"{tuned.hyper['m']}".lstrip("0") in scale.note


def test_another_name_of_a_loss_is_told() -> None:
    shown = papers.load("adacos").row("cosface").published["AgeDB, FaceX-Zoo"].source.in_words
    assert "am-softmax" in shown


def test_published_and_measured_on_different_data_are_never_subtracted() -> None:
    """At cpu scale the published data is on hand for Omniglot alone."""
    for name in NAMES:
        paper = papers.load(name)
        scale = paper.scales["cpu"]
        same = {
            (column.name, measured.metric)
            for column in paper.columns
            for measured in scale.measured
            if scale.on_same_data(column, measured)
        }
        accuracies = {
            ("Omniglot acc@1", "test/classification_accuracy"),
            ("Omniglot acc@5", "test/classification_top5_accuracy"),
        }
        assert same == (accuracies if name == "adacos" else set())


@pytest.mark.parametrize("name", ["arcface", "arcface-angles", "cosface", "sphereface", "kappaface"])
def test_full_scale_of_faces_is_one_training_for_all_test_sets(name: str) -> None:
    paper = papers.load(name)
    scale = paper.scales["full"]
    assert [row.name for row in scale.experiment.datasets] == ["faces"]
    beside = [(column, one) for one in scale.measured for column in one.beside]
    assert beside
    for column, one in beside:
        assert scale.on_same_data(paper.column(column), one)


@pytest.mark.parametrize("name", FULL)
def test_full_scale_lists_all_that_is_missing_and_how_to_get_it(name: str, tmp_path: Path) -> None:
    paper = papers.load(name)
    scale = paper.scales["full"]
    labels = [row.label for row in scale.experiment.datasets]
    supply = supply_of(paper, scale, tmp_path)
    assert list(supply.absent) == labels
    assert supply.too_little
    message = refusal([supply])
    assert "nothing was started" in message
    for label in labels:
        assert label in message
    assert str(tmp_path) in message
    for own in scale.own_data.values():
        assert own.get in message
    assert scale.own_data or "To get it" in message


def png(pixels: np.ndarray) -> bytes:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


def test_a_pack_of_faces_is_there_once_it_has_its_pairs(tmp_path: Path) -> None:
    scale = papers.load("arcface-angles").scales["full"]
    pack = tmp_path / "faces_webface_112x112"
    faces = np.random.default_rng(0).integers(0, 256, (20, 3, 16, 16, 3), dtype=np.uint8)
    for person, images in enumerate(faces):
        folder = pack / f"person{person:02d}"
        folder.mkdir(parents=True)
        for number, pixels in enumerate(images, 1):
            (folder / f"{number:04d}.png").write_bytes(png(pixels))
    message = missing_data(scale, tmp_path, ["casia"])["casia"]
    assert str(pack / "lfw.bin") in message
    assert "insightface's dataset zoo" in message
    both = [png(one) for person in range(6) for one in (faces[person, 0], faces[(person + person % 2) % 20, 1])]
    (pack / "lfw.bin").write_bytes(pickle.dumps((both, [person % 2 == 0 for person in range(6)]), protocol=2))
    assert missing_data(scale, tmp_path, ["casia"]) == {}


def test_an_empty_folder_of_faces_is_missing_data(tmp_path: Path) -> None:
    """Whoever has made the folder still needs to be told what goes into it."""
    scale = papers.load("arcface-angles").scales["full"]
    (tmp_path / "faces_webface_112x112").mkdir()
    message = missing_data(scale, tmp_path, ["casia"])["casia"]
    assert scale.own_data["casia"].get in message
    assert str(tmp_path / "faces_webface_112x112") in message


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(ValueError, match="there is no paper 'arcfase'; did you mean 'arcface'"):
        papers.load("arcfase")
