"""Files: the same bytes every time, and nothing in them that does not belong."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from benchmark import metrics
from benchmark.plots import Picture, as_png, as_svg, heatmap, save, tsne

VERIFICATION = metrics.column("test/accuracy")

HOSTILE = '<script>alert("x")</script> & $x_1$ \\frac{'


def standing() -> pd.DataFrame:
    rows = [(HOSTILE, "d", 0.9, True, True), ("b_1^2", "d", 0.8, False, False)]
    return pd.DataFrame(rows, columns=["loss", "dataset", "mean", "best", "tied_with_best"])


def drawn() -> Figure:
    return heatmap.figure(standing(), VERIFICATION)


def scattered() -> Figure:
    random = np.random.default_rng(0)
    found = tsne.place(random.standard_normal((60, 8)), np.repeat(np.arange(3), 20))
    assert found is not None
    return tsne.figure({"a": found})


@pytest.mark.parametrize("make", [drawn, scattered])
def test_drawing_again_gives_the_same_bytes_in_any_order(make: type) -> None:
    first, second = make(), make()
    png, svg = as_png(first), as_svg(first, "title", "caption")
    assert as_svg(second, "title", "caption") == svg
    assert as_png(second) == png
    assert as_png(first) == png


def test_there_is_no_version_date_or_host_in_the_files() -> None:
    svg = as_svg(drawn(), "a title", "a caption").decode()
    assert "<title>a title</title>" in svg
    assert "a caption" in svg
    assert not re.search(r"Matplotlib|dc:date|20\d\d-\d\d-\d\d", svg)
    assert re.findall(rb"(tEXt|iTXt|tIME)", as_png(drawn())) == []


def test_names_are_text_and_no_markup_and_no_mathematics(tmp_path: Path) -> None:
    picture = Picture("p", HOSTILE, f"caption {HOSTILE}", drawn(), "comparison")
    png, svg = save(picture, tmp_path / "new" / "folder")
    assert Image.open(png).size[0] > 300
    root = ElementTree.parse(svg).getroot()
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    shown = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "b_1^2" in shown
    assert HOSTILE[:14] in " ".join(filter(None, shown))  # the long one is shortened
    titles = [element.text for element in root.iter() if element.tag.endswith("title")]
    assert HOSTILE in titles


def test_many_points_are_one_embedded_picture() -> None:
    random = np.random.default_rng(0)
    many = tsne.TsneMap(random.standard_normal((5000, 2)), np.zeros(5000, dtype=np.int64))
    assert len(as_svg(tsne.figure({"a": many}))) < 100_000
