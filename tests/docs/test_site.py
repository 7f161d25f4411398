"""The documentation builds without a warning, all its links lead somewhere, and it needs no network."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import datasets
import losses
from benchmark import claims, papers
from benchmark.metrics import MEASURES
from docs import generate
from docs.generate import command_line
from tests.browser import Browser

pytestmark = [pytest.mark.xdist_group("docs"), pytest.mark.long]  # one build for all of them
CLONE = Path(__file__).parents[2]
LOADED = {"link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data"}
SHOWN = ("index.html", "losses/arcface.html", "reference/experiment-file.html", "papers/arcface.html", "claims/5.html")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of docs/ beside links to the rest, so that a build writes nothing into the repository."""
    folder = tmp_path_factory.mktemp("site")
    for path in CLONE.iterdir():
        if path.name not in ("docs", ".git", ".venv"):
            (folder / path.name).symlink_to(path)
    generated = [str(CLONE / "docs" / name) for name in (*generate.FOLDERS, "_build")]

    def leave_out(where: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "__pycache__" or os.path.join(where, name) in generated]

    shutil.copytree(CLONE / "docs", folder / "docs", ignore=leave_out)
    return folder


@pytest.fixture(scope="module")
def site(clone: Path) -> Path:
    """The folder of the built pages, at the place where `make docs` has it."""
    target = "docs/_build/html"
    call = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", target]
    done = subprocess.run(call, cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return clone / target


@dataclass
class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser loads for it."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in site.rglob("*.html")}


def dead_links(pages: dict[Path, Page]) -> Iterator[str]:
    for page in pages.values():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            if not target.exists():
                yield f"{page.path.name}: {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{page.path.name}: {link}: no such anchor"


def test_every_internal_link_and_anchor_resolves(pages: dict[Path, Page]) -> None:
    assert len(pages) > 50
    assert list(dead_links(pages)) == []


def test_a_dead_link_and_a_dead_anchor_are_found(tmp_path: Path) -> None:
    for name, text in {
        "a": '<a href="b.html#x">',
        "b": '<a href="c.html"><p id="y">',
        "d": '<a href="b.html#y">',
    }.items():
        (tmp_path / f"{name}.html").write_text(text)
    found = list(dead_links({path.resolve(): Page(path) for path in tmp_path.iterdir()}))
    assert sorted(found) == ["a.html: b.html#x: no such anchor", "b.html: c.html"]


def test_nothing_is_loaded_from_the_network(site: Path, pages: dict[Path, Page]) -> None:
    for page in pages.values():
        assert [one for one in page.loaded if urlsplit(one).netloc] == [], page.path
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*['\"]?\s*(?:https?:)?//[^)]*", style.read_text()) == [], style


def text_of(site: Path, page: str) -> str:
    return re.sub(r"<[^>]+>", "", (site / page).read_text())


def test_everything_that_is_registered_appears(site: Path) -> None:
    for name in losses.names():
        assert name in text_of(site, f"losses/{name}.html")
    experiment_file = (site / "reference/experiment-file.html").read_text()
    for name in [*datasets.names(), *datasets.wrapper_names()]:
        assert re.search(rf"<h3>{name}<", experiment_file), name
    metrics = unescape((site / "reference/metrics.html").read_text())
    for metric in (one for measure in MEASURES.items().values() for one in measure.metrics):
        assert f">{metric.key}<" in metrics
    commands = (site / "reference/command-line.html").read_text()
    for name, _ in command_line.commands():
        assert re.search(rf"<h2>{name}<", commands), name
    for name in papers.names():
        assert papers.load(name).sources[0].table in text_of(site, f"papers/{name}.html")
    for claim in claims.load_all():
        assert "Verdicts" in text_of(site, f"claims/{claim.number}.html")


def test_files_of_the_repository_are_linked_where_they_are(site: Path) -> None:
    assert 'href="../../../../results/reference/default/table.md"' in (site / "losses/arcface.html").read_text()


def test_the_build_writes_nothing_but_the_generated_pages(clone: Path, site: Path) -> None:
    new = {path.name for path in (clone / "docs").iterdir()} - {path.name for path in (CLONE / "docs").iterdir()}
    assert new <= {"_build", "__pycache__", *generate.FOLDERS}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_is_wider_than_the_window(browser: Browser, site: Path, width: int, dark: bool) -> None:
    for page in SHOWN:
        browser.open(site / page, width, dark)
        assert browser.overflow() <= 0, page
        assert [url for url in browser.requests() if not url.startswith("file:")] == [], page
        assert [line for line in browser.console() if "SEVERE" in line] == [], page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_no_serious_fault(browser: Browser, axe: Path, site: Path, width: int, dark: bool) -> None:
    for page in SHOWN:
        browser.open(site / page, width, dark)
        assert browser.faults(axe) == [], page


def test_what_scrolls_can_be_reached_by_the_keyboard(browser: Browser, site: Path) -> None:
    browser.open(site / "reference/experiment-file.html", 400)
    out_of_reach = """return Array.from(document.querySelectorAll("article pre, article .table-wrapper"))
        .filter(one => one.scrollWidth > one.clientWidth && one.tabIndex < 0).length"""
    assert browser.run(out_of_reach) == 0


def test_curves_follow_the_theme(browser: Browser, site: Path) -> None:
    for dark, shown in ((False, "light"), (True, "dark")):
        browser.open(site / "losses/arcface.html", 1400, dark)
        visible = "return Array.from(document.images).filter(one => one.offsetParent).map(one => one.src)"
        pictures = [str(source) for source in browser.run(visible) if "arcface-" in str(source)]
        assert len(pictures) == 2
        assert all(source.endswith(f"-{shown}.svg") for source in pictures)
