"""The advice in one sentence, and before it whether it is a guess from other numbers of classes."""

from collections.abc import Iterable, Sequence

from benchmark.advice.advice import Advice, BestMeasured, Case, LossAdvice, scale_by
from benchmark.advice.maps_file import Map
from benchmark.advice.theory import RULES
from benchmark.text import short

SIMPLE = ("normface", "arcface", "cosface")
"""The losses to begin with, the simplest first: one of them is named unless another one is clearly better."""
MOST_NAMED = 2


def headline(advice: Advice) -> list[str]:
    """What to say first."""
    found = _measured(advice.losses)
    if not found:
        return [_by_theory(advice.case)]
    beyond = outside(advice.case, advice.maps)
    return [*([f"Caution: {beyond}"] if beyond else []), _by_measurement(advice.case, found)]


def outside(case: Case, maps: Map | None) -> str:
    """That the number of classes is larger or smaller than any that was measured; otherwise nothing."""
    counts = sorted({row.classes for row in maps.rows}) if maps else [case.classes]
    if counts[0] <= case.classes <= counts[-1]:
        return ""
    span = f"{counts[0]:,} to {counts[-1]:,} classes" if len(counts) > 1 else f"{counts[0]:,} classes"
    return (
        f"{case.classes:,} classes lie outside what was measured ({span}). What follows comes from the nearest "
        "number of classes and need not hold for yours."
    )


def _measured(found: Iterable[LossAdvice]) -> dict[str, dict[str, BestMeasured]]:
    """Loss → dataset → its best setting."""
    return {one.loss: {best.row.dataset: best for best in one.measured} for one in found if one.measured}


def _by_measurement(case: Case, found: dict[str, dict[str, BestMeasured]]) -> str:
    named, are_close = _recommended(found)
    settings = [best for name in named for best in found[name].values()]
    words = " or ".join(_with_margin(name, found[name].values()) for name in named)
    scales = _scales(settings)
    datasets = list(dict.fromkeys(best.row.dataset for best in settings))
    classes = settings[0].row.classes
    nearest = "" if classes == case.classes else ", the nearest number that was measured"
    where = f"on {' and '.join(datasets)} ({classes:,} classes{nearest})"
    close, best = "the 95 % interval of each reaches the mean of the best loss", "nothing was better on validation data"
    reason = close if are_close else best
    return f"Start with {words}{f' at s = {scales}' if scales else ''}: {where} {reason}."


def _recommended(found: dict[str, dict[str, BestMeasured]]) -> tuple[list[str], bool]:
    """The simple losses whose interval reaches the leader's mean on every dataset, and True; without any, leaders."""
    datasets = list(dict.fromkeys(dataset for of_loss in found.values() for dataset in of_loss))
    leaders = {dataset: _leader(dataset, found) for dataset in datasets}
    close = [name for name in SIMPLE if name in found and all(
        dataset in found[name] and _reaches(found[name][dataset], found[leader][dataset])
        for dataset, leader in leaders.items()
    )]  # fmt: skip
    return (close or list(dict.fromkeys(leaders.values())))[:MOST_NAMED], bool(close)


def _leader(dataset: str, found: dict[str, dict[str, BestMeasured]]) -> str:
    """The best on validation data."""
    tried = [name for name, of_loss in found.items() if dataset in of_loss]
    return max(tried, key=lambda name: found[name][dataset].row.validation or 0.0)


def _reaches(one: BestMeasured, leader: BestMeasured) -> bool:
    high = one.row.mean if one.row.high is None else one.row.high
    return (high or 0.0) >= (leader.row.mean or 0.0)


def _with_margin(name: str, settings: Iterable[BestMeasured]) -> str:
    margins = sorted({best.row.m for best in settings if best.row.m is not None})
    return f"{name} (m = {_span(margins)})" if margins else name


def _scales(settings: Sequence[BestMeasured]) -> str:
    """Those that are as good as the best for every loss and dataset named; without any, from the least to the most."""
    sets = [set(best.as_good) for best in settings if best.as_good]
    shared = set.intersection(*sets) if sets else set()
    return _span(sorted(shared or {best.row.s for best in settings if best.row.s is not None}))


def _span(values: Sequence[float]) -> str:
    if not values:
        return ""
    return short(values[0]) if values[0] == values[-1] else f"{short(values[0])} to {short(values[-1])}"


def _by_theory(case: Case) -> str:
    name = "AdaCos, fixed" if case.classes >= 3 else "CosFace, P=.9"
    rule = next(rule for rule in RULES if rule.name == name)
    scale = f"{'at least' if rule.bound else 'about'} {short(scale_by(rule, case) or 0.0)}"
    whose = rule.name.partition(",")[0]
    return f"Start with normface at an s of {scale}, which {whose}'s rule gives for {case.classes:,} classes."
