"""LaTeX with booktabs: best bold, tied with best underlined. It compiles with pdflatex for any names."""

import unicodedata

from benchmark.tables.model import BEST, TIED, Table, Value, visible


def _pairs(text: str) -> dict[str, str]:
    """Character → LaTeX, from a text of characters and their LaTeX in turn."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_MATH = _pairs(
    r"± \pm − - × \times ÷ \div ✓ \surd ✗ \times · \cdot ° ^{\circ} ≤ \leq ≥ \geq ≠ \neq ≈ \approx √ \surd "
    r"→ \rightarrow π \pi θ \theta λ \lambda ψ \psi κ \kappa γ \gamma α \alpha σ \sigma μ \mu τ \tau"
)
_COMMANDS = _pairs(
    r"""\ \textbackslash ^ \textasciicircum ~ \textasciitilde < \textless > \textgreater | \textbar " \textquotedbl
    ' \textquotesingle ` \textasciigrave § \S … \ldots “ \textquotedblleft ” \textquotedblright ‘ \textquoteleft
    ’ \textquoteright ß \ss æ \ae Æ \AE œ \oe Œ \OE ø \o Ø \O ł \l Ł \L ı \i"""
)
_SPECIAL = {
    **{mark: rf"\{mark}" for mark in "{}$&#%_"},
    # In braces, since two - would become a dash, two commas a quotation mark, ?` and !` Spanish marks, and [ or *
    # after a line's end would be taken for an option.
    **{mark: f"{{{mark}}}" for mark in "-,[]*?!"},
    **{mark: rf"\ensuremath{{{command}}}" for mark, command in _MATH.items()},
    **{mark: f"{command}{{}}" for mark, command in _COMMANDS.items()},
    "–": "--",
    "—": "---",
}
_ACCENTS = {
    chr(int(code, 16)): rf"\{accent}"
    for code, accent in _pairs("300 ` 301 ' 302 ^ 303 ~ 304 = 306 u 307 . 308 \" 30a r 30b H 30c v 327 c").items()
}
_PACKAGES = r"% needs the packages booktabs, graphicx, textcomp, and fontenc with [T1]"
_NO_WIDER_THAN_THE_TEXT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def as_latex(table: Table) -> str:
    """A `table` environment, ready to paste; it names the packages that it needs. Secondary columns are left out."""
    kept = [place for place, column in enumerate(table.columns) if not column.secondary]
    columns = [table.columns[place] for place in kept]
    align = "".join("r" if column.numeric else "l" for column in columns)
    rows = [" & ".join(_entry(table, row.entries[place]) for place in kept) + r" \\" for row in table.rows]
    notes = [rf"\textsuperscript{{{number}}}\,{escape(note)}" for number, note in enumerate(table.remarks, 1)]
    notes += [escape(note) for note in table.footnotes]
    lines = [
        _PACKAGES,
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(_caption(table))}}}",
        rf"\label{{tab:{table.name}}}",
        _NO_WIDER_THAN_THE_TEXT,
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        " & ".join(escape(column.heading) for column in columns) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}}",
        *(rf"\par\smallskip{{\footnotesize {note}\par}}" for note in notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _caption(table: Table) -> str:
    best, tied = table.legend
    legend = ["bold: best"] * best + ["underlined: not significantly different from the best"] * tied
    sentences = [table.title, table.caption, "; ".join(legend).capitalize()]
    return ". ".join(sentence.rstrip(".") for sentence in sentences if sentence) + "."


def _entry(table: Table, entry: Value) -> str:
    marks = {BEST: r"\textbf{%s}", TIED: r"\underline{%s}"}
    number = table.mark_of(entry)
    return marks.get(entry.mark, "%s") % escape(entry.text) + rf"\textsuperscript{{{number}}}" * bool(number)


def escape(text: str) -> str:
    """Text that LaTeX prints unchanged; a character that its usual fonts lack becomes its number, such as U+4E2D."""
    return "".join(_character(mark) for mark in visible(text))


def _character(mark: str) -> str:
    if mark in _SPECIAL:
        return _SPECIAL[mark]
    if mark.isascii():
        return mark
    parts = unicodedata.normalize("NFD", mark)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return f"{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    if unicodedata.category(mark) == "Zs":
        return "~" if mark == "\u00a0" else " "
    return rf"\texttt{{U+{ord(mark):04X}}}"
