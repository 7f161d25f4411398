"""How Sphinx builds the documentation: `make docs`, offline, into docs/_build/html."""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs import generate  # noqa: E402  (the repository must be importable first)
from docs.generate import api, repository_links  # noqa: E402

project = "MarginBench"
copyright = "the MarginBench authors"
html_title = "MarginBench"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "generate"]
suppress_warnings = ["ref.python"]  # four packages have an InputError

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["marginbench.css"]
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["attrs_inline"]
smartquotes = False  # texts quote names of code
myst_heading_anchors = 4

nitpicky = True
nitpick_ignore_regex = api.EXTERNAL
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True


def focusable(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Lets the keyboard reach code and tables that are wider than the window, to scroll them."""
    if "body" in context:
        context["body"] = re.sub(r'<(?=pre>|div class="table-wrapper)(\w+)', r'<\1 tabindex="0"', context["body"])


def levelled(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Gives the captions of the navigation, which Sphinx calls headings, the level that headings need."""
    for part in ("body", "furo_navigation_tree"):
        if part in context:
            context[part] = context[part].replace('role="heading">', 'role="heading" aria-level="2">')


def setup(app: Any) -> None:
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir)))
    app.connect("source-read", repository_links.rewrite)
    app.connect("autodoc-process-docstring", api.prepare)
    app.connect("html-page-context", focusable)
    app.connect("html-page-context", levelled, priority=900)  # after the theme has made the navigation
