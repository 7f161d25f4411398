"""The page in a real browser: it sorts and filters, asks the network for nothing and fits narrow and wide windows."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from benchmark import spec
from benchmark.findings.findings import Findings
from benchmark.pages import Drawn, NotDrawn
from benchmark.plots import picture_sections
from benchmark.report import build, write_report
from benchmark.results import collect
from tests.benchmark.report.stored import TWO_DATASETS, store_runs
from tests.browser import Browser

pytestmark = pytest.mark.xdist_group("page")  # what its fixtures make is made once

HOSTILE = TWO_DATASETS.replace(
    "losses: [softmax, normface, arcface, adacos]",
    r"""losses:
  - softmax:
    label: "<script>window.hacked=1</script> & \"q\""
  - normface
  - arcface:
    label: "</td></table><img src=x onerror=window.hacked=1>"
  - adacos:
    label: "averylongnamewithoutanyspaceatallwhichmustnotwidenthepageofanarrowtelephone"
""",
).replace("label: glyphs", "label: \"it's {{ 7*7 }} ' onmouseover=window.hacked=1 中文\"")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    return write_report(str(store_runs(folder)), folder / "results", pictures=False).page


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    return write_report(str(store_runs(folder, HOSTILE)), folder / "results", pictures=False).page


@pytest.fixture(scope="module")
def page_with_pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    collected = collect(spec.load(store_runs(folder)), folder / "results")
    content = BytesIO()
    Image.new("RGB", (1600, 300), "navy").save(content, "PNG")
    drawn = [
        Drawn(f"{section}-1", "<i>Title</i>", 'What "it" shows & <b>how</b>', section, content.getvalue(), b"<svg/>")
        for section in picture_sections()
    ]
    skipped = [NotDrawn("A plot", "it needs <two> datasets")]
    report = build(collected, Findings.of_experiment(collected), "a day", drawn, skipped)
    (folder / "index.html").write_bytes(report.files["index.html"])
    return folder / "index.html"


def column(browser: Browser, table: str, place: int) -> list[str]:
    return browser.texts(f"#{table} tbody tr > :nth-child({place})")


def test_it_opens_with_the_answer_and_one_table_of_all_metrics(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.texts("h1") == [
        "No single winner: adacos and arcface are best, or tied with the best, on both datasets and overall."
    ]
    assert browser.texts("#leaderboard h3") == ["Main metric of each dataset"]
    assert column(browser, "table", 1) == ["adacos", "arcface", "normface", "softmax"]
    assert column(browser, "table", 2)[0] == "95.02 ± 0.31"
    assert browser.texts("#leaderboard .count") == ["4 of 4 rows"]


def test_sorting_by_click_and_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    heading = "#table thead th:nth-child(2)"
    sort = f"return document.querySelector('{heading}').getAttribute('aria-sort')"
    assert browser.run(sort) == "none"
    browser.click(f"{heading} button")
    assert browser.run(sort) == "descending"
    assert column(browser, "table", 1) == ["adacos", "arcface", "normface", "softmax"]
    browser.press(f"{heading} button", "\ue007")
    assert browser.run(sort) == "ascending"
    assert column(browser, "table", 1) == ["softmax", "normface", "arcface", "adacos"]
    browser.press("#table thead th:nth-child(1) button", " ")
    assert browser.run(sort) == "none"
    assert column(browser, "table", 1) == ["adacos", "arcface", "normface", "softmax"]


def test_every_column_of_every_table_can_be_sorted(browser: Browser, page: Path) -> None:
    browser.open(page)
    without = """return Array.from(document.querySelectorAll('table.data thead th'))
        .filter(one => one.querySelector('button') === null).length"""
    assert browser.run(without) == 0
    browser.run("document.querySelectorAll('table.data thead button').forEach(one => { one.click(); one.click(); })")
    assert browser.console() == []


def test_rows_without_a_value_come_last(browser: Browser, page: Path) -> None:
    browser.open(page)
    places = "return Array.from(document.querySelectorAll('#dataset-digits thead th'), one => one.innerText)"
    last = [name.split()[0] for name in browser.run(places)].index("m") + 1
    assert column(browser, "dataset-digits", last) == ["–"] * 4
    browser.click("#table thead th:nth-child(6) button")
    assert column(browser, "table", 6)[-1] == "–"  # the losses without settings
    browser.click("#table thead th:nth-child(6) button")
    assert column(browser, "table", 6)[-1] == "–"


def test_filters_by_metric_dataset_and_family(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.choose("#leaderboard-metric", "test-eer")
    assert browser.texts("#leaderboard h3") == ["EER"]
    headings = [text.rstrip(" ↕") for text in browser.texts("#test-eer thead th")]
    assert headings == ["Loss", "digits, %", "glyphs, %", "all datasets, %", "Average rank", "Family", "Settings"]
    browser.choose("#leaderboard-dataset", "glyphs")
    headings = [text.rstrip(" ↕") for text in browser.texts("#test-eer thead th")]
    assert headings == ["Loss", "glyphs, %", "Average rank", "Family", "Settings"]
    browser.choose("#leaderboard-family", "adaptive scale")
    assert browser.texts("#test-eer tbody th") == ["adacos"]
    assert browser.texts("#leaderboard .count") == ["1 of 4 rows"]
    browser.choose("#leaderboard-family", "")
    browser.choose("#leaderboard-dataset", "")
    browser.choose("#leaderboard-metric", "table")
    assert len(browser.texts("#table tbody tr")) == 4
    assert browser.texts("#test-eer tbody tr") == []


def test_filters_of_rows(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert len(browser.texts("#differences tbody tr")) == 9
    browser.choose("#differences-dataset", "digits")
    assert set(column(browser, "differences", 2)) == {"digits"}
    assert len(browser.texts("#differences tbody tr")) == 3
    assert len(browser.texts("#geometry tbody tr")) == 8  # another table's filters are its own


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_fetched_and_nothing_overflows(
    browser: Browser, page: Path, hostile_page: Path, width: int, dark: bool
) -> None:
    for file in (page, hostile_page):
        browser.open(file, width, dark)
        assert browser.requests() == [file.resolve().as_uri()]
        assert browser.console() == []
        assert browser.overflow() <= 0
        browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert browser.overflow() <= 0
        options = "return Array.from(document.querySelector('#leaderboard-metric').options, one => one.value)"
        for metric in browser.run(options):
            browser.choose("#leaderboard-metric", metric)
            assert browser.overflow() <= 0, metric


@pytest.mark.parametrize("width", [400, 1400])
def test_pictures_are_in_the_page_and_fit(browser: Browser, page_with_pictures: Path, width: int) -> None:
    browser.open(page_with_pictures, width)
    assert browser.requests() == [page_with_pictures.resolve().as_uri()]
    assert browser.console() == []
    sizes = browser.run("return Array.from(document.images, one => [one.naturalWidth, one.clientWidth, one.alt])")
    assert [size[0] for size in sizes] == [1600] * len(picture_sections())
    assert all(0 < size[1] <= width for size in sizes)
    assert {size[2] for size in sizes} == {"<i>Title</i>"}
    assert browser.texts("figcaption") == ['What "it" shows & <b>how</b>'] * len(picture_sections())
    assert "A plot: it needs <two> datasets" in browser.texts("#pictures li")
    assert browser.overflow() <= 0


def test_names_come_out_as_text(browser: Browser, hostile_page: Path) -> None:
    browser.open(hostile_page)
    assert browser.run("return window.hacked === undefined")
    assert browser.run("return document.images.length") == 0
    names = browser.texts("#table tbody th")
    assert '<script>window.hacked=1</script> & "q"' in names
    assert "</td></table><img src=x onerror=window.hacked=1>" in names
    label = "it's {{ 7*7 }} ' onmouseover=window.hacked=1 中文"
    browser.choose("#geometry-dataset", label)
    assert set(column(browser, "geometry", 2)) == {label}


def test_the_page_forbids_every_connection(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = """const done = arguments[arguments.length - 1];
        fetch('https://example.org/').then(() => done('fetched'), () => done('refused'))"""
    assert browser.driver.execute_async_script(script) == "refused"
    assert any("Content Security Policy" in line for line in browser.console())
    assert browser.requests() == [page.resolve().as_uri()]


def test_without_scripts_everything_is_shown(browser: Browser, page: Path) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(page)
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert len(browser.texts("#leaderboard h3")) > 4
    assert browser.texts("#leaderboard .filters") == []


def test_every_link_leads_somewhere(browser: Browser, page: Path) -> None:
    browser.open(page)
    hrefs = browser.run("return Array.from(document.querySelectorAll('a'), one => one.getAttribute('href'))")
    for href in hrefs:
        if href.startswith("#"):
            assert browser.run("return document.getElementById(arguments[0]) !== null", href[1:]), href
        else:
            assert (page.parent / href).is_file(), href
    ids = browser.run("return Array.from(document.querySelectorAll('[id]'), one => one.id)")
    assert len(ids) == len(set(ids))


def test_the_keyboard_reaches_the_answer_first_and_focus_is_seen(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.press("body", "\ue004")
    assert browser.run("return document.activeElement.className") == "skip"
    assert browser.run("return document.activeElement.getBoundingClientRect().left") >= 0
    browser.run("document.querySelector('#table button').focus()")
    style = "return getComputedStyle(document.querySelector('#table button')).outlineStyle"
    browser.press("#table button", "\ue008")
    assert browser.run(style) == "solid"
