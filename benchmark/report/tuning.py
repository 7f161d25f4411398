"""What a reader must know of tuned rows: who chose their settings, by what, and with which budget."""

from benchmark.spec import Experiment
from benchmark.text import counted


def tuning_in_words(experiment: Experiment) -> str:
    """A short paragraph; empty without tuned rows."""
    tuned = experiment.tuned
    if tuned is None:
        return ""
    budget, made = tuned.budget, tuned.made
    rates = "" if budget.learning_rates is None else f" Learning rates are of {_listed(budget.learning_rates)}."
    others = any(row.tuned is None for row in experiment.losses)
    beside = " The other rows have the experiment's own settings." if others else ""
    before = sorted({one.date for one in tuned.earlier} - {made.date})
    partly = f" (in part on {', '.join(before)})" if before else ""
    return (
        f"Rows marked “(tuned)” have settings that were chosen on validation data alone, for each dataset: at most "
        f"{counted(budget.trials, 'trial')} of {counted(budget.seeds, 'seed')} for every loss ({tuned.sampler})."
        f"{rates} Pruning: {tuned.pruning}. They come from {tuned.path.name}, made on {made.date}{partly} with the "
        f"experiment {tuned.experiment} at commit {made.commit or 'unknown'}.{beside}"
    )


def _listed(rates: tuple[float, ...]) -> str:
    return ", ".join(f"{rate:g}" for rate in rates)
