"""GitHub's Markdown: best bold, tied with best underlined."""

import re

from benchmark.tables.model import BEST, TIED, Table, Value, visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$^=:])")
_BREAKABLE = re.compile(r"(?i)\b(https?|ftp|www|mailto)\b")


def as_markdown(table: Table) -> str:
    """Title, caption, table, then its footnotes."""
    lines = [f"### {escape(table.title)}", ""]
    lines += [escape(table.caption), ""] if table.caption else []
    lines.append("| " + " | ".join(escape(column.heading) for column in table.columns) + " |")
    lines.append("|" + "|".join("---:" if column.numeric else ":---" for column in table.columns) + "|")
    for row in table.rows:
        lines.append("| " + " | ".join(_entry(table, entry) for entry in row.entries) + " |")
    best, tied = table.legend
    legend = ["**bold**: best"] * best + ["<u>underlined</u>: not significantly different from the best"] * tied
    lines += ["", "; ".join(legend)] if legend else []
    remarks = [f"<sup>{number}</sup> {escape(remark)}" for number, remark in enumerate(table.remarks, 1)]
    for note in [*remarks, *(escape(note) for note in table.footnotes)]:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def _entry(table: Table, entry: Value) -> str:
    marks = {BEST: "**{}**", TIED: "<u>{}</u>"}
    number = table.mark_of(entry)
    return marks.get(entry.mark, "{}").format(escape(entry.text)) + f" <sup>{number}</sup>" * bool(number)


def escape(text: str) -> str:
    """Text that Markdown shows unchanged: no links, HTML, emphasis or table borders."""
    shown = _SPECIAL.sub(r"\\\1", visible(text).replace("&", "&amp;"))
    shown = shown.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("@", "&#64;")
    return _BREAKABLE.sub(lambda found: f"{found[0][0]}<!-- -->{found[0][1:]}", shown)
