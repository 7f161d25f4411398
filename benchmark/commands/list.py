"""`list`: what there is of each kind, a line each, and the details of one."""

import re
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from benchmark.commands.command import command

WIDTH = 100
KINDS = {
    "losses": ("loss", "arcface", "the formula, the paper and every hyper-parameter"),
    "datasets": ("dataset", "glyphs", "every option; wrappers, which change a dataset, are listed too"),
    "backbones": ("backbone", "convnet", "what it is built of and how fast it trains"),
    "metrics": ("metric", "test/eer", "its unit, its range and which direction is better"),
    "plots": ("plot", "roc", "where the report shows it"),
    "claims": ("claim", "1", "its source and each part that is tested"),
    "papers": ("paper", "arcface", "its rows, its columns, its sources and the scales of `table`"),
    "experiments": ("experiment", "default", "its datasets, its losses and how long it takes"),
}
"""Plural → noun, an example, and what the details are."""
listing = typer.Typer(
    help="List what there is of a kind, or show the details of one.\n\n\b\nExamples:\n"
    "  python -m benchmark list losses\n  python -m benchmark list losses arcface\n"
    "  python -m benchmark list metrics --json",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for kind in KINDS:
        command(listing, kind)(_command(kind))
    app.add_typer(listing, name="list")


def _command(kind: str) -> Callable[..., None]:
    noun, example, details = KINDS[kind]

    def show(
        name: Annotated[
            str | None, typer.Argument(metavar="NAME", help=f"Show the details of this {noun}: {details}.")
        ] = None,
        json: Annotated[bool, typer.Option("--json", help="Print JSON with all details.")] = False,
    ) -> None:
        typer.echo(_listed(kind, name, json))

    show.__doc__ = (
        f"List the {kind}, or show the details of one.\n\n\b\nExamples:\n"
        f"  python -m benchmark list {kind}\n  python -m benchmark list {kind} {example}\n"
        f"  python -m benchmark list {kind} --json\n"
    )
    return show


def _listed(kind: str, name: str | None, as_json: bool) -> str:
    from json import dumps

    from benchmark.commands.catalogue import CATALOGUES
    from benchmark.errors import InputError
    from datasets._names import unknown

    known = CATALOGUES[kind]
    if name is not None:
        if name not in known.names():
            raise InputError(unknown(KINDS[kind][0], name, known.names()))
        found = known.describe(name)
        return dumps(found, indent=1, ensure_ascii=False, allow_nan=False) if as_json else details(found)
    if as_json:
        return dumps([known.describe(one) for one in known.names()], indent=1, ensure_ascii=False, allow_nan=False)
    shown = known.brief() if known.brief else known.names()
    return one_line_each([known.describe(one) for one in shown])


def one_line_each(found: list[dict[str, Any]]) -> str:
    """Names and summaries in two columns; a summary that is too long is cut."""
    size = max(len(one["name"]) for one in found)
    shorten = partial(textwrap.shorten, width=WIDTH - size - 2, placeholder=" …", break_on_hyphens=False)
    return "\n".join(f"{one['name']:{size}}  {shorten(one['summary'])}" for one in found)


def details(found: dict[str, Any]) -> str:
    """A description in words: its summary, then a paragraph or a list for everything else that it has."""
    lines = [*_wrapped(f"{found['name']}: {found['summary']}"), ""]
    for key, value in found.items():
        if key in ("name", "summary") or value in (None, [], "", found["summary"]):
            continue
        if key == "about":
            lines += [*(line for part in _paragraphs(value) for line in _wrapped(part)), ""]
        elif isinstance(value, list) and isinstance(value[0], dict):
            lines += [f"{_heading(key)}:", *(line for item in value for line in _item(item))]
        else:
            lines += _wrapped(f"{_heading(key)}: {_value(value)}", indent=2)
    return "\n".join(lines).rstrip()


def _item(item: dict[str, Any]) -> list[str]:
    """`m = 0.5: margin added to the target's angle`, and below it all else that is known of it."""
    default = f" = {item['default']!r}" if "default" in item else ""
    meaning = f": {item['meaning']}" if item["meaning"] else ""
    rest = {key: value for key, value in item.items() if key not in ("name", "default", "meaning")}
    known = [f"{_heading(key).lower()}: {_value(value)}" for key, value in rest.items() if value is not None]
    first = textwrap.wrap(f"{item['name']}{default}{meaning}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return [*first, *textwrap.wrap("; ".join(known), WIDTH, initial_indent="    ", subsequent_indent="    ")]


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join("unbounded" if one is None else str(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _heading(key: str) -> str:
    return key.replace("hyper_parameters", "hyper-parameters").replace("_", " ").capitalize()


def _wrapped(text: str, indent: int = 0) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent) or [""]


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a docstring. A line such as `Paper: …` begins one."""
    return [part.replace("\n", " ") for part in re.split(r"\n\n+|\n(?=[A-Z][a-z]+(?: [a-z]+)?: )", text)]
