"""From a template and what it shows to a page that fetches nothing: style and script are inside it."""

from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmark import report
from benchmark.report.page import environment, policy

HERE = Path(__file__).parent
REPORT = Path(report.__file__).parent


def page(template: str, **shown: Any) -> bytes:
    """The page as its file holds it; whatever is shown is escaped, the project's own style and script are not."""
    script, style = _both("page.js", "site.js"), _both("page.css", "site.css")
    text = (
        environment(HERE)
        .get_template(template)
        .render(policy=policy(script, style), script=Markup(script), style=Markup(style), **shown)
    )
    return text.encode()


def json_for_a_page(text: str) -> Markup:
    """JSON that cannot end the <script> element it stands in."""
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)


@cache
def _both(of_report: str, of_site: str) -> str:
    """The report's file, and what the site adds to it."""
    return (REPORT / of_report).read_text() + (HERE / of_site).read_text()
