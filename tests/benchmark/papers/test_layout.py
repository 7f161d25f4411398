"""What a table says: 2nd-hand wherever it is, a footnote for every difference, and text that stays text."""

import csv

import pandas as pd
import pytest
import yaml

from benchmark.papers import Paper, compare_with_published, tables
from benchmark.papers.run_table import write_tables
from benchmark.papers.setting import differences, unknown
from benchmark.tables import as_csv, as_html, as_latex, as_markdown, as_terminal
from tests.benchmark.papers.conftest import PAPER


def cell(table, row: str, heading: str):
    column = [column.heading for column in table.columns].index(heading)
    return next(line.entries[column] for line in table.rows if line.entries[0].text == row)


def test_published_measured_and_difference_stand_side_by_side(paper: Paper, frame: pd.DataFrame) -> None:
    table, *_ = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    headings = [column.heading for column in table.columns]
    assert headings[:4] == ["loss", "MNIST %, published", "on MNIST %, measured", "difference"]
    assert headings[4:] == ["Faces %, published", "Context % (another), published", "on digits %, measured"]
    assert cell(table, "margin", "MNIST %, published").text == "99.10 (mean of 2)"
    assert cell(table, "margin", "on MNIST %, measured").text == "98.00 ± 0.20"
    assert cell(table, "margin", "difference").text == "−1.10 ± 0.20"
    assert cell(table, "plain", "difference").text == "−1.00 ± 0.20"
    assert cell(table, "quoted only", "difference").text == "–"


def test_second_hand_is_said_wherever_it_is_shown(paper: Paper, frame: pd.DataFrame) -> None:
    table, *_ = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    assert cell(table, "margin", "Faces %, published").text == "95.00 (2nd-hand)"
    assert "2nd-hand" in cell(table, "margin", "Faces %, published").note
    assert "B. Other" in cell(table, "margin", "Faces %, published").note
    for write in (as_terminal, as_markdown, as_latex, as_html):
        shown = str(write(table)).replace("{-}", "-").replace("\\", "")
        assert shown.count("2nd-hand") >= 3  # two figures and their note


def test_why_a_row_is_not_measured_is_said(paper: Paper, frame: pd.DataFrame) -> None:
    table, *_ = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    assert cell(table, "quoted only", "on digits %, measured").note == "it is another suite's"


def test_every_difference_of_setting_has_a_footnote(paper: Paper, frame: pd.DataFrame) -> None:
    scale = paper.scales["cpu"]
    found = differences(paper, scale)
    assert found == [
        "training data: mnist there, mnist, digits here",
        "net: A large net there, convnet here",
        "embedding size: 512 there, 64 here",
        "batch: 512 there, 128 here",
        "tested weights: the best on the test set there, the last weights here",
        "s: 64 there, 16 here (plain)",
        "s: 64 there, 10.8 (auto) here (margin)",
    ]
    notes = tables(compare_with_published(paper, scale, frame))[0].footnotes
    assert [f"Differs: {difference}." for difference in found] == [note for note in notes if "Differs" in note]
    known_here = unknown(paper, scale)
    assert "optimiser, sgd here" in known_here
    assert "runs, 5 here" in known_here
    assert not [one for one in known_here if one.startswith(("net", "batch"))]
    assert any(note.startswith("Not known of the published runs: ") for note in notes)


def test_what_is_alike_in_other_words_gets_no_footnote(load) -> None:
    text = PAPER.replace("  smoke: &scale\n", "  smoke: &scale\n    alike: [train, net]\n    differences: [by hand]\n")
    paper = load(text)
    found = differences(paper, paper.scales["cpu"])
    assert not [one for one in found if one.startswith(("training data", "net"))]
    assert found[-1] == "by hand"


def test_a_schedule_that_ends_elsewhere_differs(load) -> None:
    text = PAPER.replace("batch: 512,", "batch: 512, schedule: 'cosine, down to .001',")
    text = text.replace("      seeds: 5\n", "      seeds: 5\n      recipe: {schedule: cosine}\n")
    paper = load(text)
    assert "schedule: cosine, down to .001 there, cosine, down to 0 here" in differences(paper, paper.scales["cpu"])


def test_another_protocol_is_named(load) -> None:
    recipe = "      recipe: {pixel_mean: 0.5, pixel_std: 0.5, flip_test: true}\n"
    text = PAPER.replace("      seeds: 5\n", "      seeds: 5\n" + recipe)
    silent, said = load(text), load(text.replace("batch: 512,", "batch: 512, flip_test: 'no', normalisation: none,"))
    here = "by mean 0.5 and deviation 0.5, pixels from 0 to 1"
    assert {"flip test, yes here", f"normalisation of pixels, {here} here"} <= set(
        unknown(silent, silent.scales["cpu"])
    )
    found = differences(said, said.scales["cpu"])
    assert {"flip test: no there, yes here", f"normalisation of pixels: none there, {here} here"} <= set(found)
    plain = load(PAPER)
    assert not [one for one in unknown(plain, plain.scales["cpu"]) if one.startswith(("flip", "order"))]


def test_a_figure_without_counterpart_has_its_reason(load, frame: pd.DataFrame) -> None:
    given = "    unmeasured: [{columns: [Context], because: it is another loss's}]\n"
    text = PAPER.replace("  smoke: &scale\n", "  smoke: &scale\n" + given).replace("[MNIST, Context]", "[MNIST]")
    paper = load(text)
    notes = tables(compare_with_published(paper, paper.scales["cpu"], frame))[0].footnotes
    assert "Not measured: Context: it is another loss's." in notes


def test_a_line_a_figure(load, frame: pd.DataFrame) -> None:
    paper = load(PAPER.replace("title: A paper", "title: A paper\nlayout: columns"))
    table, *_ = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    headings = [column.heading for column in table.columns]
    assert headings == [
        "published metric",
        "measured metric",
        "plain, published",
        "plain, measured",
        "difference",
        "margin, published",
        "margin, measured",
        "difference",
        "quoted only, published",
    ]
    texts = [[entry.text for entry in line.entries] for line in table.rows]
    lines = {(published, measured): rest for published, measured, *rest in texts}
    assert lines["Faces %", "on digits %"][0] == "90.00"
    assert lines["Faces %", "on digits %"][2] == "–"
    assert lines["–", "on MNIST %"][1].startswith("97.00")


def test_effects_and_their_verdicts_have_a_table(paper: Paper, frame: pd.DataFrame) -> None:
    _, effects = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    first, second = ([entry.text for entry in line.entries] for line in effects.rows)
    assert first[:3] == ["margin − plain", "on MNIST %", "MNIST +1.10"]
    assert first[3].startswith("+1.00 ± ")
    assert first[5] == "same direction"
    assert second[5] == "not significant here"


def test_second_hand_differences_say_so_and_why_sources_are_compared(load, frame: pd.DataFrame) -> None:
    reason = "comparable: [{sources: [own, quoted], because: one table has both}]\nsetting:"
    paper = load(PAPER.replace("setting:", reason))
    _, effects = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    assert effects.rows[0].entries[2].text == "MNIST +1.10"
    published = effects.rows[1].entries[2]
    assert (published.text, published.note) == ("Faces +5.00 (2nd-hand)", "one table has both")
    for write in (as_terminal, as_markdown, as_latex, as_html, as_csv):
        assert "2nd-hand" in str(write(effects)).replace("{-}", "-")


def test_equal_published_figures_have_a_verdict_of_their_own(load, frame: pd.DataFrame) -> None:
    paper = load(PAPER.replace("MNIST: [99.0, 99.2]", "MNIST: 98.0"))
    _, effects = tables(compare_with_published(paper, paper.scales["cpu"], frame))
    assert [entry.text for entry in effects.rows[0].entries][2::3] == ["MNIST 0.00", "published values are equal"]


def test_missing_data_and_unfinished_runs_are_said(paper: Paper, frame: pd.DataFrame) -> None:
    comparison = compare_with_published(paper, paper.scales["cpu"], frame, left_out={"mnist": "not here"}, unfinished=3)
    notes = tables(comparison)[0].footnotes
    assert "mnist was left out: not here" in notes
    assert "3 runs have no result yet." in notes


LABEL = "<script>alert(1)</script> \\\\input{x} | [x](javascript:1) =cmd() $x$"
TEXT = LABEL + " \x1b[31m {{7*7}}"


def with_hostile(place: str, frame: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The paper with something hostile in one place, and the runs of its rows."""
    data = yaml.safe_load(PAPER)
    if place == "title":
        data["title"] = LABEL
    elif place == "source":
        data["sources"]["own"]["paper"] = TEXT
    elif place == "reason":
        data["rows"][2]["unmeasured"] = TEXT
    elif place == "difference":
        data["scales"]["cpu"]["differences"] = [TEXT]
    elif place == "figure":
        data["columns"][1]["name"] = LABEL
        for row in data["rows"]:
            for published in row["published"]:
                if "Faces" in published["values"]:
                    published["values"][LABEL] = published["values"].pop("Faces")
        for scale in data["scales"].values():
            scale["measured"][1]["beside"] = [LABEL]
    elif place == "row":
        data["rows"][0]["label"] = LABEL
        data["effects"] = [["margin", LABEL]]
        for scale in data["scales"].values():
            scale["experiment"]["losses"][0]["label"] = LABEL
        frame = frame.replace({"loss": {"plain": LABEL}})
    return yaml.safe_dump(data, allow_unicode=True), frame


@pytest.mark.parametrize("place", ["title", "source", "reason", "difference", "figure", "row"])
def test_hostile_text_in_a_paper_file_comes_out_as_text(place: str, load, frame: pd.DataFrame, tmp_path) -> None:
    text, frame = with_hostile(place, frame)
    paper = load(text)
    comparison = compare_with_published(paper, paper.scales["cpu"], frame)
    folder = write_tables(comparison, tmp_path / "table")
    page = (folder / "index.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in (folder / "table.md").read_text()
    assert "](javascript" not in (folder / "table.md").read_text()
    assert "\\input{" not in (folder / "table.tex").read_text()
    assert all("\x1b" not in as_terminal(table) for table in tables(comparison))
    for file in folder.glob("*.csv"):
        assert not any(line.startswith(("=", '"=')) for line in file.read_text().splitlines())


def test_files_of_a_table(paper: Paper, frame: pd.DataFrame, tmp_path) -> None:
    write_tables(compare_with_published(paper, paper.scales["cpu"], frame), tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*") if path.suffix != ".yaml") == [
        "index.html",
        "table-mine-cpu-differences.csv",
        "table-mine-cpu.csv",
        "table.md",
        "table.tex",
    ]
    rows = list(csv.DictReader((tmp_path / "table-mine-cpu.csv").open()))
    assert float(rows[1]["on MNIST %, measured"]) == pytest.approx(98.0)
    assert float(rows[1]["on MNIST %, measured ±"]) == pytest.approx(0.1963, abs=1e-4)
    assert float(rows[1]["on MNIST minus MNIST"]) == pytest.approx(-1.1)


@pytest.mark.parametrize("layout", ["losses", "columns"])
def test_csv_files_say_where_a_figure_was_read(layout: str, load, frame: pd.DataFrame, tmp_path) -> None:
    paper = load(PAPER.replace("title: A paper", f"title: A paper\nlayout: {layout}"))
    write_tables(compare_with_published(paper, paper.scales["cpu"], frame), tmp_path)
    rows = list(csv.DictReader((tmp_path / "table-mine-cpu.csv").open()))
    if layout == "losses":
        own, quoted = rows[0]["Faces %, published, source"], rows[1]["Faces %, published, source"]
        assert rows[2]["Faces %, published, source"] == ""
    else:
        faces = next(row for row in rows if row["published metric"] == "Faces %")
        own, quoted = faces["plain, published, source"], faces["margin, published, source"]
    assert own == "A. Author, Table 1 (https://example.org/paper)"
    assert quoted == "B. Other (https://example.org/other); 2nd-hand"
    differences = list(csv.DictReader((tmp_path / "table-mine-cpu-differences.csv").open()))
    assert "different sources" in differences[1]["published, remark"]
    assert differences[0]["published, remark"] == ""


def test_a_measured_figure_beside_two_published_ones_is_shown_once(load, frame: pd.DataFrame, tmp_path) -> None:
    text = PAPER.replace("Context, data: mnist, other_loss: another", "Context, data: mnist")
    paper = load(text)
    write_tables(compare_with_published(paper, paper.scales["cpu"], frame), tmp_path)
    names = next(csv.reader((tmp_path / "table-mine-cpu.csv").open()))
    assert names.count("on MNIST %, measured") == 1
    assert "on MNIST minus MNIST" in names
    assert "on MNIST minus Context" in names
