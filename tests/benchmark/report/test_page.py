"""The page in a real browser: it sorts and filters, asks the network for nothing and fits narrow and wide windows."""

import time
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

LONG_LABELS = TWO_DATASETS.replace(
    "losses: [softmax, normface, arcface, adacos]",
    """losses:
  - softmax:
    label: softmax without normalised weights and with the bias of the first code
  - normface
  - arcface: {s: 64, m: 0.5}
    label: arcface s=64 m=0.5 gradient=detached beyond=linear of the paper
  - adacos:
    label: adacos with the scale that its authors propose for many classes
""",
).replace("label: glyphs", "label: glyphs with twenty classes and a long tail of rare ones")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    return write_report(str(store_runs(folder)), folder / "results", pictures=False).page


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    return write_report(str(store_runs(folder, LONG_LABELS)), folder / "results", pictures=False).page


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


def unfold(browser: Browser) -> None:
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def column(browser: Browser, table: str, place: int) -> list[str]:
    return browser.texts(f"#{table} tbody tr > :nth-child({place})")


def test_it_opens_with_the_answer_and_one_table_of_all_metrics(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.texts("h1") == [
        "No single winner: adacos and arcface are among the best on both datasets and overall."
    ]
    assert browser.texts("#results h3") == ["Main metric of each dataset"]
    assert column(browser, "table", 1) == ["adacos", "arcface", "normface", "softmax"]
    assert column(browser, "table", 2)[0] == "95.02 ± 0.31"
    assert browser.texts("#results .count") == ["4 of 4 rows"]


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
    unfold(browser)
    places = "return Array.from(document.querySelectorAll('#dataset-digits thead th'), one => one.innerText)"
    last = [name.split()[0] for name in browser.run(places)].index("m") + 1
    assert column(browser, "dataset-digits", last) == ["–"] * 4
    for _ in range(2):
        browser.click("#settings thead th:nth-child(2) button")
        assert column(browser, "settings", 2)[-1] == "–"  # the losses without settings


def test_filters_by_metric_dataset_and_family(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.choose("#results-metric", "test-eer")
    assert browser.texts("#results h3") == ["EER"]
    headings = [text.rstrip(" ↕") for text in browser.texts("#test-eer thead th")]
    assert headings == ["Loss", "digits, %", "glyphs, %", "all datasets, %", "Average rank", "Family"]
    browser.choose("#results-dataset", "glyphs")
    headings = [text.rstrip(" ↕") for text in browser.texts("#test-eer thead th")]
    assert headings == ["Loss", "glyphs, %", "Average rank", "Family"]
    browser.choose("#results-family", "adaptive scale")
    assert browser.texts("#test-eer tbody th") == ["adacos"]
    assert browser.texts("#results .count") == ["1 of 4 rows"]
    browser.choose("#results-family", "")
    browser.choose("#results-dataset", "")
    browser.choose("#results-metric", "table")
    assert len(browser.texts("#table tbody tr")) == 4
    assert browser.texts("#test-eer tbody tr") == []


def test_filters_of_rows(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert len(browser.texts("#differences tbody tr")) == 9
    browser.choose("#differences-dataset", "digits")
    assert set(column(browser, "differences", 2)) == {"digits"}
    assert len(browser.texts("#differences tbody tr")) == 3
    unfold(browser)
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
        unfold(browser)
        assert browser.overflow() <= 0
        options = "return Array.from(document.querySelector('#results-metric').options, one => one.value)"
        for metric in browser.run(options):
            browser.choose("#results-metric", metric)
            assert browser.overflow() <= 0, metric


@pytest.mark.parametrize("width", [400, 1400])
def test_pictures_are_in_the_page_and_fit(browser: Browser, page_with_pictures: Path, width: int) -> None:
    browser.open(page_with_pictures, width)
    assert browser.requests() == [page_with_pictures.resolve().as_uri()]
    assert browser.console() == []
    unfold(browser)
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
    unfold(browser)
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
    assert len(browser.texts("#results h3")) > 4
    assert browser.texts("#results .filters") == []


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


@pytest.mark.parametrize("width", [400, 1400])
def test_more_than_half_of_the_page_is_folded(browser: Browser, page_with_pictures: Path, width: int) -> None:
    browser.open(page_with_pictures, width)
    height = "return document.documentElement.scrollHeight"
    folded = browser.run(height)
    for part in ("#answer", "#table", "#differences", "#figure-comparison-1"):
        assert browser.run("return document.querySelector(arguments[0]).closest('details') === null", part), part
    closed = browser.run("return Array.from(document.querySelectorAll('#pictures details'), one => one.id)")
    assert closed[-3:-1] == ["pictures-embeddings", "pictures-training"]  # the last says what was not drawn
    assert browser.run("return document.querySelectorAll('details[open]').length") == 0
    unfold(browser)
    assert folded <= 0.5 * browser.run(height)


def test_a_link_opens_the_folded_part_that_it_leads_to(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.click("nav a[href='#on-dataset-digits']")
    opened = "return Array.from(document.querySelectorAll('details[open]'), one => one.id)"
    until = time.monotonic() + 10.0
    while not browser.run(opened) and time.monotonic() < until:  # the page hears of the new address a little later
        time.sleep(0.05)
    assert browser.run(opened) == ["on-dataset-digits"]
    assert abs(browser.run("return document.querySelector('#on-dataset-digits').getBoundingClientRect().top")) < 100


@pytest.mark.parametrize("labels", ["page", "long_page"])
def test_on_a_telephone_the_difference_is_on_the_screen_and_no_word_breaks(
    browser: Browser, labels: str, request: pytest.FixtureRequest
) -> None:
    browser.open(request.getfixturevalue(labels), 400)
    assert browser.texts("#differences thead th:nth-child(3)") == ["Difference"]
    edge = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
    assert browser.run(edge, "#differences td:nth-child(3)") <= browser.run(edge, ".wide:has(#differences)") <= 400
    assert browser.broken_words() == []
    unfold(browser)
    assert browser.broken_words() == []
    assert browser.overflow() <= 0


def test_a_picture_opens_large_by_click_and_by_keyboard(browser: Browser, page_with_pictures: Path) -> None:
    browser.open(page_with_pictures, 400)
    button = "#figure-comparison-1 button"
    large = "const one = document.querySelector('dialog[open] img'); return one === null ? 0 : one.clientWidth"
    browser.click(button)
    assert browser.run(large) == 1600  # its own size, to be scrolled
    assert browser.overflow() <= 0
    browser.click("dialog .close")
    assert browser.run(large) == 0
    browser.press(button, "\ue007")
    assert browser.run(large) == 1600
    assert browser.run("return document.activeElement.className") == "close"
    browser.press("dialog .close", "\ue00c")
    assert browser.run(large) == 0
    assert browser.run("return document.activeElement === document.querySelector(arguments[0])", button)
    browser.resize(1800)
    browser.click(button)
    assert browser.run(large) > 1600  # as wide as the window
    assert browser.console() == []


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_serious_fault(
    browser: Browser, axe: Path, page_with_pictures: Path, width: int, dark: bool
) -> None:
    browser.open(page_with_pictures, width, dark)
    assert browser.faults(axe) == []
    unfold(browser)
    assert browser.faults(axe) == []


def test_the_keyboard_reaches_the_answer_first_and_focus_is_seen(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.press("body", "\ue004")
    assert browser.run("return document.activeElement.className") == "skip"
    assert browser.run("return document.activeElement.getBoundingClientRect().left") >= 0
    browser.run("document.querySelector('#table button').focus()")
    style = "return getComputedStyle(document.querySelector('#table button')).outlineStyle"
    browser.press("#table button", "\ue008")
    assert browser.run(style) == "solid"
