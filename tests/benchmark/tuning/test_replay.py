"""How stored runs become trials again."""

from pathlib import Path

import pytest

from benchmark import spec
from benchmark.engine import Job
from benchmark.engine.plan import Facts
from benchmark.options import RunOptions
from benchmark.scoring import Scores
from benchmark.spec import Budget
from benchmark.store import Failure, Store
from benchmark.tuning.study import Progressing
from benchmark.tuning.tune import TuneRequest, Tuning, studies_of

FACTS = Facts("d" * 64, 200, 100, 10, "closed", (), 1)


@pytest.fixture
def studies(tmp_path: Path) -> list[Progressing]:
    """Two of the same, so that each wants what the other wants."""
    text = "dim: 8\ndatasets: [digits]\nrecipe: {lr: 0.1, epochs: 1}\nlosses: [softmax]\n"
    (tmp_path / "some.yaml").write_text(text)
    budget = Budget(trials=2, seeds=2)
    (study,) = studies_of(TuneRequest(spec.load(tmp_path / "some.yaml"), RunOptions(results=tmp_path), budget))
    return [Progressing(study, FACTS), Progressing(study, FACTS)]


def save(store: Store, job: Job, score: float | None, diverged_at: int | None = None) -> None:
    metrics = {} if score is None else {"val/classification_accuracy": score, "val/accuracy": 0.0}
    files = {**Scores(metrics).files(diverged_at), "history.csv": b"", "embeddings.safetensors": b""}
    store.save(job.id, files, {"cell": job.cell.description()})


def test_studies_that_want_the_same_run_share_it(studies: list[Progressing], tmp_path: Path) -> None:
    tuning = Tuning(studies, Store(tmp_path, "tuning"))
    jobs, scores = tuning.begin(), iter((0.5, 0.6, 0.7, 0.8))
    while jobs:
        assert len(jobs) == 1
        save(tuning.store, jobs[0], next(scores))
        jobs = tuning.follow(jobs[0])
    assert studies[0].trials == studies[1].trials
    assert [trial.scores for trial in studies[0].trials] == [(0.5, 0.6), (0.7, 0.8)]
    assert studies[0].chosen.number == 1


def test_what_is_stored_is_replayed(studies: list[Progressing], tmp_path: Path) -> None:
    store = Store(tmp_path, "tuning")
    first, second = (Tuning([study], store) for study in studies)
    (job,) = first.begin()
    save(store, job, 0.5)
    (job,) = first.follow(job)
    assert [following.id for following in second.begin()] == [job.id]
    assert first.studies[0].trials == second.studies[0].trials


def test_a_damaged_run_is_run_again(studies: list[Progressing], tmp_path: Path) -> None:
    tuning = Tuning(studies[:1], Store(tmp_path, "tuning"))
    (job,) = tuning.begin()
    save(tuning.store, job, 0.5)
    (tuning.store.runs / job.id / "metrics.json").write_text("{}")
    (again,) = tuning.follow(job)
    assert again.id == job.id
    assert "it is run again" in tuning.notes[0]


def test_diverged_and_failed_runs(studies: list[Progressing], tmp_path: Path) -> None:
    tuning = Tuning(studies[:1], Store(tmp_path, "tuning"))
    (job,) = tuning.begin()
    save(tuning.store, job, None, diverged_at=3)
    (job,) = tuning.follow(job)
    assert studies[0].trials[0].fate == "diverged"
    tuning.store.record_failure(Failure(job.id, job.name, "it broke", job.cell.description()))
    assert tuning.follow(job) == []
    assert studies[0].trials[1].fate == "failed"


def test_a_failed_run_is_tried_again_once_where_that_is_asked_for(studies: list[Progressing], tmp_path: Path) -> None:
    store = Store(tmp_path, "tuning")
    (job,) = Tuning(studies[:1], store).begin()
    store.record_failure(Failure(job.id, job.name, "it broke", job.cell.description()))
    tuning = Tuning(studies[1:], store, retry_failed=True)
    (again,) = tuning.begin()
    assert again.id == job.id
    (following,) = tuning.follow(again)  # it broke again
    assert following.id != job.id
    assert studies[1].trials[0].fate == "failed"
