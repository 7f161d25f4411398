"""A table as HTML: values to sort by and tags to filter by are attributes, which the page's script reads."""

from markupsafe import Markup, escape

from benchmark.tables.model import Column, Entry, Row, Table, visible


def as_html(table: Table) -> Markup:
    """`<table>` with its caption; footnotes follow it as a list."""
    head = Markup("").join(_heading(column) for column in table.columns)
    body = Markup("\n").join(_row(table, row) for row in table.rows)
    parts = [
        Markup('<div class="wide"><table id="{}" class="data">').format(table.name),
        Markup("<caption>{}</caption>").format(visible(table.caption)) if table.caption else Markup(""),
        Markup("<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>").format(head, body),
        _notes(table),
    ]
    return Markup("").join(parts)


def _heading(column: Column) -> Markup:
    kind = "number" if column.numeric else "text"
    title = Markup(' title="{}"').format(visible(column.meaning)) if column.meaning else Markup("")
    return Markup('<th scope="col" class="{}"{}>{}</th>').format(kind, title, visible(column.heading))


def _row(table: Table, row: Row) -> Markup:
    tags = Markup("").join(Markup(' data-{}="{}"').format(name, visible(tag)) for name, tag in row.tags.items())
    cells = [
        _cell(table, entry, column, first=k == 0)
        for k, (entry, column) in enumerate(zip(row.entries, table.columns, strict=True))
    ]
    return Markup("<tr{}>{}</tr>").format(tags, Markup("").join(cells))


def _cell(table: Table, entry: Entry, column: Column, first: bool) -> Markup:
    kind = " ".join(filter(None, ["number" if column.numeric else "text", entry.mark]))
    value = Markup("") if entry.value is None else Markup(' data-value="{}"').format(entry.value)
    number = table.mark_of(entry)
    note = Markup("") if number is None else Markup('<sup title="{}">{}</sup>').format(visible(entry.note), number)
    tag = Markup('th scope="row"') if first else Markup("td")
    shown = escape(visible(entry.text))
    return Markup('<{} class="{}"{}>{}{}</{}>').format(tag, kind, value, shown, note, "th" if first else "td")


def _notes(table: Table) -> Markup:
    notes = [Markup("<li><sup>{}</sup> {}</li>").format(k, visible(note)) for k, note in enumerate(table.remarks, 1)]
    notes += [Markup("<li>{}</li>").format(visible(note)) for note in table.footnotes]
    return Markup('<ul class="notes">{}</ul>').format(Markup("").join(notes)) if notes else Markup("")
