"""LaTeX with booktabs: best bold, tied with best underlined. It compiles with pdflatex, whatever the names are."""

import unicodedata

from benchmark.tables.model import BEST, TIED, Table, Value, visible

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": r"{-}",  # two of them would become a dash
    ",": r"{,}",  # a doubled one would become a quotation mark
    "[": "{[}",  # after a line's end it would be taken for an option
    "]": "{]}",
    "*": "{*}",
    "?": "{?}",  # ?` and !` would become Spanish marks
    "!": "{!}",
    "±": r"\ensuremath{\pm}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "÷": r"\ensuremath{\div}",
    "✓": r"\ensuremath{\surd}",
    "✗": r"\ensuremath{\times}",
    "§": r"\S{}",
    "·": r"\ensuremath{\cdot}",
    "°": r"\ensuremath{^{\circ}}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "≠": r"\ensuremath{\neq}",
    "≈": r"\ensuremath{\approx}",
    "√": r"\ensuremath{\surd}",
    "π": r"\ensuremath{\pi}",
    "θ": r"\ensuremath{\theta}",
    "λ": r"\ensuremath{\lambda}",
    "ψ": r"\ensuremath{\psi}",
    "κ": r"\ensuremath{\kappa}",
    "γ": r"\ensuremath{\gamma}",
    "α": r"\ensuremath{\alpha}",
    "σ": r"\ensuremath{\sigma}",
    "μ": r"\ensuremath{\mu}",
    "τ": r"\ensuremath{\tau}",
    "→": r"\ensuremath{\rightarrow}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
}
_ACCENTS = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0327": r"\c",
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
    """Text that LaTeX sets as it is; a character that its usual fonts lack is given by its number, as U+4E2D."""
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
