"""The README is short, its results are those of results/reference, and it leads to the answers."""

import re
import shutil
from pathlib import Path

import pytest

from docs import answer

CLONE = Path(__file__).parents[2]
README = CLONE / "README.md"


def test_it_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 160


@pytest.mark.parametrize("page", answer.PAGES, ids=lambda page: page.name)
def test_results_are_those_of_the_reference_files(page: Path) -> None:
    written = page.read_text()
    assert answer.with_blocks(written) == written, "run: python -m docs.answer --write"


def test_every_block_has_a_place() -> None:
    placed = [re.findall(r"<!-- (?!end of)(.+?) -->", page.read_text()) for page in answer.PAGES]
    assert placed == [["answer"], list(answer.BLOCKS)]


def test_other_results_give_another_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = tmp_path / "reference"
    shutil.copytree(answer.REFERENCE, reference)
    monkeypatch.setattr(answer, "REFERENCE", reference)
    before = answer.answer()
    table = reference / "default" / "table.md"
    table.write_text(table.read_text().replace("<u>", "").replace("</u>", ""))
    after = answer.answer()
    assert "are not significantly different" in before
    assert "The other ten are significantly worse." in after
    shutil.copy(reference / "default" / "before-tuning.md", table)
    assert "sphereface has the highest mean verification accuracy, 95.64 ± 0.70 %" in answer.answer()


def test_lines_of_the_answer() -> None:
    assert len(answer.answer().splitlines()) == 5


@pytest.mark.parametrize("page", ["choosing-a-loss.md", "choosing-a-loss.md#which-s-and-m", "tutorials/own-images.md"])
def test_three_questions_are_one_click_away(page: str) -> None:
    assert f"(docs/{page})" in README.read_text()


def test_links_lead_to_files() -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README.read_text()):
        assert (CLONE / link).exists(), link


def test_the_picture_is_described_as_it_is() -> None:
    worse = sorted(
        entry.loss for entry in answer.main_table(answer.REFERENCE / "default" / "table.md")["glyphs"] if not entry.tied
    )
    assert (
        f"only {' and '.join(worse)} are significantly worse](results/reference/default/forest.png)"
        in README.read_text()
    )
