"""The front page of the reference."""

from collections.abc import Iterator

from docs.generate import api
from docs.generate.markdown import bullets, page, toctree

PAGES = {
    "experiment-file": "[Experiment file](experiment-file.md): every key, with its default and meaning.",
    "command-line": "[Command line](command-line.md): every command and option.",
    "metrics": "[Metrics](metrics.md): what is measured, and where.",
    "api": "[Python API](api.md): losses, datasets, metrics and statistics.",
}


def pages() -> Iterator[tuple[str, str | bytes]]:
    also = "Components: [losses](../losses/index.md), [paper tables](../papers/index.md), [claims](../claims/index.md)."
    yield "reference/index.md", page("Reference", bullets(PAGES.values()), also, toctree(PAGES))
    yield "reference/api.md", page("Python API", api.INTRODUCTION, bullets(api.links()), toctree(api.names()))
