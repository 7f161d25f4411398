"""A page for every claim: its words, its source, its test, and the verdicts of the committed ledger."""

from collections.abc import Iterator

from benchmark.claims import Claim, ClaimPart, TunedLoss
from benchmark.claims.tables import SIGNS
from benchmark.metrics import column
from benchmark.statistics import RULES
from docs.generate import committed, related
from docs.generate.markdown import bullets, code, fenced, page, table, text, toctree

INTRODUCTION = (
    "What papers claim about these losses, each with a test that was fixed before the runs were looked at. The "
    "verdicts are those of the committed runs in [results/reference/claims](../../results/reference/claims/ledger.md)."
)
EXPECTED = {
    "higher": "higher",
    "lower": "lower",
    "not_lower": "not lower by more than {margin}",
    "not_higher": "not higher by more than {margin}",
}
Row = dict[str, str]


def pages() -> Iterator[tuple[str, str | bytes]]:
    claims, ledger = related.all_claims(), committed.ledger()
    rows = [
        [f"[{one.number}]({one.number}.md)", text(one.paper), text(one.words), _counts(one, ledger)] for one in claims
    ]
    overview = table(("claim", "from", "what it says", "verdicts"), rows)
    names = [str(one.number) for one in claims]
    yield (
        "claims/index.md",
        page("Claims of papers", INTRODUCTION, overview, "## Rules", bullets(map(text, RULES)), toctree(names)),
    )
    for claim in claims:
        own = [row for row in ledger if row["claim"] == str(claim.number)]
        yield f"claims/{claim.number}.md", page(f"Claim {claim.number}: {text(claim.short)}", *_blocks(claim, own))


def _counts(claim: Claim, ledger: list[Row]) -> str:
    verdicts = [row["verdict"] for row in ledger if row["claim"] == str(claim.number)]
    return ", ".join(f"{verdicts.count(one)} {one}" for one in SIGNS if one in verdicts) or "not run"


def _blocks(claim: Claim, ledger: list[Row]) -> Iterator[str]:
    yield f"**{text(claim.paper)}:** {text(claim.words)}"
    yield f"**Source:** {text(claim.source)}"
    yield f"**How it was read:** {text(claim.note)}" if claim.note else ""
    yield f"Losses: {', '.join(f'[{name}](../losses/{name}.md)' for name in related.losses_of_claim(claim))}."
    yield "## Test"
    yield table(
        ("part", "what is tested", "metric", "row", "against", "expected"), [_part(part) for part in claim.parts]
    )
    yield "The margin is the smallest difference worth claiming. [The rules](index.md#rules) say how a verdict is made."
    yield fenced("console", "python -m benchmark claims --run")
    yield "## Verdicts"
    yield table(("part", "dataset", "verdict", "difference", "95 % interval", "seeds", "note"), map(_verdict, ledger))


def _part(part: ClaimPart) -> list[str]:
    unit = f" {part.unit}" if part.unit != "°" else "°"
    expected = EXPECTED[part.expect].format(margin=f"{part.margin:g}{unit}")
    expected += "" if part.no_worse else f"; the margin is {part.margin:g}{unit}"
    gain = f" (its gain over {code(part.over)})" if part.over else ""
    return [part.letter, text(part.words), text(_metric(part)), code(part.loss) + gain, _against(part), text(expected)]


def _metric(part: ClaimPart) -> str:
    return column(part.metric).title


def _against(part: ClaimPart) -> str:
    where = f" on {text(part.against_dataset)}" if part.against_dataset else ""
    if isinstance(part.against, TunedLoss):
        return f"{code(part.against.name)}, the setting that is best on validation data{where}"
    return f"{code(part.against)}{where}" if isinstance(part.against, str) else f"the value {part.against:g}{where}"


def _verdict(row: Row) -> list[str]:
    sign = SIGNS.get(row["verdict"], "")
    return [
        row["part"],
        text(row["dataset"]),
        f"{sign} {row['verdict']}".strip(),
        _number(row["difference"], row["unit"]),
        f"{_number(row['low'])} to {_number(row['high'], row['unit'])}" if row["low"] else "–",
        row["n_seeds"],
        text(row["note"]),
    ]


def _number(value: str, unit: str = "") -> str:
    if not value:
        return "–"
    return f"{float(value):+.2f}{unit if unit == '°' else f' {unit}' if unit else ''}".replace("-", "−")
