"""The papers' claims as data, one file per claim, each with a test, and the ledger of verdicts on them.

    claims = load_all()
    ledger = ledger_of(claims, Path("results"))     # what the stored runs say
    tables(ledger)                                  # for pages; the first one is the overview

The rules of the verdicts are in `benchmark.statistics.evidence`.
"""

from benchmark.claims.claim_file import load_all, load_file
from benchmark.claims.command import (
    as_text,
    commands_for_missing,
    committed_ledger,
    ledger_of,
    run_missing,
    tables_about,
    write,
)
from benchmark.claims.ledger import NOT_RUN, ClaimFinding, Ledger
from benchmark.claims.model import Claim, ClaimPart, TunedLoss
from benchmark.claims.tables import tables
