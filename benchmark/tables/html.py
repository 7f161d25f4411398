"""A table as HTML: values to sort by and tags to filter by are attributes, which the page's script reads."""

import re
from collections.abc import Mapping

from markupsafe import Markup, escape

from benchmark.tables.model import Column, Row, Table, Value, visible

LONG = 30  # characters; a longer text wraps in a wide column
LONG_SETTING = re.compile(r"=(?=[^\W\d]{6})")


def as_html(table: Table) -> Markup:
    """The caption, the table in a box with its own scroll bar, and the footnotes as a list."""
    head = Markup("").join(_heading(column) for column in table.columns)
    body = Markup("\n").join(_row(table, row) for row in table.rows)
    parts = [
        Markup('<p class="caption">{}</p>').format(visible(table.caption)) if table.caption else Markup(""),
        Markup('<div class="wide" tabindex="0" role="region" aria-label="{}">').format(visible(table.title)),
        Markup('<table id="{}" class="data" aria-label="{}">').format(table.name, visible(table.title)),
        Markup("<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>").format(head, body),
        _notes(table),
    ]
    return Markup("").join(parts)


def _heading(column: Column) -> Markup:
    kind = "number" if column.numeric else "text"
    title = Markup(' title="{}"').format(visible(column.meaning)) if column.meaning else Markup("")
    tags = _tags(column.tags)
    words = Markup(" ").join(Markup("<span>{}</span>").format(word) for word in visible(column.heading).split())
    return Markup('<th scope="col" class="{}"{}{}>{}</th>').format(kind, tags, title, words)


def _row(table: Table, row: Row) -> Markup:
    cells = [
        _cell(table, entry, column, first=k == 0)
        for k, (entry, column) in enumerate(zip(row.entries, table.columns, strict=True))
    ]
    return Markup("<tr{}>{}</tr>").format(_tags(row.tags), Markup("").join(cells))


def _tags(tags: Mapping[str, str]) -> Markup:
    return Markup("").join(Markup(' data-{}="{}"').format(name, visible(tag)) for name, tag in tags.items())


def _cell(table: Table, entry: Value, column: Column, first: bool) -> Markup:
    kind = " ".join(filter(None, ["number" if column.numeric else "text", entry.mark]))
    value = Markup("") if entry.value is None else Markup(' data-value="{}"').format(entry.value)
    number = table.mark_of(entry)
    note = Markup("") if number is None else Markup('<sup title="{}">{}</sup>').format(visible(entry.note), number)
    tag = Markup('th scope="row"') if first else Markup("td")
    shown = escape(visible(entry.text))
    if first:
        shown = Markup('<span class="name">{}</span>').format(_breakable(shown))
    elif not column.numeric and len(entry.text) > LONG:
        shown = Markup('<span class="long">{}</span>').format(shown)
    if entry.link:
        shown = Markup('<a href="{}">{}</a>').format(entry.link, shown)
    return Markup('<{} class="{}"{}>{}{}</{}>').format(tag, kind, value, shown, note, "th" if first else "td")


def _breakable(escaped: Markup) -> Markup:
    """A long setting, such as gradient=detached, may go to the next line after its sign and never within a word."""
    return Markup(LONG_SETTING.sub("=<wbr>", escaped))


def _notes(table: Table) -> Markup:
    notes = [Markup("<li><sup>{}</sup> {}</li>").format(k, visible(note)) for k, note in enumerate(table.remarks, 1)]
    notes += [Markup("<li>{}</li>").format(visible(note)) for note in table.footnotes]
    return Markup('<ul class="notes">{}</ul>').format(Markup("").join(notes)) if notes else Markup("")
