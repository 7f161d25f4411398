"""Figures as files: the same figure gives the same bytes, with no version, date or host in them."""

import io
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from benchmark.plots._picture import Picture
from benchmark.plots._style import applied
from benchmark.tables.model import visible
from datasets._files import write_atomically


def save(picture: Picture, folder: Path) -> tuple[Path, Path]:
    """Writes NAME.png and NAME.svg, each whole or not at all."""
    png, svg = folder / f"{picture.name}.png", folder / f"{picture.name}.svg"
    write_atomically(png, as_png(picture.figure))
    write_atomically(svg, as_svg(picture.figure, picture.title, picture.alt))
    return png, svg


def as_png(figure: Figure, dpi: int | None = None) -> bytes:
    """As PNG, with `dpi` dots per inch; by default as many as the report's files have."""
    return _rendered(figure, FigureCanvasAgg, "png", {"Software": None}, dpi)


def as_svg(figure: Figure, title: str = "", description: str = "") -> bytes:
    """As SVG: text stays text, many points are one embedded picture. Title and description are for screen readers."""
    words = {name: visible(text) for name, text in (("Title", title), ("Description", description)) if text}
    return _rendered(figure, FigureCanvasSVG, "svg", {"Creator": None, "Date": None, **words})


def _rendered(figure: Figure, canvas: type[Any], kind: str, metadata: dict[str, Any], dpi: int | None = None) -> bytes:
    content = io.BytesIO()
    before = figure.canvas
    with applied():
        try:
            lay_out(figure)
            canvas(figure)
            figure.savefig(content, format=kind, metadata=metadata, dpi=dpi)
        finally:
            figure.set_canvas(before)
    return content.getvalue()


def lay_out(figure: Figure) -> None:
    """Places everything once, with one canvas: all files of a figure agree, whatever their order."""
    FigureCanvasAgg(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
