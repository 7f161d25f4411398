"""The same table as HTML, Markdown, LaTeX, CSV and on a terminal: what comes out is what went in, whatever it holds."""

import csv
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from benchmark.tables import (
    BEST,
    TIED,
    Column,
    Row,
    Table,
    Value,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    as_terminal,
    with_error,
)
from benchmark.tables.model import visible
from tests.latex import compile_latex

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a | b || c",
    "*bold* _under_ `code` ~~gone~~ $x^2$ [link](https://example.org) ![i](x) www.example.org @someone #1 :smile:",
    r"\input{/etc/passwd} \\ \write18{ls} %comment {brace} & # $ ^ ~ _",
    "=1+1",
    "@SUM(A1)",
    "Größe 中文 שלום naïve ﬁ ½ 🙂 e\u0301",
    "line\nbreak\ttab\x1b[31m red \u202e turned",
    "' '' ` `` - -- --- ,, << >> ?` !` [x] *",
    "&lt;b&gt; &amp; &#64;",
    "",
    "–",
    "trailing \\",
]


def a_table(texts: list[str], name: str = "t", noted: bool = True) -> Table:
    """A column of names and a column of numbers."""
    rows = tuple(
        Row((Value(text, note=text if noted else ""), with_error(float(place), 0.25, 2)), tags={"family": text})
        for place, text in enumerate(texts)
    )
    head = texts[0] if texts else "Loss"
    return Table(name, head, (Column(head, head, numeric=False), Column("Value, %")), rows, head, (head,))


class Cells(HTMLParser):
    """The text of every cell, and every tag that was met."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.attributes: list[dict[str, str | None]] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.append(dict(attrs))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.rows[-1][-1] += data


def parsed(html: str) -> Cells:
    found = Cells()
    found.feed(html)
    return found


def same_words(text: str) -> str:
    """As a browser shows it: runs of spaces are one."""
    return " ".join(visible(text).split())


any_text = st.text(max_size=40)


@settings(max_examples=300, deadline=None)
@given(st.lists(any_text, min_size=1, max_size=4))
def test_html_shows_every_text_as_text(texts: list[str]) -> None:
    found = parsed(str(as_html(a_table(texts, noted=False))))
    assert found.tags <= {"p", "div", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "span"}
    assert same_words(found.rows[0][0]) == same_words(texts[0])
    for place, (row, text) in enumerate(zip(found.rows[1:], texts, strict=True)):
        assert row == [visible(text), f"{place}.00 ± 0.25"]


@pytest.mark.parametrize("text", HOSTILE)
def test_html_of_hostile_names(text: str) -> None:
    found = parsed(str(as_html(a_table([text]))))
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert not any(name.startswith("on") for attributes in found.attributes for name in attributes)
    tags = [attributes["data-family"] for attributes in found.attributes if "data-family" in attributes]
    assert tags == [visible(text)]
    assert same_words(found.rows[1][0].removesuffix("1") if text else found.rows[1][0]) == same_words(text)


def test_html_carries_what_the_script_sorts_and_filters_by() -> None:
    table = Table(
        "t",
        "T",
        (Column("Loss", numeric=False), Column("digits", "what it is", tags={"dataset": "digits"})),
        (Row((Value("a"), with_error(0.1 + 0.2, 0.01, 2, BEST)), {"family": "margin"}), Row((Value("b"), Value("–")))),
    )
    html = str(as_html(table))
    assert '<th scope="col" class="number" data-dataset="digits" title="what it is"><span>digits</span></th>' in html
    assert '<tr data-family="margin"><th scope="row" class="text"><span class="name">a</span></th>' in html
    assert '<td class="number best" data-value="0.30000000000000004">0.30 ± 0.01</td>' in html
    assert '<td class="number">–</td>' in html


def markdown_cells(text: str) -> Cells:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return parsed(reader.render(text))


@settings(max_examples=300, deadline=None)
@given(any_text)
def test_markdown_shows_every_text_as_text(text: str) -> None:
    table = Table("t", "T", (Column("Loss", numeric=False), Column("n")), (Row((Value(text), Value("1", 1.0))),))
    found = markdown_cells(as_markdown(table))
    assert found.tags <= {"h3", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert [same_words(cell) for cell in found.rows[1]] == [same_words(text), "1"]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_of_hostile_names(text: str) -> None:
    written = as_markdown(a_table([text]))
    found = markdown_cells(written)
    assert found.tags <= {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "sup"}
    assert len(found.rows) == 2
    assert "https://" not in written
    assert "www." not in written
    assert "@" not in written  # nobody is notified


@settings(max_examples=300, deadline=None)
@given(st.lists(any_text, min_size=1, max_size=4))
def test_csv_reads_back(texts: list[str]) -> None:
    header, *rows = csv.reader(io.StringIO(as_csv(a_table(texts))))
    assert header[1:] == ["Value, %", "Value, % ±"]
    for place, (row, text) in enumerate(zip(rows, texts, strict=True)):
        expected = "" if text == "–" else visible(text)
        assert row[0] in (expected, f"'{expected}")
        assert not row[0].lstrip().startswith(("=", "+", "-", "@"))
        assert (float(row[1]), float(row[2])) == (float(place), 0.25)


def test_csv_has_plain_numbers_and_marks() -> None:
    table = Table(
        "t",
        "T",
        (Column("Loss", numeric=False, name="loss"), Column("Accuracy, %", name="accuracy")),
        (Row((Value("a"), with_error(95.123456789, 0.5, 2, BEST))), Row((Value("b"), with_error(None)))),
    )
    assert as_csv(table) == "loss,accuracy,accuracy ±,accuracy mark\na,95.123456789,0.5,best\nb,,,\n"


def test_latex_compiles_whatever_the_names_are(tmp_path: Path) -> None:
    every = "".join(chr(code) for code in range(1, 0x250)) + "“”‘’–—…±−×·°≤≥≠≈√πθλψκγασμτ→"
    parts = [every[start : start + 40] for start in range(0, len(every), 40)]
    samples = [*HOSTILE, *parts, "中文 שלום 🙂 \U0001d400"]
    tables = [as_latex(a_table([text], f"t{place}")) for place, text in enumerate(samples)]
    compile_latex("\n\\clearpage\n".join(tables), tmp_path)


def test_latex_marks_and_booktabs() -> None:
    table = Table(
        "t",
        "Title",
        (Column("Loss", numeric=False), Column("A & B"), Column("Settings", numeric=False, secondary=True)),
        (
            Row((Value("x_1"), with_error(95.0, 0.25, 2, BEST), Value("s=1"))),
            Row((Value("y"), with_error(94.5, None, 1, TIED, "2 of 5 runs diverged"), Value("s=2"))),
        ),
        "What it is.",
        ("50 % of it.",),
    )
    text = as_latex(table)
    assert r"x\_1 & \textbf{95.00 \ensuremath{\pm} 0.25} \\" in text
    assert r"y & \underline{94.5}\textsuperscript{1} \\" in text
    assert r"\textsuperscript{1}\,2 of 5 runs diverged" in text
    assert r"Loss & A \& B \\" in text
    assert r"\caption{Title. What it is. Bold: best; underlined: not significantly different from the best.}" in text
    assert r"50 \% of it." in text
    assert "Settings" not in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]


def test_a_wide_table_does_not_run_over_the_page(tmp_path: Path) -> None:
    columns = (Column("Loss", numeric=False), *(Column(f"Column number {place}") for place in range(30)))
    row = Row((Value("a"), *(with_error(1.0, 0.5) for _ in range(30))))
    assert "Overfull" not in compile_latex(as_latex(Table("t", "T", columns, (row,))), tmp_path)


def test_markdown_marks() -> None:
    rows = (
        Row((Value("a"), with_error(95.0, 0.25, 2, BEST))),
        Row((Value("b"), with_error(94.5, None, 1, TIED, "why"))),
    )
    lines = as_markdown(Table("t", "T", (Column("Loss", numeric=False), Column("v")), rows)).splitlines()
    assert lines[2:6] == ["| Loss | v |", "|:---|---:|", "| a | **95.00 ± 0.25** |", "| b | <u>94.5</u> <sup>1</sup> |"]
    assert lines[7] == "**bold**: best; <u>underlined</u>: not significantly different from the best"
    assert lines[9] == "<sup>1</sup> why"


def test_terminal_is_in_line_and_has_no_control_characters() -> None:
    table = a_table(["plain", "中文", "e\u0301\u0301", "red \x1b[31m"])
    text = as_terminal(table)
    assert "\x1b" not in text
    lines = [line for line in text.splitlines() if line.endswith("± 0.25")]
    assert len(lines) == 4


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 1 entries, expected 2"):
        Table("t", "T", (Column("a"), Column("b")), (Row((Value("x"),)),))


@pytest.mark.parametrize(
    ("value", "error", "decimals", "shown"),
    [
        (95.644, 0.406, 2, "95.64 ± 0.41"),
        (-1.5, 0.25, 1, "−1.5 ± 0.2"),
        (-0.0001, None, 2, "0.00"),
        (None, None, 2, "–"),
        (float("nan"), 1.0, 2, "–"),
        (1.0, float("nan"), 2, "1.00"),
    ],
)
def test_numbers_with_their_error(value: float | None, error: float | None, decimals: int, shown: str) -> None:
    assert with_error(value, error, decimals).text == shown


def test_equal_notes_share_a_footnote() -> None:
    rows = tuple(Row((Value(name, note=note),)) for name, note in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "")])
    table = Table("t", "T", (Column("n", numeric=False),), rows)
    assert table.remarks == ("x", "y")
    assert [table.mark_of(row.entries[0]) for row in rows] == [1, 2, 1, None]
