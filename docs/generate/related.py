"""Which claims and paper tables speak of which loss."""

from collections.abc import Iterator
from functools import cache

from benchmark import claims, papers
from benchmark.claims import Claim, ClaimPart, TunedLoss
from benchmark.papers import Paper


@cache
def all_claims() -> tuple[Claim, ...]:
    return tuple(claims.load_all())


@cache
def all_papers() -> tuple[Paper, ...]:
    return tuple(papers.load(name) for name in papers.names())


def losses_of_claim(claim: Claim) -> list[str]:
    return sorted({name for part in claim.parts for name in _named(part)})


def _named(part: ClaimPart) -> Iterator[str]:
    """A row's label begins with the name of its loss."""
    for row in (part.loss, part.over, part.against):
        if isinstance(row, str):
            yield row.split()[0]
        elif isinstance(row, TunedLoss):
            yield row.name


def losses_of_paper(paper: Paper) -> list[str]:
    return sorted({row.name for scale in paper.scales.values() for row in scale.experiment.losses})


def claims_about(loss: str) -> list[Claim]:
    return [claim for claim in all_claims() if loss in losses_of_claim(claim)]


def papers_with(loss: str) -> list[Paper]:
    return [paper for paper in all_papers() if loss in losses_of_paper(paper)]
