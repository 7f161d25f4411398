"""`claims`: from stored runs, or from the committed file, to the ledger, on the screen and as files."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from benchmark import run_experiment, spec
from benchmark.claims.claim_file import load_all
from benchmark.claims.ledger import NOT_RUN, Ledger, make_ledger, results_of
from benchmark.claims.model import Claim
from benchmark.claims.tables import as_records, from_records, tables
from benchmark.options import RunOptions
from benchmark.results import ExperimentResults, collect
from benchmark.statistics.evidence import RULES
from benchmark.tables import Table, as_html, as_markdown, as_terminal
from benchmark.tables.csv import safe
from benchmark.tables.model import visible
from datasets._files import write_atomically

FOLDER = Path("claims", "ledger")
COMMITTED = (
    Path(__file__).resolve().parents[2] / "results" / "reference" / "claims" / "ledger.csv",
    Path(__file__).parent / "ledger.csv",
)
"""The ledger that comes with MarginBench: in a clone, and in an installed package."""


def ledger_of(claims: Sequence[Claim], results: Path) -> Ledger:
    """The ledger as the stored runs have it."""
    experiments = dict.fromkeys(claim.experiment for claim in claims)
    return make_ledger(claims, {name: results_of(collect(spec.load(name), results)) for name in experiments})


def committed_ledger(claims: Sequence[Claim]) -> Ledger | None:
    """The ledger that comes with MarginBench, of the claims that have not changed since; None if there is none."""
    file = next((place for place in COMMITTED if place.is_file()), None)
    if file is None:
        return None
    records = pd.read_csv(file).astype(object)
    found = from_records(claims, records.where(records.notna(), None).to_dict("records"))
    return found if found.findings else None


def tables_about(collected: ExperimentResults) -> list[Table]:
    """The ledger's tables for the report of an experiment; none if no claim rests on it."""
    name = collected.experiment.name
    claims = [claim for claim in load_all() if claim.experiment == name]
    if not claims or spec.load(name) != collected.experiment:
        return []
    return tables(make_ledger(claims, {name: results_of(collected)}))


def run_missing(claims: Sequence[Claim], options: RunOptions) -> int:
    """Runs the cells of the claims' experiments that have no result; the worst exit status."""
    experiments = dict.fromkeys(claim.experiment for claim in claims)
    return max(run_experiment.run(name, options) for name in experiments)


def write(ledger: Ledger, results: Path) -> Path:
    """`ledger.md`, `.html` (a fragment for a page), `.csv` and `.json`; the folder that they are in."""
    folder = results / FOLDER
    shown = tables(ledger)
    records = list(as_records(ledger))
    content = {"rules": RULES, "findings": records}
    files = {
        "ledger.md": "\n".join(as_markdown(table) for table in shown),
        "ledger.html": "\n".join(_section(table) for table in shown),
        "ledger.csv": pd.DataFrame([_for_spreadsheets(record) for record in records]).to_csv(index=False),
        "ledger.json": json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    }
    for name, text in files.items():
        write_atomically(folder / name, text.encode())
    return folder


def _section(table: Table) -> Markup:
    return Markup("<section><h3>{}</h3>\n{}</section>").format(visible(table.title), as_html(table))


def _for_spreadsheets(record: dict[str, object]) -> dict[str, object]:
    return {key: safe(value) if isinstance(value, str) else value for key, value in record.items()}


def as_text(ledger: Ledger) -> str:
    return "\n\n".join(as_terminal(table) for table in tables(ledger))


def commands_for_missing(ledger: Ledger, results: Path) -> list[str]:
    """What to call so that nothing is missing."""
    names = dict.fromkeys(finding.claim.experiment for finding in ledger.findings if finding.verdict == NOT_RUN)
    place = "" if results == Path("results") else f" --results {shlex.quote(str(results))}"
    return [f"python -m benchmark run {name}{place}" for name in names]
