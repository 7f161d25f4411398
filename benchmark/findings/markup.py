"""Names in sentences of a page: they come from files, so they are escaped and set apart from the words around them."""

from collections.abc import Sequence

from markupsafe import Markup

from benchmark.tables.model import visible
from benchmark.text import in_words, listed

MOST_NAMED = 6


def named(name: str) -> Markup:
    """A loss."""
    return Markup("<b>{}</b>").format(visible(name))


def on(dataset: str) -> Markup:
    """`On digits,`."""
    return Markup("On <i>{}</i>,").format(visible(dataset))


def joined(parts: Sequence[Markup]) -> Markup:
    """`a, b and c`, of parts that are escaped already."""
    return Markup(listed(parts))


def some_names(names: Sequence[str], rest: str = "others") -> Markup:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMED:
        return joined([named(name) for name in names])
    first = [named(name) for name in names[: MOST_NAMED - 1]]
    return joined([*first, Markup("{} {}").format(in_words(len(names) - len(first)), rest)])
