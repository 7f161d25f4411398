"""Writes the results that README.md and docs/what-we-found.md quote, from the files in results/reference.

    python -m docs.answer            # prints every block
    python -m docs.answer --write    # puts each block between its two comments, in both pages

A test compares the pages with these files.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from csv import DictReader
from dataclasses import dataclass
from pathlib import Path

from benchmark.text import in_words, listed, number
from datasets._files import write_atomically

CLONE = Path(__file__).resolve().parents[1]
REFERENCE = CLONE / "results" / "reference"
PAGES = (CLONE / "README.md", CLONE / "docs" / "what-we-found.md")
NO_BREAK = "\N{NO-BREAK SPACE}"
WITHOUT_MARGIN = "normface"
LOSS, MARGIN = "arcface", "0.3"  # the example that shows what a margin adds at a small and at a large scale


@dataclass(frozen=True)
class Entry:
    """A loss on a dataset, as the main table shows it."""

    loss: str
    text: str  # `95.99 ± 0.64`
    mean: float
    tied: bool  # the best, or not significantly different from the best


def default_answer() -> str:
    digits, glyphs = main_table(REFERENCE / "default" / "table.md").values()
    where = "On letters that were never seen in training,"
    return (
        f"**Which loss?** {in_words(len(glyphs)).capitalize()} losses were compared after the same tuning budget for "
        f"each. {_compared(where, 'verification', glyphs)} {_on_digits(digits)}"
    )


def margin_answer() -> str:
    small, large = margin_effects()
    return (
        f"**Scale or margin?** What a margin adds depends on the scale. {LOSS} with m = {MARGIN} minus "
        f"{WITHOUT_MARGIN} at the same scale is {small} points at s = 4 and {large} points at s = 64 (five datasets)."
    )


def scale_answer() -> str:
    low, high, means = letters_by_scale()
    return (
        f"**What does the scale do?** With 300 letters, {WITHOUT_MARGIN} reaches {means[WITHOUT_MARGIN, low]} % at "
        f"s = {low} and {means[WITHOUT_MARGIN, high]} % at s = {high}; {LOSS} with m = {MARGIN} reaches "
        f"{means[LOSS, low]} % and {means[LOSS, high]} %."
    )


def best_scale_answer() -> str:
    chosen = best_scales()
    scales = listed(sorted({scale for _, scale in chosen}, key=float)).replace(" and ", " or ")
    losses = len({loss for loss, _ in chosen})
    return (
        f"**Which scale?** With 100, 300 and 1,000 letters, validation data chose s = {scales} for all "
        f"{in_words(losses)} losses."
    )


def claims_answer() -> str:
    found = verdicts()
    return (
        f"**Do the papers' claims hold on small data?** Of {sum(found.values())} tests, {found['supported']} support "
        f"a claim, {found['refuted']} refute one and {found['not decided']} do not decide."
    )


def answer() -> str:
    """The five lines of the README."""
    lines = (default_answer, margin_answer, scale_answer, best_scale_answer, claims_answer)
    return "\n".join(f"- {line()}" for line in lines)


def default_table() -> str:
    """Every loss on both datasets, the lowest average rank first."""
    rows = _rows(REFERENCE / "default" / "table.md")
    head = "| loss | digits, % | letters, % | average rank |"
    lines = [f"| {_loss(row[0])} | {row[1]} | {row[2]} | {row[3]} |" for row in rows]
    return "\n".join([head, "|:---|---:|---:|---:|", *lines])


def before_tuning() -> str:
    """How the order of losses on letters changed."""
    before = main_table(REFERENCE / "default" / "before-tuning.md")["glyphs"]
    after = main_table(REFERENCE / "default" / "table.md")["glyphs"]
    ranked = sorted(before, key=lambda entry: -entry.mean)
    last = ranked[-1]
    behind = number(ranked[0].mean - last.mean, 1)
    now = next(entry for entry in after if entry.loss == last.loss)
    gap = number(max(entry.mean for entry in after) - now.mean, 1)
    return (
        f"Before tuning, with the papers' margins and `s=auto`, {listed([one.loss for one in ranked[:3]])} led on "
        f"letters and {last.loss} was last, {behind} points behind. After tuning, {last.loss} is {gap} points behind "
        f"the best."
    )


def claims_table() -> str:
    """Claims by datasets, with links to the claims' pages."""
    rows = _rows(REFERENCE / "claims" / "ledger.md")
    names = ("10 classes", "100", "300", "1,000", "10, long-tailed", "200, long-tailed", "300, 64 to 512 dimensions")
    lines = [f"| claim | {' | '.join(names)} |", f"|:---{'|:---' * len(names)}|"]
    for claim, *found in rows:
        words = [re.sub(r"^[✓✗?] ", "", verdict).replace("refuted", "**refuted**") for verdict in found]
        lines.append(f"| [{claim}](claims/{claim.split()[0]}.md) | {' | '.join(words)} |")
    return "\n".join(lines)


BLOCKS: Mapping[str, Callable[[], str]] = {
    "answer": answer,
    "default table": default_table,
    "before tuning": before_tuning,
    "claims table": claims_table,
}


def main_table(file: Path) -> dict[str, list[Entry]]:
    """The entries of a main table, by dataset."""
    return {"digits": list(_entries(file, 1)), "glyphs": list(_entries(file, 2))}


def margin_effects() -> tuple[str, str]:
    """What the margin adds over all datasets, at the smallest and at the largest scale."""
    rows = _rows(REFERENCE / "scale-or-margin" / "margin-at-equal-scale.md")
    (found,) = (row for row in rows if row[:3] == ["all datasets", LOSS, MARGIN])
    small, large = (re.sub(r" <sup>.*", "", text) for text in (found[3], found[-1]))
    return small, large


def letters_by_scale() -> tuple[str, str, dict[tuple[str, str], str]]:
    """The smallest and the largest scale, and verification of 300 letters by loss and scale."""
    wanted = {(WITHOUT_MARGIN, ""), (LOSS, MARGIN)}
    rows = [row for row in maps() if row["dataset"] == "glyphs-300" and (row["loss"], row["m"]) in wanted]
    means = {(row["loss"], row["s"]): f"{100 * float(row['mean']):.1f}" for row in rows}
    scales = sorted({scale for _, scale in means}, key=float)
    return scales[0], scales[-1], means


def best_scales() -> set[tuple[str, str]]:
    """For each dataset of letters and each loss, the scale with the highest validation accuracy."""
    best: dict[tuple[str, str], dict[str, str]] = {}
    for row in maps():
        key = row["dataset"], row["loss"]
        if row["dataset"].startswith("glyphs"):
            best[key] = max(best.get(key, row), row, key=lambda one: float(one["validation"]))
    return {(loss, row["s"]) for (_, loss), row in best.items()}


def verdicts() -> Counter[str]:
    with (REFERENCE / "claims" / "ledger.csv").open(newline="") as file:
        return Counter(row["verdict"] for row in DictReader(file))


def maps() -> list[dict[str, str]]:
    lines = (REFERENCE / "scale-or-margin" / "maps.csv").read_text().splitlines()
    return list(DictReader(line for line in lines if not line.startswith("#")))


def _compared(where: str, metric: str, entries: list[Entry]) -> str:
    best = max(entries, key=lambda entry: entry.mean)
    tied = [entry for entry in entries if entry.tied and entry is not best]
    worse = sorted((entry for entry in entries if not entry.tied), key=lambda entry: -entry.mean)
    others = in_words(len(entries) - 1)
    start = f"{where} {best.loss} has the highest mean {metric} accuracy, {best.text} %."
    if not tied:
        return f"{start} The other {others} are significantly worse."
    among = any(entry.loss == WITHOUT_MARGIN for entry in tied)
    example = f"; {WITHOUT_MARGIN}, which has no margin, is one of them" if among else ""
    start += f" {in_words(len(tied)).capitalize()} of the other {others} are not significantly different{example}."
    names = listed([f"{entry.loss} ({entry.text} %)" for entry in worse])
    return f"{start} Significantly worse: {names}." if worse else start


def _on_digits(entries: list[Entry]) -> str:
    best = max(entries, key=lambda entry: entry.mean)
    if all(entry.tied for entry in entries):
        return f"On digits, no loss is significantly different from the best, {best.loss} ({best.text} %)."
    return _compared("On digits,", "classification", entries)


def _entries(file: Path, place: int) -> Iterator[Entry]:
    for row in _rows(file):
        text = re.sub(r"\*\*|</?u>", "", row[place])
        yield Entry(_loss(row[0]).split()[0], text, float(text.split()[0]), tied=text != row[place])


def _loss(label: str) -> str:
    return label.removesuffix(" (tuned)")


def _rows(file: Path) -> Iterator[list[str]]:
    """The first table of a Markdown file, without its heading."""
    lines = file.read_text().splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("|:"))
    for line in lines[start + 1 :]:
        if not line.startswith("|"):
            return
        yield [re.sub(r"\\(.)", r"\1", part.strip()) for part in line.strip("|").split(" | ")]


def with_blocks(page: str) -> str:
    """The page with every block that it has a place for."""
    for name, written in BLOCKS.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        if start in page:
            before, _, rest = page.partition(start)
            page = f"{before}{start}\n{unbroken(written())}\n\n{end}{rest.partition(end)[2]}"
    return page


def unbroken(text: str) -> str:
    """The same with spaces at which a line never breaks, within numbers and settings."""
    return re.sub(r" (±|=|%) ?", lambda found: found[0].replace(" ", NO_BREAK), text).replace(f"%{NO_BREAK}", "% ")


def main(words: list[str]) -> None:
    if words == ["--write"]:
        for page in PAGES:
            write_atomically(page, with_blocks(page.read_text()).encode())
        return
    for name, written in BLOCKS.items():
        print(f"{name}:\n{written()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
