"""Tables for display: one model, written as HTML, Markdown, LaTeX, CSV or for the terminal.

Whatever stands in a table may come from a file, so every writer escapes it and it comes out as text.
"""

from benchmark.tables.csv import as_csv
from benchmark.tables.html import as_html
from benchmark.tables.latex import as_latex
from benchmark.tables.markdown import as_markdown
from benchmark.tables.markdown import escape as markdown_text
from benchmark.tables.model import BEST, TIED, Column, Row, Table, Value, with_error, with_p
from benchmark.tables.terminal import as_terminal
