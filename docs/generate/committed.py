"""Results that are committed with the project: tables, the ledger of claims, the leaderboard."""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark import spec
from benchmark.leaderboard.standings import Board
from benchmark.leaderboard.submit import current

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
_HIDDEN_ADDRESS = re.compile(r"h<!-- -->ttps\\:(//[^\s\\)]+(?:\\_[^\s\\)]+)*)")


@dataclass(frozen=True)
class CommittedTable:
    """The first table of a Markdown file of results."""

    headings: list[str]
    rows: list[list[str]]
    notes: list[str]  # the paragraphs below it

    def rows_of(self, loss: str) -> list[list[str]]:
        """The rows of a loss, with any settings: their labels begin with its name."""
        return [row for row in self.rows if re.split(r"[\s(\\]", _plain(row[0]))[0] == loss]


def _plain(cell: str) -> str:
    return cell.replace("\\_", "_").strip("*").removeprefix("<u>").removesuffix("</u>")


def read_table(path: Path) -> CommittedTable:
    lines = path.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    body = [line for line in lines[start:] if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body]
    notes = [line for line in lines[start + len(body) :] if line]
    return CommittedTable(cells[0], cells[2:], notes)


def with_links(markdown: str) -> str:
    """The committed tables hide addresses from GitHub; here they are links."""
    return _HIDDEN_ADDRESS.sub(lambda found: "<https:" + found[1].replace("\\", "") + ">", markdown)


def default_table() -> CommittedTable:
    """The main table of `default`, all losses tuned."""
    return read_table(REFERENCE / "default" / "table.md")


def paper_table(name: str) -> str:
    """The measured table of a paper as Markdown, for a page that has the title already; nothing if there is none."""
    path = REFERENCE / "tables" / f"{name}.md"
    if not path.is_file():
        return ""
    _, below = path.read_text().split("\n", 1)
    return with_links("## Measured beside published\n" + re.sub(r"^### ", "## ", below, flags=re.MULTILINE))


def ledger() -> list[dict[str, str]]:
    """The verdicts on the papers' claims, one row for each part on each dataset."""
    with (REFERENCE / "claims" / "ledger.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@cache
def board() -> Board | None:
    """The leaderboard, from the committed entries; None if none of them counts."""
    results = ROOT / "results"
    found, _ = current(spec.load("leaderboard").without_tuned, results / "leaderboard" / "entries", results)
    return found.current
