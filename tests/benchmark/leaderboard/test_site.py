"""The site: built from entries made by hand, and driven in a real browser."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest

import datasets
import losses
from benchmark.cell import PROTOCOL_VERSION
from benchmark.code_digest import loss_digest
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.site import build, write_site
from benchmark.leaderboard.site.comparison import comparison_data
from benchmark.leaderboard.site.curves import curves_of
from benchmark.leaderboard.site.dataset_page import dataset_page
from benchmark.leaderboard.site.loss_page import paragraphs_of
from benchmark.leaderboard.site.maps import draw_maps
from benchmark.leaderboard.standings import Board, Standings
from benchmark.pages import NotDrawn, json_for_a_page
from benchmark.store import Store
from tests.benchmark.leaderboard import made
from tests.browser import Browser

pytestmark = pytest.mark.xdist_group("site")  # what its fixtures make is made once

MEANS = {"low": 0.8, "near": 0.8995, "mine": 0.9, "top": 0.97}


def entered(loss: str, mean: float, **options: object) -> Entry:
    return made.entry(loss, means={"digits": mean, "letters": mean - 0.05}, **options)


def board(*entries: Entry) -> Board:
    return Board({entry.label: entry for entry in entries}, "low")


def standing() -> tuple[Standings, Entries]:
    entries = [entered(loss, mean) for loss, mean in MEANS.items() if loss != "low"]
    entries += [entered("low", MEANS["low"], family="scale only"), entered("mine", 0.91, hyper={"m": 0.3})]
    older = board(
        *(entered(loss, mean, protocol=PROTOCOL_VERSION + 1) for loss, mean in (("older", 0.9), ("low", 0.7)))
    )
    outdated = {"gone-00000000": "there is no loss gone in losses/ any more"}
    refused = {"bad.json": "bad.json: is not an entry & more"}
    return Standings(board(*entries), [older], outdated), Entries(refused=refused)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(build(*standing()), tmp_path_factory.mktemp("site")).parent


def name_of(label: str, protocol: int = PROTOCOL_VERSION) -> str:
    found = standing()[0]
    boards = [found.current, *found.others]
    return next(one.entries[label].name for one in boards if one is not None and one.protocol == protocol)


def test_every_page_is_there_and_every_link_leads_somewhere() -> None:
    files = build(*standing())
    pages = {name: text.decode() for name, text in files.items() if name.endswith(".html")}
    assert set(pages) >= {
        "index.html",
        "compare.html",
        "submit.html",
        "datasets.html",
        f"losses/{name_of('mine m=0.3')}.html",
    }
    assert len(pages) == 4 + 7
    for name, text in pages.items():
        for link in re.findall(r'href="([^"]*)"', text):
            if link.startswith(("#", "data:", "https://arxiv.org/abs/")):
                continue
            place = (Path(name).parent / link.partition("#")[0]).as_posix()
            assert str(Path("/", place).resolve().relative_to("/")) in files, f"{name} links to {link}"


def test_the_same_entries_give_the_same_bytes() -> None:
    assert build(*standing()) == build(*standing())


def test_the_page_of_an_entry_that_is_gone_is_removed(tmp_path: Path) -> None:
    found, read = standing()
    write_site(build(found, read), tmp_path)
    (tmp_path / "losses" / "notes.txt").write_text("mine")
    assert found.current is not None
    fewer = {label: entry for label, entry in found.current.entries.items() if label != "top"}
    write_site(build(Standings(Board(fewer, "low"), found.others), read), tmp_path)
    assert not (tmp_path / "losses" / f"{name_of('top')}.html").exists()
    assert not (tmp_path / "entries" / f"{name_of('top')}.json").exists()
    assert "top" not in re.sub(r"<(style|script)>.*?</\1>", "", (tmp_path / "index.html").read_text(), flags=re.S)
    assert (tmp_path / "losses" / "notes.txt").exists()


def test_without_any_entry_it_says_so() -> None:
    files = build(Standings(None), Entries())
    assert "No entry counts yet" in files["index.html"].decode()
    assert "there are none" in files["compare.html"].decode()


def test_a_single_entry() -> None:
    files = build(Standings(board(entered("low", 0.8))), Entries())
    assert "there is one" in files["compare.html"].decode()
    assert "low is the baseline" in files[f"losses/{entered('low', 0.8).name}.html"].decode()


def test_json_cannot_leave_its_element() -> None:
    text = json.dumps({"a": "</script><!-- & \u2028"}, ensure_ascii=False)
    safe = json_for_a_page(text)
    assert "<" not in safe
    assert json.loads(safe) == json.loads(text)


def test_docstrings_become_paragraphs() -> None:
    text = "a formula\nover two lines.\n\nPaper: one,\ntwo.\nGood for: all.\n\nx    one\nlong y  two"
    lines = [(part.lines, part.is_aligned) for part in paragraphs_of(text)]
    assert lines == [
        (("a formula over two lines.",), False),
        (("Paper: one, two.", "Good for: all."), False),
        (("x    one", "long y  two"), True),
    ]


def texts_of_column(browser: Browser, place: int) -> list[str]:
    return browser.texts(f"#leaderboard .block:not([hidden]) tbody tr > :nth-child({place})")


def address(browser: Browser) -> Mapping[str, list[str]]:
    return parse_qs(str(browser.run("return location.hash.slice(1)")))


def test_standings_sort_by_click_and_by_keyboard_and_the_address_follows(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    assert browser.texts("h1")[0].startswith("top")
    assert texts_of_column(browser, 1) == ["top", "mine m=0.3", "mine", "near", "low"]
    browser.click("#table thead th:nth-child(1) button")
    assert texts_of_column(browser, 1) == ["low", "mine", "mine m=0.3", "near", "top"]
    assert address(browser) == {"sort": ["Loss"], "order": ["ascending"]}
    browser.press("#table thead th:nth-child(2) button", "\ue007")
    browser.press("#table thead th:nth-child(2) button", " ")
    assert texts_of_column(browser, 1) == ["low", "near", "mine", "mine m=0.3", "top"]
    assert address(browser) == {"sort": ["digits: classification accuracy, %"], "order": ["ascending"]}


def test_filters_by_metric_dataset_family_settings_and_protocol(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    browser.choose("#leaderboard-settings", "tuned")
    assert texts_of_column(browser, 1) == ["mine m=0.3"]
    browser.choose("#leaderboard-settings", "defaults")
    browser.choose("#leaderboard-family", "scale only")
    assert texts_of_column(browser, 1) == ["low"]
    browser.choose("#leaderboard-family", "")
    browser.choose("#leaderboard-metric", "test-eer")
    browser.choose("#leaderboard-dataset", "letters")
    headings = browser.texts("#leaderboard .block:not([hidden]) thead th")
    assert [heading.strip(" ↕") for heading in headings][:2] == ["Loss", "letters, %"]
    assert browser.texts(".count") == ["4 of 5 rows"]
    state = {"metric": ["test-eer"], "dataset": ["letters"], "settings": ["defaults"]}
    assert address(browser) == state
    _, older = options(browser, "#leaderboard-board")
    browser.choose("#leaderboard-board", older)
    assert texts_of_column(browser, 1) == ["older", "low"]
    assert address(browser) == {**state, "board": [older]}


def options(browser: Browser, selector: str) -> list[str]:
    return list(browser.run("return Array.from(document.querySelector(arguments[0]).options, o => o.value)", selector))


def test_a_link_leads_to_its_view(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    browser.driver.get(
        (site / "index.html").as_uri() + "?#metric=test-eer&family=target+margin&sort=letters%2C+%25&order=ascending"
    )
    assert browser.texts("#leaderboard h3") == ["EER"]
    assert texts_of_column(browser, 1) == ["top", "mine m=0.3", "mine", "near"]
    assert browser.run("return document.querySelector('#leaderboard-family').value") == "target margin"
    browser.run("location.hash = '#metric=nonsense&board=../../x&sort=constructor'")
    assert browser.texts("#leaderboard h3") == ["Main metric of each dataset"]
    assert browser.console() == []


def test_from_the_standings_to_a_loss_and_on_to_a_comparison(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    browser.click("#table tbody tr:nth-child(3) a")
    assert browser.texts("h1") == ["mine"]
    assert browser.texts(".kicker") == ["target margin · defaults · place 3 of 5"]
    assert browser.texts(".formula") == ["ℓ_y = s·cos(θ_y + m): mine."]
    assert browser.texts("a[href='https://arxiv.org/abs/1801.07698']") == ["arXiv:1801.07698"]
    assert "auto" in browser.texts("#hyper tbody td")
    assert browser.texts("#audit tbody tr")[0].startswith("c=±1")
    assert len(browser.texts("#seeds tbody tr")) == 5
    assert browser.texts("#against dd") == ["near", "near", "near"]
    browser.click("a[href*='#one=']")
    assert browser.run("return document.querySelector('#one').value") == name_of("mine")
    assert browser.run("return document.querySelector('#other').value") == name_of("low")


def test_two_losses_are_compared(browser: Browser, site: Path) -> None:
    browser.open(site / "compare.html")
    browser.choose("#one", name_of("mine"))
    browser.choose("#other", name_of("top"))
    found = standing()[0].current
    assert found is not None
    data = comparison_data(found)
    row = next(row for row in data["rows"] if row["main"] and row["dataset"] == "letters")
    place = {loss["label"]: k for k, loss in enumerate(data["losses"])}
    pairs = [(one, other) for one in range(5) for other in range(one + 1, 5)]
    gap, half, p, _ = row["pairs"][pairs.index((place["mine"], place["top"]))]
    assert gap == pytest.approx(row["means"][place["mine"]][0] - row["means"][place["top"]][0], abs=1e-3)
    assert p < 0.05
    said = f"On letters, by verification accuracy: mine is worse than top (−{-gap:.2f} ± {half:.2f} points)."
    assert browser.texts("#in-words li")[1] == said
    cells = browser.texts("#differences tbody tr:nth-child(2) > *")
    assert cells[:2] == ["Verification accuracy, %", "letters"]
    assert cells[2] == f"−{-gap:.2f} ± {half:.2f}"
    assert cells[3] == "worse"
    browser.click("#swap")
    turned = "On letters, by verification accuracy: top is better than mine (+"
    assert browser.texts("#in-words li")[1].startswith(turned)
    assert browser.texts("#differences tbody tr:nth-child(2) > *")[2] == f"+{-gap:.2f} ± {half:.2f}"
    assert [heading.strip(" ↕") for heading in browser.texts("#differences thead th")][5:7] == ["top", "mine"]
    assert address(browser) == {"one": [name_of("top")], "other": [name_of("mine")]}
    browser.driver.refresh()
    assert browser.texts("#in-words li")[1].startswith(turned)
    browser.choose("#other", name_of("top"))
    assert browser.texts("#in-words li") == ["Choose two different losses."]
    assert browser.texts("#differences") == []


def test_a_lower_error_is_better(browser: Browser, site: Path) -> None:
    browser.open(site / "compare.html")
    browser.choose("#one", name_of("top"))
    browser.choose("#other", name_of("low"))
    rows = [row.split("\t") for row in browser.texts("#differences tbody tr")]
    assert {row[3] for row in rows if row[0].startswith("EER")} == {"better"}


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_overflows_nothing_is_fetched_and_no_script_fails(browser: Browser, site: Path, width: int) -> None:
    for page in sorted(site.rglob("*.html")):
        browser.open(page, width)
        browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert browser.overflow() <= 0, page.name
        assert browser.console() == [], page.name
        assert browser.requests() == [page.resolve().as_uri()], page.name


WORDS_OVER_TWO_LINES = r"""
const found = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode, range = document.createRange();
  if (text.parentElement.closest("script, style, pre, noscript") || text.parentElement.offsetParent === null) continue;
  for (const word of text.data.matchAll(/[^\s/]*\d[^\s/]*|[^\s/-]+/g)) {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    if (new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top))).size > 1) found.push(word[0]);
  }
}
return found;"""


def test_no_word_breaks_and_the_difference_is_on_the_screen_of_a_phone(browser: Browser, drawn_site: Path) -> None:
    for page in sorted(drawn_site.rglob("*.html")):
        browser.open(page, width=400)
        assert browser.run(WORDS_OVER_TWO_LINES) == [], page.name
    browser.open(drawn_site / "compare.html", width=400)
    column = "document.querySelectorAll('#differences tr > :nth-child(3)')"
    assert browser.run(f"return Math.max(...Array.from({column}, one => one.getBoundingClientRect().right))") <= 400


HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&{{ 7*7 }}"


def hostile_entry(loss: str) -> Entry:
    """What reading would never let through, to show that pages do not rely on it."""
    entry = entered(loss, 0.9)
    changes: dict[str, object] = {"loss": f"{loss}{HOSTILE}", "family": HOSTILE}
    changes["description"] = f"{HOSTILE}\n\nPaper: {HOSTILE}"
    changes |= {"versions": {"torch": HOSTILE}, "date": HOSTILE, "settings": {HOSTILE: HOSTILE}}
    changes["hyper"] = {"m": HOSTILE}
    results = [result.model_copy(update={"label": f"{result.label}{HOSTILE}"}) for result in entry.results]
    return entry.model_copy(update={**changes, "results": results})


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_no_serious_fault(browser: Browser, axe: Path, drawn_site: Path, width: int, dark: bool) -> None:
    one_loss = next((drawn_site / "losses").glob("*.html"))
    for page in (*sorted(drawn_site.glob("*.html")), one_loss):
        browser.open(page, width, dark)
        assert browser.faults(axe) == [], page.name


def test_hostile_entries_are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    found = Board({one.label: one for one in (hostile_entry("one"), hostile_entry("two"))}, HOSTILE)
    files = build(Standings(found, [], {HOSTILE: HOSTILE}), Entries(refused={HOSTILE: HOSTILE}))
    pages = {place: text for place, text in files.items() if "/" not in place}
    pages |= {f"losses/{k}.html": text for k, (place, text) in enumerate(files.items()) if place.startswith("losses/")}
    write_site(pages, tmp_path)
    for page in sorted(tmp_path.rglob("*.html")):
        for width in (400, 1400):
            browser.open(page, width)
            assert browser.run("return window.hacked") is None, page.name
            assert (
                browser.run(
                    "return document.querySelectorAll('img[src=x], main script:not(#data, #curve-data)').length"
                )
                == 0
            )
            assert browser.overflow() <= 0, page.name
            assert browser.console() == [], page.name
    browser.open(tmp_path / "index.html")
    assert HOSTILE in browser.texts("#table tbody th")[0]
    browser.open(tmp_path / "compare.html")
    assert HOSTILE in browser.texts("#in-words li")[0]
    assert "49" not in browser.texts("#in-words li")[0]


DIGITS = {"name": "digits", "options": {"test_share": 0.25, "val_share": 0.15}, "seed": 0, "wrappers": []}


def known(loss: str, **hyper: object) -> Entry:
    """An entry of one of the project's own losses, on a dataset that is always there."""
    content = made.content(loss, means={"digits": 0.9}, loss_digest=loss_digest(loss), hyper=hyper)
    content["results"][0]["dataset"] = DIGITS
    return Entry.model_validate(made.with_ids(content))


@pytest.fixture(scope="module")
def drawn_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two losses with softmax and one without."""
    folder = tmp_path_factory.mktemp("drawn")
    entries = [known("arcface", s="auto"), known("normface", s="auto"), known("p2sgrad")]
    found = Board({entry.label: entry for entry in entries}, "normface s=auto")
    return write_site(build(Standings(found), Entries(), Store(folder, "none")), folder / "site").parent


def test_curves_are_measured_where_the_loss_is_here_and_maps_drawn_where_the_embeddings_are(tmp_path: Path) -> None:
    store = Store(tmp_path, "none")
    curves = curves_of(known("arcface", s=16.0, m=0.5), store)
    logit = curves.shapes["digits"].logit
    assert logit is not None
    assert logit[0] == pytest.approx(16 * np.cos(0.5 + 1e-3))
    assert isinstance(draw_maps(known("arcface"), store), NotDrawn)
    elsewhere = entered("unheard_of", 0.9)
    assert "unheard_of" not in losses.names()
    assert curves_of(elsewhere, store).missing.keys() == {"digits", "letters"}


def points(browser: Browser, place: int, kind: str) -> list[tuple[float, float]]:
    """Of a curve in one of the page's pictures."""
    script = """const figure = document.querySelectorAll('#curves figure')[arguments[0]]
        return figure.querySelector(arguments[1])?.getAttribute('points')"""
    text = browser.run(script, place, f"polyline.{kind}")
    return [tuple(map(float, point.split(","))) for point in text.split()] if text else []  # type: ignore[misc]


def test_two_losses_have_their_curves_in_one_picture(browser: Browser, drawn_site: Path) -> None:
    browser.open(drawn_site / "compare.html")
    browser.choose("#one", known("arcface", s="auto").name)
    browser.choose("#other", known("normface", s="auto").name)
    assert browser.texts("#curves .legend li") == ["arcface s=auto", "normface s=auto"]
    titles = ["digits: target logit − logit of the others", "digits: gradient ∂L/∂θ, per radian"]
    assert browser.texts("#curves figcaption") == titles
    with_margin, without = points(browser, 0, "one"), points(browser, 0, "other")
    assert len(with_margin) == len(without) == 61
    below = [one[1] > other[1] for one, other in zip(with_margin, without, strict=True)]  # y goes down the screen
    assert all(below[:55]), "a margin lowers the target's logit"
    label = browser.run("return document.querySelector('#curves figure svg').getAttribute('aria-label')")
    assert "arcface s=auto goes from" in label
    assert "normface s=auto goes from" in label
    browser.choose("#other", known("p2sgrad").name)
    assert browser.texts("#curves figcaption")[0] == f"{titles[0]} (p2sgrad has none)"
    assert points(browser, 0, "other") == []
    assert len(points(browser, 1, "other")) == 61
    assert browser.console() == []


def test_a_loss_has_its_curves_beside_those_of_the_baseline(browser: Browser, drawn_site: Path) -> None:
    browser.open(drawn_site / f"losses/{known('arcface', s='auto').name}.html", width=400)
    assert browser.texts("#curves .legend li") == ["arcface s=auto", "normface s=auto"]
    assert "Drawn with the state that training starts from" in browser.texts("#pictures dd")[0]
    assert browser.overflow() <= 0
    browser.open(drawn_site / f"losses/{known('normface', s='auto').name}.html")
    assert browser.texts("#curves .legend li") == ["normface s=auto"]


def test_datasets_are_shown_with_counts_and_examples(browser: Browser, drawn_site: Path) -> None:
    browser.open(drawn_site / "index.html")
    browser.click("a[href='datasets.html#dataset-1']")
    assert browser.texts("h2") == ["digits"]
    assert "10 classes, 1,146 images, 8×8 pixels" in browser.texts("dd")
    size = browser.run(
        "const one = document.querySelector('.examples img'); return [one.naturalWidth, one.naturalHeight]"
    )
    assert size == [10 * 52, 4 * 52]  # a column for each class; 8 pixels are enlarged to 48 between edges of 2


def test_examples_are_left_out_with_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def shown(about: dict[str, object]) -> str:
        content = made.content("arcface", means={"digits": 0.9})
        content["results"][0]["dataset"] = about
        return dataset_page(board(Entry.model_validate(made.with_ids(content))), draw=True).decode()

    monkeypatch.setenv("MARGINBENCH_DATA", str(tmp_path))
    for name, reason in (
        ("mnist", "the data is not on the machine that made this site"),
        ("cifar100", "the dataset does not allow its images to be shown"),
        ("unheard_of", "the dataset is not known on the machine that made this site"),
    ):
        options = datasets.resolve(name)["options"] if name in datasets.names() else {}
        text = shown({"name": name, "options": options, "seed": 0, "wrappers": []})
        assert f"No example images: {reason}." in text
        assert str(tmp_path) not in text, "a page must not hold the machine's paths"


def test_the_site_says_which_settings_are_tuned(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    said = browser.texts("ul.sentences li")
    assert any(
        line.startswith("Tuned settings: mine m=0.3 (m). 4 entries use the loss's own defaults") for line in said
    )
    assert "s=auto m=0.3 (tuned: m)" in browser.texts("#table tbody td")
    browser.open(site / f"losses/{name_of('mine m=0.3')}.html")
    assert browser.texts(".kicker") == ["target margin · tuned: m · place 2 of 5"]
    assert [row.split()[:3] for row in browser.texts("#hyper tbody tr")] == [
        ["s", "auto", "default"],
        ["m", "0.3", "tuned"],
    ]


def test_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    files = build(*standing())
    said = capsys.readouterr().err
    assert "site" in said
    assert f"/{len(files)} " in said
