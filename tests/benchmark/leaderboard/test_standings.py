"""Who stands where, from entries made by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark import spec
from benchmark.cell import PROTOCOL_VERSION
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.site import build
from benchmark.leaderboard.standings import Board, Standings, baseline_label, name_of, settings_of, standings
from benchmark.leaderboard.text import left_aside, of_each, whole_table
from benchmark.spec import Experiment
from tests.benchmark.leaderboard import made

TEXT = """\
baseline: normface
seeds: 5
datasets: [digits, {glyphs: {classes: 300}}]
losses: [{normface: {s: auto}}, arcface]
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    (tmp_path / "board.yaml").write_text(TEXT)
    return spec.load(tmp_path / "board.yaml")


def asked(experiment: Experiment, loss: str, mean: float = 0.9, **options: object) -> Entry:
    """An entry with the very settings that the experiment asks for."""
    content = made.content(loss, means={"digits": mean, "letters": mean}, **options)
    for result, setting in zip(content["results"], settings_of(experiment), strict=True):
        result.update({key: setting[key] for key in ("dataset", "backbone", "dim", "recipe")})
    return Entry.model_validate(json.loads(json.dumps(made.with_ids(content))))


def named(*entries: Entry) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


def test_entries_made_alike_form_a_board_and_the_others_are_apart(experiment: Experiment) -> None:
    alike = [asked(experiment, "normface", 0.8, hyper={"s": "auto"}), asked(experiment, "mine", 0.9)]
    older = asked(experiment, "older", protocol=PROTOCOL_VERSION + 1)
    fewer = asked(experiment, "fewer", seeds=3)
    elsewhere = made.entry("elsewhere")
    found = standings(named(*alike, older, fewer, elsewhere), experiment, {}, {})
    assert found.current is not None
    assert set(found.current.entries) == {"normface s=auto", "mine"}
    assert found.current.baseline == baseline_label(experiment) == "normface s=auto"
    assert sorted(len(board.entries) for board in found.others) == [1, 1, 1]
    lines = left_aside(found, Entries(refused={"bad.json": "is not an entry"}))
    assert lines[0] == "refused: bad.json: is not an entry"
    assert any(f"{older.name}.json: it was made with protocol version {PROTOCOL_VERSION + 1}" in line for line in lines)
    assert any(f"{fewer.name}.json: its datasets, training or seeds differ" in line for line in lines)
    assert any(f"{elsewhere.name}.json: its datasets, training or seeds differ" in line for line in lines)


def test_other_data_of_the_same_name_is_another_board(experiment: Experiment) -> None:
    here = [asked(experiment, name) for name in ("one", "two")]
    content = asked(experiment, "three").model_dump(mode="json")
    content["results"][0]["digest"] = "f" * 64
    other = Entry.model_validate(made.with_ids(content))
    assert other.name.startswith("three-")
    found = standings(named(*here, other), experiment, {}, {})
    assert found.current is not None
    assert set(found.current.entries) == {"one", "two"}
    assert [set(board.entries) for board in found.others] == [{"three"}]


def test_an_entry_counts_only_while_its_file_in_losses_is_what_it_was(experiment: Experiment) -> None:
    entries = [asked(experiment, name, origin="repository") for name in ("same", "edited", "gone")]
    entries.append(asked(experiment, "ours", origin="plug-in"))
    digests = {"same": "c" * 64, "edited": "9" * 64, "ours": "9" * 64}
    found = standings(named(*entries), experiment, digests, {})
    assert found.current is not None
    assert set(found.current.entries) == {"same"}
    reasons = {name.partition("-")[0]: reason for name, reason in found.outdated.items()}
    assert "losses/edited.py has changed since" in reasons["edited"]
    assert "leaderboard edited" in reasons["edited"]
    assert reasons["gone"] == "there is no loss gone in losses/ any more"
    assert reasons["ours"] == "it was made with a plug-in, but losses/ has its own loss named ours"


def test_an_entry_counts_only_while_its_backbone_is_what_it_was(experiment: Experiment) -> None:
    entries = named(asked(experiment, "same", origin="repository"), asked(experiment, "mine"))
    losses, made_with = {"same": "c" * 64}, {"convnet": "e" * 64, "resnet20": "9" * 64}
    assert not standings(entries, experiment, losses, made_with).outdated
    found = standings(entries, experiment, losses, {**made_with, "convnet": "9" * 64})
    assert found.current is None
    assert len(found.outdated) == 2
    assert all("the code of the backbone convnet has changed since" in reason for reason in found.outdated.values())


def test_entries_of_different_backbone_code_are_not_compared(experiment: Experiment) -> None:
    """Also where the backbone is a plug-in's, whose present code nobody here knows."""
    one, two = asked(experiment, "one"), made.content("two")
    two = json.loads(asked(experiment, "two").model_dump_json())
    for result in two["results"]:
        result["backbone_digest"] = "f" * 64
    found = standings(named(one, Entry.model_validate(made.with_ids(two))), experiment, {}, {})
    assert sorted(len(board.entries) for board in [found.current, *found.others] if board) == [1, 1]


def test_nothing_counts_yet(experiment: Experiment) -> None:
    assert standings({}, experiment, {}, {}).current is None


def test_the_name_of_an_experiment_s_row_is_that_of_its_entry(experiment: Experiment) -> None:
    entry = asked(experiment, "normface", hyper={"s": "auto"})
    assert name_of(experiment.losses[0], experiment) == entry.name


def board(*entries: Entry, baseline: str = "low") -> Board:
    return Board({entry.label: entry for entry in entries}, baseline)


def entered(loss: str, mean: float, **options: object) -> Entry:
    return made.entry(loss, means={"digits": mean, "letters": mean}, **options)


def test_the_row_the_differences_and_the_ties_of_one_loss() -> None:
    entries = [entered("low", 0.80), entered("near", 0.8995), entered("mine", 0.9), entered("top", 0.97)]
    text = of_each(board(*entries), [entries[2]])
    assert text.startswith("mine: place 2 of 4\n")
    words = [line.split() for line in text.splitlines()]
    row = next(line for line in words if line[:1] == ["mine"] and "target" in line)
    digits = entries[2].results[0].figures["test/classification_accuracy"]
    assert row[1] == f"{20 * sum(value or 0 for value in digits):.2f}"
    better = [line for line in words if line[:1] == ["mine"] and "better" in line]
    assert {line[1] for line in better} == {"digits", "letters", "all"}
    ties = text[text.index("Not significantly different from mine after") :].splitlines()
    assert ties[1:] == ["  digits: near", "  letters: near", "  all datasets: near"]


def test_the_baseline_itself_and_a_board_without_it() -> None:
    entries = [entered("low", 0.8), entered("mine", 0.9)]
    assert "low is the baseline that the others are compared with" in of_each(board(*entries), [entries[0]])
    without = of_each(board(*entries, baseline="absent"), [entries[1]])
    assert "The baseline absent has no entry here" in without
    assert "Differences from" not in without


def test_few_seeds_give_means_and_no_test() -> None:
    entries = [entered("low", 0.8, seeds=2), entered("mine", 0.9, seeds=2)]
    text = of_each(board(*entries), [entries[1]])
    assert "mine: place 1 of 2" in text
    assert "digits: not tested, because a test needs 5 seeds" in text


def test_one_loss_alone() -> None:
    alone = entered("alone", 0.9)
    text = of_each(board(alone), [alone])
    assert "alone: place 1 of 1" in text
    assert "Tied with" not in text


def odd_entries() -> list[Entry]:
    """Sound in form, and of little use."""
    unknown, partly = (made.content(name) for name in ("unknown", "partly"))
    unknown["results"][0]["figures"]["test/of-tomorrow"] = [1.0] * 5
    del partly["results"][1]["figures"]["test/eer"]
    partly["results"][0]["figures"]["test/accuracy"] = [None, 0.9, None, None, 0.8]
    alone = made.content("alone", seeds=1)
    odd = made.content("odd")
    for result in odd["results"]:
        result["dataset"], result["recipe"] = {}, {"lr": ["a", {"b": None}]}
    return [Entry.model_validate(made.with_ids(one)) for one in (unknown, partly, alone, odd)]


@pytest.mark.parametrize("entry", odd_entries(), ids=lambda entry: entry.loss)
def test_odd_entries_disturb_nothing(entry: Entry) -> None:
    for standing in (board(entry), board(entered("low", 0.8), entered("mine", 0.9), entry)):
        assert entry.label in whole_table(standing)
        assert entry.label in of_each(standing, [entry])
        files = build(Standings(board(entered("low", 0.8)), [standing]), Entries())
        assert f"losses/{entry.name}.html" in files


def test_a_loss_whose_runs_all_diverged_comes_last() -> None:
    content = made.content("lost", means={"digits": 0.9, "letters": 0.9})
    for result in content["results"]:
        result["figures"], result["without_each_identity"] = {}, {}
        for run in result["runs"]:
            run.update(diverged_at=12, diverged_reason="the loss is not finite")
    lost = Entry.model_validate(content)
    standing = board(entered("low", 0.8), lost)
    assert standing.order == ["low", "lost"]
    text = whole_table(standing)
    assert "diverged" in next(line for line in text.splitlines() if line.startswith("lost"))
    assert "5 runs of 5 diverged" in text
    assert "no seed has a value for both" in of_each(standing, [lost])


def altered(entry: Entry, change: Callable[[Any], None]) -> Entry:
    content = entry.model_dump(mode="json")
    change(content)
    return Entry.model_validate(made.with_ids(content))


def test_an_entry_with_other_identities_is_left_out_and_disturbs_nobody(experiment: Experiment) -> None:
    honest = [asked(experiment, name) for name in ("one", "two")]

    def cut(content: Any) -> None:
        rows = content["results"][1]["without_each_identity"]
        rows["test/accuracy"] = [row[:3] for row in rows["test/accuracy"]]

    odd = altered(asked(experiment, "odd", 0.99), cut)
    found = standings(named(*honest, odd), experiment, {}, {})
    assert found.current is not None
    assert set(found.current.entries) == {"one", "two"}
    assert "it has 3 test identities" in found.outdated[odd.name]
    assert "one" in str(whole_table(found.current))


def test_what_an_entry_calls_its_datasets_changes_nobody_s_row(experiment: Experiment) -> None:
    honest = [asked(experiment, name) for name in ("one", "two")]

    def swap(content: Any) -> None:
        first, second = content["results"]
        first["label"], second["label"] = second["label"], first["label"]

    def rename(content: Any) -> None:
        content["results"][0]["label"] = "../../etc"

    others = [altered(asked(experiment, "swapped"), swap), altered(asked(experiment, "renamed"), rename)]
    found = standings(named(*honest, *others), experiment, {}, {})
    assert found.current is not None
    expected = standings(named(*honest), experiment, {}, {}).current
    assert expected is not None
    of_board, alone = found.current.findings, expected.findings
    assert len(found.current.entries) == 4
    assert sorted(of_board.results["dataset"].unique()) == sorted(alone.results["dataset"].unique())


def test_two_entries_of_one_label_are_told(experiment: Experiment) -> None:
    whole, decimal = (asked(experiment, "mine", hyper={"s": s}) for s in (64, 64.0))
    assert whole.name != decimal.name
    found = standings(named(whole, decimal), experiment, {}, {})
    assert found.current is not None
    assert list(found.current.entries) == ["mine s=64"]
    assert list(found.outdated) == [max(whole.name, decimal.name)]
    assert "has the same configuration, mine s=64" in found.outdated[max(whole.name, decimal.name)]
