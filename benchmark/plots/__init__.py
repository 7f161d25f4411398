"""The report's pictures: one file per plot. A file in this folder that defines a plot adds it.

    for item in draw_all(collected):
        if isinstance(item, Picture):
            save(item, folder)              # a PNG and an SVG file, the same bytes every time

A plot's file has a plain function `figure` from frames and arrays to a matplotlib Figure, which notebooks can call,
and one marked with `@plot` that takes a Context and yields pictures. What cannot be drawn is `Skipped` with the
reason; a plot without any picture raises NothingToDrawError. Files whose names begin with an underscore are shared
by all plots.
"""

from benchmark.plots._context import Arrays, Context, Floats, by_dataset, in_units, intervals_in_words, name_of
from benchmark.plots._files import as_png, as_svg, save
from benchmark.plots._picture import NothingToDrawError, Picture, Skipped, file_name
from benchmark.plots._registry import EACH_APART, PLOTS, Drawn, Plot, draw_all, names, picture_sections, plot
from benchmark.plots._style import Look, looks
