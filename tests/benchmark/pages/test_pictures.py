"""A picture in a page: its alternative text, and how it follows the theme."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from benchmark.pages import Drawn, render
from tests.browser import Browser

TEMPLATE = """{% from "picture.html.j2" import image %}
<!DOCTYPE html><html lang="en"><head><title>t</title><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}"><style>{{ style }}</style></head>
<body><figure>{{ image(picture) }}</figure><script>{{ script }}</script></body></html>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    (folder / "page.html.j2").write_text(TEMPLATE)
    content = BytesIO()
    Image.new("RGB", (60, 40), "white").save(content, "PNG")
    picture = Drawn("p", "Title", "caption", "section", content.getvalue(), b"", 'Dots & "lines" <b>')
    (folder / "index.html").write_bytes(render(folder, "page.html.j2", picture=picture))
    return folder / "index.html"


def shown(browser: Browser) -> list[int]:
    """The colour of the middle of the picture, as a reader sees it."""
    browser.run("document.querySelector('figure img').scrollIntoView()")
    box = browser.run("const r = document.querySelector('figure img').getBoundingClientRect(); return [r.x, r.y]")
    image = Image.open(BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    return list(image.getpixel((int(box[0]) + 30, int(box[1]) + 25)))


def test_white_paper_turns_dark_with_the_theme(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert min(shown(browser)) >= 250
    browser.open(page, dark=True)
    assert max(shown(browser)) <= 40
    assert browser.console() == []


def test_the_alternative_text_is_escaped_and_not_the_title(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run("return document.querySelector('figure img').alt") == 'Dots & "lines" <b>'
