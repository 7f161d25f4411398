"""Pieces of Markdown: texts, tables, links, and docstrings."""

import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

REPOSITORY_ROOT = "../"
_CODE = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\*\[\]<>|$])")
_ARXIV = re.compile(r"arXiv[: ]([0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?)")
_DOI = re.compile(r"doi[: ](10\.[0-9]{4,}/[^\s,;]+[^\s,;.])")
_ADDRESS = re.compile(r"https://[^\s\"'<>()]+[^\s\"'<>().,;]")
_SUBSCRIPT = re.compile(r"_(?:\{([^}]*)\}|([A-Za-z0-9]+))")
_SUPERSCRIPT = re.compile(r"\^([−-]?[A-Za-z0-9]+)")


def text(words: str) -> str:
    """Words that Markdown shows as they are, except for `code`; papers and addresses become links."""
    parts = _CODE.split(" ".join(words.split()))
    return "".join(part if place % 2 else _linked(part) for place, part in enumerate(parts))


def _linked(words: str) -> str:
    """Addresses are cut out first, so that nothing in them is escaped."""
    found: list[str] = []
    position = 0
    for match in re.finditer("|".join(f"(?:{one.pattern})" for one in (_ARXIV, _DOI, _ADDRESS)), words):
        found += [_escape(words[position : match.start()]), f"[{_escape(match[0])}]({_target(match[0])})"]
        position = match.end()
    return "".join([*found, _escape(words[position:])])


def _target(reference: str) -> str:
    if match := _ARXIV.fullmatch(reference):
        return f"https://arxiv.org/abs/{match[1]}"
    if match := _DOI.fullmatch(reference):
        return f"https://doi.org/{match[1]}"
    return reference


def _escape(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", words)


def code(value: object) -> str:
    """A value as code; in a table cell too."""
    shown = str(value).replace("|", "\\|")
    return f"`{shown}`" if shown else ""


def formula(words: str) -> str:
    """A formula with real subscripts and superscripts, as HTML inside Markdown."""
    shown = _escape(" ".join(words.split()))
    shown = _SUBSCRIPT.sub(lambda match: f"<sub>{match[1] or match[2]}</sub>", shown)
    return _SUPERSCRIPT.sub(r"<sup>\1</sup>", shown)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A pipe table of cells that are Markdown already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def page(title: str, *blocks: str) -> str:
    """A whole page; empty blocks are left out."""
    return "\n\n".join([f"# {title}", *(block.strip("\n") for block in blocks if block)]) + "\n"


def toctree(names: Iterable[str], hidden: bool = True) -> str:
    """The pages below this one, for the navigation."""
    options = [":hidden:"] if hidden else []
    return "\n".join(["```{toctree}", *options, "", *names, "```"])


def fenced(language: str, lines: str) -> str:
    return f"```{language}\n{lines.strip()}\n```"


@dataclass(frozen=True)
class Description:
    """A loss's docstring: its formula, the labelled parts such as `Paper:`, and aligned lines."""

    formula: str
    parts: tuple[tuple[str, str], ...]  # label, or nothing, and text
    aligned: tuple[str, ...]  # blocks whose columns stay aligned


_LABEL = re.compile(r"(?:^|(?<=\s))(Paper|Source|Good for|Released code): ")


def described(component: type) -> Description:
    """The docstring of a loss in its parts. A paragraph with several blanks in a row keeps its lines."""
    first, *others = re.split(r"\n\s*\n", inspect.cleandoc(component.__doc__ or "").strip())
    parts: list[tuple[str, str]] = []
    aligned = []
    for paragraph in others:
        if re.search(r"\S {2,}\S", paragraph):
            aligned.append(paragraph)
            continue
        before, *labelled = _LABEL.split(" ".join(paragraph.split()))
        parts += [("", before)] if before else []
        parts += [(label, said.strip()) for label, said in zip(labelled[::2], labelled[1::2], strict=True)]
    return Description(first, tuple(parts), tuple(aligned))


def first_sentence(component: object) -> str:
    """The first sentence of a docstring, which says what the component is."""
    words = " ".join(inspect.cleandoc(getattr(component, "__doc__", None) or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", words)[0]
