"""The ledger as tables: one of all claims by dataset, and one per claim with its parts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.claims.ledger import NOT_RUN, ClaimFinding, Ledger
from benchmark.claims.model import Claim, ClaimPart
from benchmark.statistics.evidence import NOT_DECIDED, REFUTED, RULES, SUPPORTED
from benchmark.tables import Column, Row, Table, Value, with_error
from benchmark.text import counted

SIGNS = {SUPPORTED: "✓", REFUTED: "✗", NOT_DECIDED: "?", NOT_RUN: "–"}
MANY_SEEDS = 10_000
NUMBERS = ("difference", "low", "high", "p_support", "p_refute", "detectable")
SEEDS_TO_DECIDE = ("seeds_to_support", "seeds_to_refute")
ALSO = (
    "Differences are paired by seed, and for verification metrics also by test identity. Each interval is a 95 % "
    "interval. 'Tuned' means chosen on validation data among the settings that were run. For a test that is not "
    "decided, the table shows the difference that it would have found with 80 % probability, at this variance and the "
    "corrected level, and the number of seeds that would decide the observed difference."
)
COLUMNS = (
    Column("part", numeric=False),
    Column("dataset", numeric=False),
    Column("verdict", numeric=False),
    Column("difference", "loss − against with half of its 95 % interval, in points or degrees"),
    Column("claimed", "direction and margin, fixed beforehand", numeric=False),
    Column("loss", numeric=False),
    Column("against", "the other row, or a value", numeric=False),
    Column("metric", numeric=False),
    Column("over", "seeds and test identities that the interval accounts for", numeric=False),
    Column("detectable", "the true difference that would have been found with 80 % probability"),
    Column("to decide", "seeds that would decide the difference observed", numeric=False),
)


def tables(ledger: Ledger) -> list[Table]:
    """The overview, then a table for each claim."""
    return [overview(ledger), *(_of_claim(ledger, claim) for claim in ledger.claims)]


def overview(ledger: Ledger) -> Table:
    """Claims by datasets: the verdict on all parts together."""
    columns = (Column("claim", numeric=False), *(Column(name, numeric=False) for name in ledger.datasets))
    rows = []
    for claim in ledger.claims:
        verdicts = [ledger.whole(claim, dataset) for dataset in ledger.datasets]
        name = Value(f"{claim.number} {claim.paper}: {claim.short}", claim.number)
        rows.append(Row((name, *(_verdict(verdict) for verdict in verdicts)), {"claim": str(claim.number)}))
    caption = "A claim with several parts is supported if all of them are, refuted if any is."
    notes = (*RULES, ALSO, counts(ledger), *([ledger.origin] if ledger.origin else []))
    return Table("claims", "What the papers claim", columns, tuple(rows), caption, notes)


def counts(ledger: Ledger) -> str:
    """`27 of 60 tests support, 3 refute, 30 do not decide, 0 were not run.`"""
    found = Counter(finding.verdict for finding in ledger.findings)
    rest = f"{found[REFUTED]} refute, {found[NOT_DECIDED]} do not decide, {found[NOT_RUN]} were not run"
    return f"Of {len(ledger.findings)} tests {found[SUPPORTED]} support what is claimed, {rest}."


def _of_claim(ledger: Ledger, claim: Claim) -> Table:
    rows = tuple(_row(finding) for finding in ledger.of(claim))
    parts = [f"{part.letter}: {part.words}" for part in claim.parts]
    notes = (*parts, f"Source: {claim.source}", *([claim.note] if claim.note else []))
    whole = [f"{name}: {verdict}" for name in ledger.datasets if (verdict := ledger.whole(claim, name))]
    title = f"Claim {claim.number}, {claim.paper}: {claim.words}"
    return Table(f"claim-{claim.number}", title, COLUMNS, rows, f"Together: {', '.join(whole)}.", notes)


def _row(finding: ClaimFinding) -> Row:
    part = finding.part
    half = None if finding.high is None or finding.low is None else (finding.high - finding.low) / 2
    loss = f"{part.loss}, gain over {part.over}" if part.over else part.loss
    entries = (
        Value(finding.key),
        Value(finding.dataset),
        _verdict(finding.verdict, finding.note),
        with_error(finding.difference, half),
        Value(claimed(part)),
        Value(loss),
        Value(finding.against),
        Value(part.metric),
        Value(carried(finding)),
        with_error(finding.detectable),
        Value(to_decide(finding)),
    )
    return Row(entries, {"claim": str(finding.claim.number), "dataset": finding.dataset, "verdict": finding.verdict})


def _verdict(verdict: str | None, note: str = "") -> Value:
    return Value("" if verdict is None else f"{SIGNS[verdict]} {verdict}", verdict, note=note)


def claimed(part: ClaimPart) -> str:
    """`lower (1°)`, `not lower (0.5 points)`."""
    unit = part.unit if part.unit in ("°", "") else f" {part.unit}"
    return f"{part.expect.replace('_', ' ')} ({part.margin:g}{unit})"


def carried(finding: ClaimFinding) -> str:
    """`5 seeds, 250 identities`."""
    identities = f", {finding.n_identities} identities" if finding.n_identities else ""
    return f"{counted(finding.n_seeds, 'seed')}{identities}" if finding.n_seeds else ""


def to_decide(finding: ClaimFinding) -> str:
    """The cheaper of the two ways in which more seeds would decide."""
    if finding.verdict != NOT_DECIDED or finding.detectable is None:
        return ""
    ways = [(finding.seeds_to_support, "support"), (finding.seeds_to_refute, "refute")]
    known = sorted((seeds, way) for seeds, way in ways if seeds is not None)
    if not known:
        return f"no number of seeds with these {finding.n_identities} test identities"
    seeds, way = known[0]
    needed = f"more than {MANY_SEEDS:,} seeds" if seeds > MANY_SEEDS else f"{counted(seeds, 'seed')} would {way}"
    all_seeds = finding.n_seeds + finding.n_left_out
    diverged = f", of which none diverges; {finding.n_left_out} of {all_seeds} did" if finding.n_left_out else ""
    return needed + diverged


def as_records(ledger: Ledger) -> Iterator[dict[str, object]]:
    """Every finding as plain data."""
    for finding in ledger.findings:
        claim, part = finding.claim, finding.part
        yield {
            "claim": claim.number,
            **{key: getattr(claim, key) for key in ("paper", "short", "words", "source")},
            "part": part.letter,
            "part_words": part.words,
            "experiment": claim.experiment,
            "dataset": finding.dataset,
            **{key: getattr(part, key) for key in ("metric", "loss", "over")},
            "against": finding.against,
            **{key: getattr(part, key) for key in ("expect", "margin", "unit")},
            **{key: getattr(finding, key) for key in ("verdict", "difference", "low", "high")},
            **{key: getattr(finding, key) for key in ("p_support", "p_refute", "n_seeds", "n_identities")},
            **{key: getattr(finding, key) for key in ("detectable", "seeds_to_support", "seeds_to_refute", "note")},
        }


def from_records(claims: Sequence[Claim], records: Iterable[Mapping[Any, Any]]) -> Ledger:
    """The ledger that records of `as_records` describe. Records of parts that are not the same today are left out."""
    parts = {(claim.number, part.letter): (claim, part) for claim in claims for part in claim.parts}
    found = []
    for record in records:
        claim, part = parts.get((record["claim"], record["part"]), (None, None))
        if (
            claim is None
            or part is None
            or record["part_words"] != part.words
            or record["dataset"] not in part.datasets
        ):
            continue
        numbers: dict[str, Any] = {key: record[key] for key in NUMBERS}
        numbers |= {key: int(record[key] or 0) for key in ("n_seeds", "n_identities")}
        numbers |= {key: None if record[key] is None else int(record[key]) for key in SEEDS_TO_DECIDE}
        about: dict[str, Any] = {key: record[key] or "" for key in ("dataset", "against", "verdict", "note")}
        found.append(ClaimFinding(claim, part, **about, **numbers))
    return Ledger([claim for claim in claims if any(one.claim is claim for one in found)], found)
