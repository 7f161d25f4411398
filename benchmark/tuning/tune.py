"""`tune EXPERIMENT`: runs studies in parallel, each trial after trial, and resumes from what is stored."""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

import losses
from benchmark import spec
from benchmark.dry_run import memory_in_words
from benchmark.engine import Job, RunOutcome, Work
from benchmark.engine.plan import Facts, facts_of, job_of, whole_run
from benchmark.engine.progress import Progress
from benchmark.errors import InputError
from benchmark.metrics import main_columns
from benchmark.options import RunOptions
from benchmark.run_experiment import check_engine, on_what, run_work, say, setting_of, stopped
from benchmark.spec import Budget, Experiment
from benchmark.spec.tuned_rows import one_training
from benchmark.store import Run, Store
from benchmark.tables import as_terminal
from benchmark.text import counted, duration
from benchmark.tuning.files import kept_of, trials_csv, tuned_file
from benchmark.tuning.outcome import outcome_table
from benchmark.tuning.sampler import check_optuna
from benchmark.tuning.space import RATE
from benchmark.tuning.study import WORST, Progressing, Study, TrialScore
from datasets._files import write_atomically

FOLDER = "tuning"


@dataclass(frozen=True)
class TuneRequest:
    """What the command line asked for."""

    experiment: Experiment
    options: RunOptions
    budget: Budget
    output: Path | None = None

    @property
    def store(self) -> Store:
        return Store(self.options.results / self.experiment.name, FOLDER)

    @property
    def trials(self) -> Path:
        return self.store.folder / "trials.csv"

    @property
    def tuned_file(self) -> Path:
        return self.output or self.options.results / self.experiment.name / "tuned.yaml"


def studies_of(request: TuneRequest) -> list[Study]:
    """Each row on each dataset that the request names; ValueError where something cannot be tuned."""
    experiment = request.experiment.without_tuned
    cells = experiment.cells(request.options.losses, request.options.datasets, experiment.seeds[:1])
    wanted = dict.fromkeys((cell.dataset_label, cell.label) for cell in cells)
    by_label = {row.label: row for row in experiment.losses}
    found = []
    for dataset, label in wanted:
        rows = [row for row in experiment.datasets if row.label == dataset]
        if len(rows) > 1 or not one_training(rows[0]):
            raise InputError(
                f"{experiment.name} trains on {dataset} in several ways (backbones, dims, recipes or entries); tuning "
                "needs one: write an experiment file with one, or leave the dataset out with --datasets"
            )
        found.append(Study(rows[0], by_label[label], request.budget))
    return found


def _of_all_rows(request: TuneRequest) -> TuneRequest:
    """Every loss, on the datasets that are trained on in one way."""
    rows = request.experiment.datasets
    labels = Counter(row.label for row in rows)
    tunable = [row.label for row in rows if labels[row.label] == 1 and one_training(row)]
    return replace(request, options=replace(request.options, losses=None, datasets=tunable))


def dry_run(request: TuneRequest) -> str:
    """The studies, a line each, with an estimate of their time if no trial is pruned."""
    studies = studies_of(request)
    seconds = spec.estimate_seconds([study.cell(study.first, 0) for study in studies])
    runs = [study.trials * request.budget.seeds for study in studies]
    whole = [None if one is None else one * count for one, count in zip(seconds, runs, strict=True)]
    lines = [
        f"{study.data.label} · {study.loss.label} · {_space_in_words(study)} · {counted(study.trials, 'trial')} · "
        f"{spec.in_words([time])}"
        for study, time in zip(studies, whole, strict=True)
    ]
    total = f"{_studies(len(studies))}, at most {counted(sum(runs), 'run')}, {spec.in_words(whole)} on one core"
    memory = spec.estimate_memory(study.cell(study.first, 0) for study in studies)
    return "\n".join([*lines, total, memory_in_words(memory, request.options.workers_for(len(studies)))])


def _studies(count: int) -> str:
    return "1 study" if count == 1 else f"{count:,} studies"


def _space_in_words(study: Study) -> str:
    return ", ".join(f"{'lr' if name == RATE else name} {one.in_words()}" for name, one in study.space.items())


def tune(request: TuneRequest) -> int:
    """Runs what has no result yet and writes trials and settings; the exit status."""
    check_engine(request.options)
    studies = studies_of(request)
    if any(not study.is_exhaustive for study in studies):
        check_optuna()
    every = studies_of(_of_all_rows(request))
    kept = kept_of(request.tuned_file, request.trials, every, studies, request.budget)
    request.store.clear_leftovers()
    tuning = Tuning(_with_facts(studies, request.options.data), request.store, request.options.retry_failed)
    begun, first = time.monotonic(), tuning.begin()
    _tell_about(tuning, request)
    outcome = _run(first, tuning, request) if first else RunOutcome()
    for note in tuning.notes:
        say(f"note: {note}")
    if status := stopped(outcome):
        return status
    if outcome.done:
        runs, seconds = counted(len(outcome.done), "run"), duration(time.monotonic() - begun)
        say(f"{runs} in {seconds} {on_what(request.options, len(first))}")
    order = [study.place for study in every]
    content = tuned_file(request.experiment.without_tuned, request.budget, tuning.studies, order, kept)
    write_atomically(request.trials, trials_csv(tuning.studies, order, kept))
    write_atomically(request.tuned_file, content)
    if kept.choices:
        say(f"kept the settings of {counted(len(kept.choices), 'row')} from an earlier tuning")
    print(as_terminal(outcome_table(tuning.studies)))
    print(f"\ntrials: {request.trials}\ntuned settings: {request.tuned_file}")
    print(f"use them: python -m benchmark run {request.experiment.called} --tuned {request.tuned_file}")
    return _failures(tuning)


def _with_facts(studies: list[Study], root: Path | None) -> list[Progressing]:
    """Loads each dataset once, without its test split, and checks what would fail in every trial."""
    known: dict[str, Facts] = {}
    for study in studies:
        if study.data.label not in known:
            say(f"loading {study.data.label} …")
            facts = facts_of(study.data.dataset, study.data.access, root, test=False)
            if not facts.validation:
                raise InputError(
                    f"{study.data.label} has no validation images, and tuning chooses by them: "
                    "raise its val_share, or leave the dataset out with --datasets"
                )
            known[study.data.label] = facts
        cell = study.cell(study.first, 0)
        losses.create(cell.loss, num_classes=known[study.data.label].classes, dim=cell.dim, **dict(cell.hyper))
    return [Progressing(study, known[study.data.label]) for study in studies]


def _tell_about(tuning: "Tuning", request: TuneRequest) -> None:
    budget, trials = request.budget, sum(study.study.trials for study in tuning.studies)
    done = sum(len(one.trials) - (one.trials[-1].fate == "under way") for one in tuning.studies if one.trials)
    studies, seeds = _studies(len(tuning.studies)), counted(budget.seeds, "seed")
    say(f"{request.experiment.name}: {studies}, {counted(trials, 'trial')} of {seeds}, {done} done")


def _run(first: list[Job], tuning: "Tuning", request: TuneRequest) -> RunOutcome:
    setting = replace(setting_of(request.options), test=False)
    workers = request.options.workers_for(len(first))
    work = Work(first, request.store, setting, workers, TuningProgress(tuning, workers), tuning.follow)
    return run_work(work, request.options)


def _failures(tuning: "Tuning") -> int:
    failed = [one for one in tuning.studies if any(trial.fate == "failed" for trial in one.trials)]
    for one in failed:
        count = sum(trial.fate == "failed" for trial in one.trials)
        trials = counted(len(one.trials), "trial")
        say(f"{one.study.data.label} · {one.study.loss.label}: {count} of {trials} failed")
    if failed:
        say("add --retry-failed to run the failed ones again")
    return 1 if failed else 0


@dataclass
class Tuning:
    """All studies, and which of them wait for which run."""

    studies: list[Progressing]
    store: Store
    retry_failed: bool = False
    notes: list[str] = field(default_factory=list)
    waiting: dict[str, list[Progressing]] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)

    def begin(self) -> list[Job]:
        """Replays what is stored; the runs that come next."""
        return [job for study in self.studies for job in self._go_on(study)]

    def follow(self, job: Job) -> list[Job]:
        """What comes after a run that is stored now, or has failed."""
        return [following for study in self.waiting.pop(job.id, []) for following in self._go_on(study)]

    def _go_on(self, study: Progressing) -> list[Job]:
        while (cell := study.next_cell()) is not None:
            job = job_of(cell, study.facts)
            measured = self._measured(job, study)
            if measured is None:
                self.tried.add(job.id)
                waiting = self.waiting.setdefault(job.id, [])
                waiting.append(study)
                return [job] if len(waiting) == 1 else []
            study.tell(measured)
        return []

    def _measured(self, job: Job, study: Progressing) -> TrialScore | None:
        run = whole_run(job, self.store, self.notes)
        if run is not None:
            return measured(run, main_columns()[study.facts.protocol].on("val").key)
        if self.store.failure(job.id) is not None and (not self.retry_failed or job.id in self.tried):
            return TrialScore(WORST, "failed")
        return None


def measured(run: Run, metric: str) -> TrialScore:
    """A stored run's score; one that diverged, or has no such metric, has the worst."""
    if run.diverged_at is not None:
        return TrialScore(WORST, "diverged")
    score = run.metrics.get(metric)
    return TrialScore(WORST, "failed") if score is None else TrialScore(float(score))


class TuningProgress(Progress):
    """Counts all runs that may come, less those that pruning saves."""

    def __init__(self, tuning: Tuning, workers: int, stream: TextIO = sys.stderr) -> None:
        super().__init__([], workers, stream)
        self.studies = tuning.studies
        self.more([])

    def more(self, jobs: list[Job]) -> None:
        """What follows was expected; pruning leaves less to do than was thought."""
        self.total = self.count + sum(study.runs_left for study in self.studies)
        self.work = self.gone + sum(study.images_left for study in self.studies)
        if self.bar is not None:
            self.bar.total = self.total
