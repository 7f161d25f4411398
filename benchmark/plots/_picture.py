"""A picture with its words, or the reason why there is no picture."""

import hashlib
import re
from dataclasses import dataclass

from matplotlib.figure import Figure

from benchmark.plots._axes_in_words import axes_in_words

SECTIONS = {
    "comparison": "Which loss, and how sure is that",
    "scale": "Scale and margin",
    "gradient": "Exact or detached gradients",
    "verification": "Same or different",
    "geometry": "How classes lie on the sphere",
    "embeddings": "What the embedding space looks like",
    "training": "How training went",
    "losses": "What the losses ask for",
}
"""The parts of a report that pictures belong to, in their order, with their headings; a plot may name another."""

LONGEST_NAME = 60


@dataclass(frozen=True)
class Picture:
    """A figure and its words, which are written from the data."""

    name: str  # of its files: lower-case letters, digits and hyphens
    title: str
    caption: str  # how to read it
    figure: Figure
    section: str
    finding: str = ""  # the main thing to see

    @property
    def words(self) -> str:
        """What stands below the picture."""
        return f"{self.finding} {self.caption}".strip()

    @property
    def alt(self) -> str:
        """What someone who cannot see the picture must know: title, axes, what is drawn, and the main thing to see."""
        return " ".join(filter(None, [f"{self.title}.", axes_in_words(self.figure), self.finding or self.caption]))


@dataclass(frozen=True)
class Skipped:
    """A picture that is not drawn, and why."""

    name: str
    title: str
    reason: str
    section: str


class NothingToDrawError(Exception):
    """Raised in a plot that has no picture at all, with the reason."""


def file_name(plot: str, *labels: str) -> str:
    """`roc-digits`: letters, digits and hyphens whatever the labels hold, and different for different labels."""
    plain = "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in (plot, *labels))
    if plain == "-".join((plot, *labels)) and len(plain) <= LONGEST_NAME:
        return plain
    mark = hashlib.sha256("\0".join(labels).encode(errors="replace")).hexdigest()[:6]
    return f"{plain[:LONGEST_NAME].strip('-')}-{mark}"
