"""Notes that several tables share: what ± is, whose variance it carries, and how losses are tested."""

from collections.abc import Iterable, Mapping

from benchmark.findings.findings import Finding
from benchmark.statistics import CARRIED

PLUS_MINUS = "± is half of the 95 % interval"
PAIRED = (
    "Losses are tested in pairs, by the same seeds and test identities, and corrected for the number of pairs: "
    "two can differ significantly although their intervals overlap."
)


def carried(found: Mapping[tuple[str, str], Finding], dataset: str) -> str:
    """`the seeds and test identities`: what the intervals on a dataset carry; empty where there are none."""
    return _in_words(one.carries for (_, name), one in found.items() if name == dataset)


def _in_words(kinds: Iterable[str]) -> str:
    return " or ".join(f"the {CARRIED[kind]}" for kind in sorted(set(kinds)) if kind)
