"""The answer in words, written from the data: which loss, on which data, and how certain it is.

A loss is among the best if no other loss is significantly better.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from benchmark.findings.findings import PRIMARY, Findings
from benchmark.findings.verdicts import DatasetVerdict, overall, verdicts
from benchmark.metrics import MetricColumn
from benchmark.statistics import MIN_SEEDS
from benchmark.tables.model import visible
from benchmark.text import all_of, counted, in_words, listed

MOST_NAMED = 3  # losses of a group; larger groups are counted


@dataclass(frozen=True)
class Answer:
    headline: Markup
    sentences: tuple[Markup, ...]

    def as_text(self) -> str:
        """Without markup, for a terminal."""
        return "\n".join(part.striptags() for part in (self.headline, *self.sentences))


def answer(findings: Findings) -> Answer:
    """A headline, a sentence for every dataset and, if there are several, one for all of them."""
    found = verdicts(findings)
    sentences = [_on_dataset(verdict) for verdict in found]
    together = overall(findings)
    if together is not None and together.column is not None and len(together.ranked) > 1:
        where = Markup("Over {},").format(all_of(len(findings.main_columns), "dataset"))
        sentences.append(_who_is_best(where, together, together.column))
    return Answer(_headline(findings, found, together), tuple(sentences))


def _headline(findings: Findings, found: list[DatasetVerdict], together: DatasetVerdict | None) -> Markup:
    compared = [verdict for verdict in found if len(verdict.ranked) > 1]
    tested = [verdict for verdict in compared if verdict.is_tested]
    if not findings.main_columns:
        return Markup("Every run diverged, so no loss can be recommended with these settings.")
    if not compared:
        only = sorted({loss for verdict in found for loss in verdict.ranked})
        has = "has" if len(only) == 1 else "have"
        return Markup("There is nothing to compare: only {} {} a value.").format(_names(only), has)
    if not tested:
        return _too_little(findings, compared)
    if len(tested) == 1:
        return _one_dataset(tested[0], alone=len(found) == 1)
    datasets = all_of(len(found), "dataset")
    if len(tested) < len(found):
        datasets = f"the {in_words(len(tested))} datasets that could be tested"
    if together is not None and together.is_tested:
        tested, datasets = [*tested, together], f"{datasets} and overall"
    beaten = {loss for verdict in found for loss in (*verdict.worse, *verdict.behind)}
    top = [loss for loss in _by_rank(findings) if loss not in beaten and all(one.has_on_top(loss) for one in tested)]
    return Markup(" ").join([_several(findings, tested, top, datasets), *_left_open(findings, tested)])


def _too_little(findings: Findings, compared: list[DatasetVerdict]) -> Markup:
    seeds = max(verdict.most_seeds for verdict in compared)
    if seeds >= MIN_SEEDS:
        return Markup("No loss could be tested against the best: too many runs diverged or are missing.")
    words = "There are too few seeds for a test: it needs {}, and there {}."
    start = Markup(words).format(MIN_SEEDS, "is one" if seeds == 1 else f"are {seeds}")
    first = [str(loss) for loss, rank in findings.places.items() if rank == findings.places.iloc[0]]
    if not first:
        return start
    if len(first) == 1:
        return Markup("{} So far, {} ranks first.").format(start, named(first[0]))
    return Markup("{} So far, {} share the first place.").format(start, _some(first))


def _one_dataset(verdict: DatasetVerdict, alone: bool) -> Markup:
    where = Markup("") if alone else Markup(" on <i>{}</i>").format(visible(verdict.dataset))
    best, first = _names(verdict.best), _is_first(verdict)
    if verdict.is_clear:
        return Markup("{} is the best loss{}: every other one is significantly worse.").format(best, where)
    if verdict.is_open:
        return Markup("No winner{}: no loss is significantly worse than another.").format(where)
    if verdict.tied:
        words = "No single winner{}: {} {}, but {} not significantly different."
        return Markup(words).format(where, best, first, _are(verdict.tied, verdict))
    if verdict.untested or verdict.behind:
        words = "{} {}{}, but not every other loss is significantly worse or could be tested."
        return Markup(words).format(best, first, where)
    return Markup("{} share the first place{}; every other loss is significantly worse.").format(best, where)


def _several(findings: Findings, tested: list[DatasetVerdict], top: list[str], where: str) -> Markup:
    if all(verdict.is_open for verdict in tested):
        return Markup("No winner: on {}, no loss is significantly worse than another.").format(where)
    if not top:
        start = Markup("It depends on the data: no loss is among the best on {}.").format(where)
        if findings.ranks(PRIMARY).left_out:
            return start
        return Markup("{} By average rank, {} comes first.").format(start, named(_by_rank(findings)[0]))
    if len(top) > 1:
        return _no_single_winner(findings, tested, top, where)
    if all(verdict.is_clear for verdict in tested):
        words = "{} is the best loss on {}: every other one is significantly worse."
    else:
        words = "{} is the safest choice: it is the only loss among the best on {}."
    return Markup(words).format(named(top[0]), where)


def _no_single_winner(findings: Findings, tested: list[DatasetVerdict], top: list[str], where: str) -> Markup:
    if len(top) <= MOST_NAMED:
        return Markup("No single winner: {} are among the best on {}.").format(_names(top), where)
    count = f"{in_words(len(top))} of the {in_words(len(findings.losses))} losses"
    others = [loss for loss in findings.losses if loss not in top and all(one.speaks_of(loss) for one in tested)]
    parts = [Markup("No single winner: {} are among the best on {}").format(count, where)]
    if 0 < len(others) <= MOST_NAMED:
        parts.append(Markup("{} {} not").format(_names(others), _is(others)))
    words = Markup("{}.").format(Markup("; ").join(parts))
    if findings.baseline in top:
        return Markup("{} The baseline, {}, is one of the {}.").format(
            words, named(findings.baseline), in_words(len(top))
        )
    return words


def _left_open(findings: Findings, tested: list[DatasetVerdict]) -> list[Markup]:
    """Names losses that were not run or not tested on some dataset."""
    names = [loss for loss in findings.losses if not all(verdict.speaks_of(loss) for verdict in tested)]
    if not names:
        return []
    return [Markup("Not tested everywhere: {}.").format(_some(names))]


def _by_rank(findings: Findings) -> list[str]:
    """Every loss, those with an average rank first."""
    ranked = [str(loss) for loss in findings.places.index]
    return [*ranked, *(loss for loss in findings.losses if loss not in ranked)]


def _on_dataset(verdict: DatasetVerdict) -> Markup:
    where = on(verdict.dataset)
    if verdict.column is None:
        return Markup("{} every run diverged, so there is nothing to rank.").format(where)
    return Markup(" ").join([_who_is_best(where, verdict, verdict.column), *_divergences(verdict)])


def _who_is_best(where: Markup, verdict: DatasetVerdict, column: MetricColumn) -> Markup:
    mean, seeds = column.shown(verdict.mean or 0.0), counted(verdict.seeds, "seed")
    value = Markup("a mean {} of {} ({})").format(column.heading.lower(), mean, seeds)
    best = _names(verdict.best)
    if len(verdict.ranked) == 1:
        return Markup("{} only {} has a value: {}. There is nothing to compare it with.").format(where, best, value)
    return Markup("{} {} {} with {}.{}").format(where, best, _is_first(verdict), value, _the_others(verdict))


def _is_first(verdict: DatasetVerdict) -> str:
    return "comes first" if len(verdict.best) == 1 else "come first"


def _the_others(verdict: DatasetVerdict) -> Markup:
    """What the tests say about the losses that are not best."""
    it = "it" if len(verdict.best) == 1 else "them"
    clauses = []
    if verdict.is_open and len(verdict.tied) > 1:
        none = "neither" if len(verdict.tied) == 2 else "none"
        words = "{} of the other {} losses is significantly different from {}"
        clauses.append(Markup(words).format(none, in_words(len(verdict.tied)), it))
    elif verdict.tied:
        words = "{} not significantly different from {}"
        clauses.append(Markup(words).format(_are(verdict.tied, verdict), it))
    if verdict.worse:
        clauses.append(Markup("{} significantly worse").format(_are_worse(verdict)))
    for better in dict.fromkeys(verdict.behind.values()):
        losses = [loss for loss in verdict.behind if verdict.behind[loss] == better]
        clauses.append(Markup("{} {} significantly worse than {}").format(_some(losses), _is(losses), named(better)))
    for reason, losses in verdict.untested.items():
        all_untested = len(losses) + len(verdict.best) == len(verdict.ranked)
        whom = Markup("the difference") if all_untested else _some(losses)
        clauses.append(Markup("{} could not be tested ({})").format(whom, reason))
    if not clauses and verdict.most_seeds < MIN_SEEDS:
        clauses.append(Markup("nothing was tested: a test needs {}").format(counted(MIN_SEEDS, "seed")))
    return Markup(" {}.").format(_as_sentence(Markup("; ").join(clauses))) if clauses else Markup("")


def _are(losses: list[str], verdict: DatasetVerdict) -> Markup:
    """`arcface and cosface are`, or `eight of the other ten losses are` if there are many."""
    if len(losses) <= MOST_NAMED:
        return Markup("{} {}").format(_names(losses), _is(losses))
    count = len(verdict.ranked) - len(verdict.best)
    return Markup("{} of the other {} losses are").format(in_words(len(losses)), in_words(count))


def _are_worse(verdict: DatasetVerdict) -> Markup:
    others = len(verdict.ranked) - len(verdict.best)
    if len(verdict.worse) < others or others == 1:
        return _are(verdict.worse, verdict)
    return Markup("both others are") if others == 2 else Markup("all {} others are").format(in_words(others))


def _is(losses: Sequence[str]) -> str:
    return "is" if len(losses) == 1 else "are"


def _as_sentence(words: Markup) -> Markup:
    """With a capital letter, unless it begins with a name."""
    return words if words.startswith("<") else words[:1].upper() + words[1:]


def _divergences(verdict: DatasetVerdict) -> list[Markup]:
    parts = [Markup("{} in {}").format(named(loss), _share(*counts)) for loss, counts in verdict.diverged.items()]
    if len(parts) > MOST_NAMED:
        return [Markup("Runs of {} losses diverged.").format(in_words(len(parts)))]
    return [Markup("Runs diverged: {}.").format(joined(parts))] if parts else []


def _share(diverged: int, runs: int) -> str:
    if diverged == runs:
        return "its only run" if runs == 1 else f"all {counted(runs, 'run')}"
    return f"{diverged} of {runs} runs"


def named(name: str) -> Markup:
    """A loss, in bold. Names come from files, so they are escaped."""
    return Markup("<b>{}</b>").format(visible(name))


def on(dataset: str) -> Markup:
    """`On digits,`."""
    return Markup("On <i>{}</i>,").format(visible(dataset))


def joined(parts: Sequence[Markup]) -> Markup:
    """`a, b and c`; the parts must be escaped already."""
    return Markup(listed(parts))


def _names(names: Sequence[str]) -> Markup:
    return joined([named(name) for name in names])


def _some(names: Sequence[str]) -> Markup:
    """The names, or how many there are."""
    return _names(names) if len(names) <= MOST_NAMED else Markup(counted(len(names), "loss"))
