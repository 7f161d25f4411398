"""One study: the trials of one row on one dataset, one after the other, and the chosen one."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean, median
from typing import Any, Literal

import losses
from benchmark.cell import Cell
from benchmark.engine.plan import Facts
from benchmark.recipe import Recipe
from benchmark.spec import Budget, DatasetRow, LossRow
from benchmark.spec.tuned import fingerprint
from benchmark.tuning.sampler import suggest
from benchmark.tuning.space import RATE, Settings, Space, first_settings, grid, size, space_of, values_of, with_values

Place = tuple[str, str]  # a dataset's label and a row's
Fate = Literal["under way", "complete", "pruned", "diverged", "failed"]
TRIALS_BEFORE_PRUNING = 4
PRUNING = (
    f"after each seed except the last, a trial ends if its mean is below the median of the earlier trials there, "
    f"once there are {TRIALS_BEFORE_PRUNING} of them"
)
WORST = 0.0


@dataclass(frozen=True)
class TrialScore:
    """The validation score of a run."""

    score: float
    fate: Literal["trained", "diverged", "failed"] = "trained"


@dataclass(frozen=True)
class Trial:
    number: int
    settings: Settings
    scores: tuple[float, ...] = ()  # of the seeds, in their order
    fate: Fate = "under way"

    @property
    def mean(self) -> float:
        """The mean score over the seeds that were run; the worst score if one of them did not train."""
        return WORST if self.fate in ("diverged", "failed") or not self.scores else fmean(self.scores)


@dataclass(frozen=True)
class Study:
    """What is tuned, and within which bounds."""

    data: DatasetRow
    loss: LossRow
    budget: Budget

    @property
    def place(self) -> Place:
        return self.data.label, self.loss.label

    @property
    def dim(self) -> int:
        return self.data.dims[0]

    @property
    def recipe(self) -> Recipe:
        return self.data.recipes[0]

    @cached_property
    def key(self) -> str:
        return fingerprint(self.data, self.data.backbones[0], self.dim, self.recipe, self.loss)

    @cached_property
    def space(self) -> Space:
        return space_of(self.loss, self.recipe, self.budget.learning_rates)

    @cached_property
    def first(self) -> Settings:
        return first_settings(self.loss, self.recipe, self.budget.learning_rates)

    @property
    def starts_with_its_own(self) -> bool:
        """Whether the first trial is the experiment's own setting."""
        return self.first.lr == self.recipe.lr

    @property
    def trials(self) -> int:
        """As many as the budget says, or as there are points where that is less."""
        return int(min(size(self.space), self.budget.trials))

    @property
    def is_exhaustive(self) -> bool:
        """Whether each point of the space is tried once."""
        return size(self.space) <= self.budget.trials

    def cell(self, settings: Settings, seed: int, number: int = 0) -> Cell:
        return Cell(
            dataset=self.data.dataset,
            backbone=self.data.backbones[0],
            dim=self.dim,
            recipe=replace(self.recipe, lr=settings.lr),
            loss=self.loss.name,
            hyper=settings.hyper,
            seed=seed,
            label=f"{self.loss.label} trial {number}",
            dataset_label=self.data.label,
            access=self.data.access,
        )


@dataclass
class Progressing:
    """A study under way: what was tried, and what is next. The same scores always lead to the same trials."""

    study: Study
    facts: Facts
    trials: list[Trial] = field(default_factory=list)

    def next_cell(self) -> Cell | None:
        """The run whose score it needs next; None at the end."""
        if not self.trials or self.trials[-1].fate != "under way":
            if len(self.trials) >= self.study.trials:
                return None
            self.trials.append(Trial(len(self.trials), self._settings(len(self.trials))))
        trial = self.trials[-1]
        return self.study.cell(trial.settings, len(trial.scores), trial.number)

    def tell(self, measured: TrialScore) -> None:
        trial = self.trials[-1]
        scores = (*trial.scores, measured.score)
        fate: Fate = "under way"
        if measured.fate != "trained":
            fate = measured.fate
        elif len(scores) == self.study.budget.seeds:
            fate = "complete"
        elif is_pruned(scores, self.trials[:-1]):
            fate = "pruned"
        self.trials[-1] = replace(trial, scores=scores, fate=fate)

    @property
    def runs_left(self) -> int:
        """At most."""
        under_way = [trial for trial in self.trials if trial.fate == "under way"]
        gone = sum(len(trial.scores) for trial in under_way)
        return (self.study.trials - len(self.trials) + len(under_way)) * self.study.budget.seeds - gone

    @property
    def images_left(self) -> int:
        return self.runs_left * self.facts.images * self.study.recipe.epochs

    @property
    def chosen(self) -> Trial:
        """The best trial that trained on every seed, the earlier one of a tie; the first trial if none did."""
        complete = [trial for trial in self.trials if trial.fate == "complete"]
        return max(complete, key=lambda trial: (trial.mean, -trial.number), default=self.trials[0])

    def _settings(self, number: int) -> Settings:
        study = self.study
        if number == 0:
            return study.first
        if study.is_exhaustive:
            every = [with_values(study.loss, values) for values in grid(study.space)]
            return [study.first, *(one for one in every if one != study.first)][number]
        told = [(values_of(study.loss, one.settings, study.space, self._effective), one) for one in self.trials]
        seen = [(values, trial.mean, trial.fate == "pruned", len(trial.scores)) for values, trial in told]
        tried = [trial.settings for trial in self.trials]
        untried = [point for point in grid(study.space) if with_values(study.loss, point) not in tried]
        return with_values(study.loss, suggest(study.key, number, study.space, seen, untried))

    @cached_property
    def _effective(self) -> dict[str, Any]:
        """What the loss makes of the row's own settings."""
        study = self.study
        head = losses.create(study.loss.name, num_classes=self.facts.classes, dim=study.dim, **study.loss.hyper)
        return {name: getattr(head, name, None) for name in study.space if name != RATE}


def is_pruned(scores: Sequence[float], earlier: Sequence[Trial]) -> bool:
    """Whether a trial with these scores, of all seeds except the last, should end now."""
    seeds = len(scores)
    others = [fmean(one.scores[:seeds]) for one in earlier if len(one.scores) >= seeds and one.mean > WORST]
    return len(others) >= TRIALS_BEFORE_PRUNING and fmean(scores) < median(others)
