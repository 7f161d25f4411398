"""Small pieces of English. Names come from files, so they are escaped and set apart from the words around them."""

from collections.abc import Sequence

from markupsafe import Markup

from benchmark.tables.model import visible

MOST_NAMED = 6
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def named(name: str) -> Markup:
    """A loss."""
    return Markup("<b>{}</b>").format(visible(name))


def on(dataset: str) -> Markup:
    """`On digits,`."""
    return Markup("On <i>{}</i>,").format(visible(dataset))


def listed(parts: Sequence[Markup], joined_by: str = "and") -> Markup:
    """`a, b and c`."""
    if len(parts) < 2:
        return Markup("").join(parts)
    return Markup("{} {} {}").format(Markup(", ").join(parts[:-1]), joined_by, parts[-1])


def some_names(names: Sequence[str], rest: str = "others") -> Markup:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMED:
        return listed([named(name) for name in names])
    first = [named(name) for name in names[: MOST_NAMED - 1]]
    return listed([*first, Markup("{} {}").format(in_words(len(names) - len(first)), rest)])


def in_words(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def counted(count: int, noun: str) -> str:
    """`one seed`, `5 seeds`."""
    return f"one {noun}" if count == 1 else f"{count:,} {noun}s"


def all_of(count: int, noun: str) -> str:
    """`both datasets`, `all 4 datasets`."""
    return f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"
