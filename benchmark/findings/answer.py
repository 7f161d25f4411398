"""The answer in words, written from the data: which loss, on which data, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from benchmark.findings.findings import PRIMARY, Findings
from benchmark.findings.verdicts import DatasetVerdict, overall, verdicts
from benchmark.metrics import MetricColumn
from benchmark.statistics import MIN_SEEDS
from benchmark.tables.model import visible
from benchmark.text import all_of, counted, in_words, listed

MOST_NAMED = 6


@dataclass(frozen=True)
class Answer:
    headline: Markup
    sentences: tuple[Markup, ...]

    def as_text(self) -> str:
        """Without markup, for a terminal."""
        return "\n".join(part.striptags() for part in (self.headline, *self.sentences))


def answer(findings: Findings) -> Answer:
    """A headline, a sentence for every dataset and, where there are several, one for all of them."""
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
        return Markup("Every run diverged: none of these losses can be recommended with these settings.")
    if not compared:
        only = sorted({loss for verdict in found for loss in verdict.ranked})
        has = "has" if len(only) == 1 else "have"
        return Markup("Nothing to compare: only {} {} a value.").format(_some_names(only), has)
    if not tested:
        return _too_little(findings, compared)
    if len(tested) == 1:
        return _one_dataset(tested[0], alone=len(found) == 1)
    datasets = all_of(len(found), "dataset")
    if len(tested) < len(found):
        datasets = f"the {in_words(len(tested))} datasets that could be tested"
    if together is not None and together.is_tested:
        tested, datasets = [*tested, together], f"{datasets} and overall"
    return Markup(" ").join([_several(findings, tested, datasets), *_left_open(findings, tested)])


def _too_little(findings: Findings, compared: list[DatasetVerdict]) -> Markup:
    seeds = max(verdict.most_seeds for verdict in compared)
    if seeds >= MIN_SEEDS:
        return Markup("No difference could be tested: too many runs diverged or are missing.")
    words = "Too few seeds to say: a test needs {}, and there {}."
    start = Markup(words).format(MIN_SEEDS, "is one" if seeds == 1 else f"are {seeds}")
    if not len(findings.places):
        return start
    return Markup("{} So far {} ranks first.").format(start, named(str(findings.places.index[0])))


def _one_dataset(verdict: DatasetVerdict, alone: bool) -> Markup:
    where = Markup("") if alone else Markup(" on <i>{}</i>").format(visible(verdict.dataset))
    best, others = _some_names(verdict.best), len(verdict.ranked) - len(verdict.best)
    has = "has" if len(verdict.best) == 1 else "share"
    if verdict.is_clear:
        return Markup("{} is the best loss{}: every other one is significantly worse.").format(best, where)
    if verdict.is_open:
        count = in_words(len(verdict.ranked))
        return Markup("No winner{}: none of the {} losses is significantly worse than the best.").format(where, count)
    if verdict.tied:
        words = "No single winner{}: {} {} the highest mean, but {} of the other {} {} not significantly different."
        return Markup(words).format(where, best, has, in_words(len(verdict.tied)), in_words(others), _are(verdict.tied))
    if verdict.untested:
        words = "{} {} the highest mean{}, but not every other loss could be tested against it."
        return Markup(words).format(best, has, where)
    return Markup("{} share the highest mean{}; every other loss is significantly worse.").format(best, where)


def _several(findings: Findings, tested: list[DatasetVerdict], where: str) -> Markup:
    safe = [loss for loss in _by_rank(findings) if all(loss in (*verdict.best, *verdict.tied) for verdict in tested)]
    if all(verdict.is_open for verdict in tested):
        return Markup("No winner: no loss is significantly worse than the best on {}.").format(where)
    if not safe:
        start = Markup("It depends on the data: no loss is best, or tied with the best, on {}.").format(where)
        if findings.ranks(PRIMARY).left_out:
            return start
        return Markup("{} By average rank {} comes first.").format(start, named(_by_rank(findings)[0]))
    if len(safe) > 1:
        return Markup("No single winner: {} are best, or tied with the best, on {}.").format(_some_names(safe), where)
    if all(verdict.is_clear for verdict in tested):
        words = "{} is the best loss on {}: every other one is significantly worse."
    else:
        words = "{} is the safest choice: no other loss is best, or tied with the best, on {}."
    return Markup(words).format(named(safe[0]), where)


def _left_open(findings: Findings, tested: list[DatasetVerdict]) -> list[Markup]:
    """Losses that the headline cannot speak of, because they were not run or not tested on some dataset."""
    names = [loss for loss in findings.losses if not all(verdict.speaks_of(loss) for verdict in tested)]
    return [Markup("Not tested everywhere: {}.").format(_some_names(names))] if names else []


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
    heading, mean = column.heading.lower(), column.shown(verdict.mean or 0.0)
    seeds = counted(verdict.seeds, "seed")
    best = _some_names(verdict.best)
    if len(verdict.ranked) == 1:
        words = "{} only {} has a value ({} {}, {}): there is nothing to compare it with."
        return Markup(words).format(where, best, heading, mean, seeds)
    has = "has" if len(verdict.best) == 1 else "share"
    words = "{} {} {} the highest mean {} ({}, {}){}"
    return Markup(words).format(where, best, has, heading, mean, seeds, _the_others(verdict))


def _the_others(verdict: DatasetVerdict) -> Markup:
    """What the test says of those that are not best."""
    it = "it" if len(verdict.best) == 1 else "them"
    clauses = []
    if verdict.tied:
        if verdict.is_open and len(verdict.tied) > 1:
            none = "neither" if len(verdict.tied) == 2 else "none"
            words = "{} of the other {} is significantly different from {}"
            clauses.append(Markup(words).format(none, in_words(len(verdict.tied)), it))
        else:
            words = "{} {} not significantly different from {}"
            clauses.append(Markup(words).format(_some_names(verdict.tied), _are(verdict.tied), it))
    if verdict.worse:
        clauses.append(Markup("{} significantly worse").format(_who_are_worse(verdict)))
    for reason, losses in verdict.untested.items():
        all_untested = len(losses) + len(verdict.best) == len(verdict.ranked)
        whom = Markup("the difference") if all_untested else _some_names(losses)
        clauses.append(Markup("{} could not be tested ({})").format(whom, reason))
    return Markup(": {}.").format(Markup("; ").join(clauses)) if clauses else Markup(".")


def _are(losses: list[str]) -> str:
    return "is" if len(losses) == 1 else "are"


def _who_are_worse(verdict: DatasetVerdict) -> Markup:
    count = len(verdict.worse)
    if count == 1:
        return Markup("{} is").format(named(verdict.worse[0]))
    if verdict.tied or verdict.untested:
        return Markup("the other {} are").format(in_words(count))
    return Markup("both others are") if count == 2 else Markup("all {} others are").format(in_words(count))


def _divergences(verdict: DatasetVerdict) -> list[Markup]:
    parts = [Markup("{} in {}").format(named(loss), _share(*counts)) for loss, counts in verdict.diverged.items()]
    return [Markup("Runs diverged: {}.").format(joined(parts))] if parts else []


def _share(diverged: int, runs: int) -> str:
    if diverged == runs:
        return "its only run" if runs == 1 else f"all {counted(runs, 'run')}"
    return f"{diverged} of {runs} runs"


def named(name: str) -> Markup:
    """A loss. Names come from files, so they are escaped and set apart from the words around them."""
    return Markup("<b>{}</b>").format(visible(name))


def on(dataset: str) -> Markup:
    """`On digits,`."""
    return Markup("On <i>{}</i>,").format(visible(dataset))


def joined(parts: Sequence[Markup]) -> Markup:
    """`a, b and c`, of parts that are escaped already."""
    return Markup(listed(parts))


def _some_names(names: Sequence[str]) -> Markup:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMED:
        return joined([named(name) for name in names])
    first = [named(name) for name in names[: MOST_NAMED - 1]]
    return joined([*first, Markup("{} others").format(in_words(len(names) - len(first)))])
