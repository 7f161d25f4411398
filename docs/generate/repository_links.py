"""Links from a page to files of the repository outside of docs/, such as results and code.

Sphinx knows only its own pages. These links become relative to the clone that the site is built in, so that the same
Markdown works on a code host and in the built site.
"""

import os
import re
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"(^(?P<mark>`{3,}|~{3,}).*?^(?P=mark)[ \t]*$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]*)\]\((?P<target>(?![a-z]+:|#)[^()\s#]+)(?P<anchor>#[^()\s]*)?\)")


def rewrite(app: Any, docname: str, content: list[str]) -> None:
    """For the event source-read: changes the page's text in place."""
    page = Path(app.srcdir) / f"{docname}.md"
    output = Path(app.outdir) / f"{docname}.html"
    content[0] = rewritten(content[0], page, output, Path(app.srcdir))


def rewritten(text: str, page: Path, output: Path, docs: Path) -> str:
    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / match["target"]))
        if target.is_relative_to(docs) or not target.exists():
            return match[0]
        address = Path(os.path.relpath(target, output.parent)).as_posix() + (match["anchor"] or "")
        return f'<a href="{address}">{match["words"]}</a>'

    parts = _FENCE.split(text)  # every third part is a fence, followed by its mark
    return "".join(
        _LINK.sub(link, part) if place % 3 == 0 else part for place, part in enumerate(parts) if place % 3 < 2
    )
