"""The next values to try, from Optuna's TPE. They depend only on the trials before, because TPE is asked each time."""

from collections.abc import Sequence
from typing import Any

from benchmark.errors import InputError
from benchmark.training.seeds import derive
from benchmark.tuning.space import Space, tidied

RANDOM_TRIALS = 4  # before there is enough to learn from
Told = tuple[dict[str, Any], float, bool, int]  # values, mean score, whether it was pruned, seeds that it had


def check_optuna() -> None:
    """An error says what to install where it is missing."""
    try:
        import optuna
    except ImportError:
        raise InputError(
            "tuning needs Optuna, which is not installed: pip install -c constraints.txt -e '.[tune]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def suggest(
    key: str, number: int, space: Space, told: Sequence[Told], untried: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """A pure function of its arguments. Where the space is finite, `untried` has the points that are left of it: a
    point is never tried twice, which would be a trial less for losses with little to search."""
    check_optuna()
    import optuna

    seed = derive("tuning", study=key, trial=number) % 2**32
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=RANDOM_TRIALS, multivariate=True)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    distributions = {name: _distribution(search) for name, search in space.items()}
    for values, score, pruned, seeds in told:
        study.add_trial(_past_trial(values, distributions, score, pruned, seeds))
    asked = study.ask(distributions).params
    found = {name: tidied(asked[name], search) for name, search in space.items()}
    return found if not untried or found in untried else dict(untried[seed % len(untried)])


def _past_trial(values: dict[str, Any], distributions: dict[str, Any], score: float, pruned: bool, seeds: int) -> Any:
    from optuna.trial import TrialState, create_trial

    outcome: dict[str, Any] = {"state": TrialState.COMPLETE, "value": score}
    if pruned:
        outcome = {"state": TrialState.PRUNED, "intermediate_values": {seeds: score}}
    return create_trial(params=values, distributions=distributions, **outcome)


def _distribution(search: Any) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if search.among:
        return CategoricalDistribution(search.among)
    if search.whole:
        return IntDistribution(int(search.low), int(search.high), log=search.log)
    return FloatDistribution(search.low, search.high, log=search.log)
