"""The reference of the command line, from the commands themselves."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer

from benchmark.cli import app
from docs.generate.markdown import code, fenced, page, table, text

PROGRAM = "python -m benchmark"
INTRODUCTION = (
    f"`{PROGRAM} COMMAND` runs a command in the clone, after `. .venv/bin/activate`. Installed as a package, the same "
    "commands are called `marginbench COMMAND`. Every command has `--help`."
)
EXITS = (
    ("0", "Everything worked."),
    ("1", "Something failed; the output names it."),
    ("2", "The call or a file is wrong; one message says what to do."),
    ("70", "A bug, with its traceback."),
    ("130", "Interrupted with Ctrl-C."),
)
SHARED = ("debug", "plugins", "help")
_EXAMPLES = re.compile(r"\n*(?:\x08|\\b)?\s*\nExamples?:\n(?P<lines>(?:[ \t]+\S.*\n?|\n)+)")


def pages() -> Iterator[tuple[str, str | bytes]]:
    yield "reference/command-line.md", page("Command line", *_blocks())


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, such as `leaderboard verify`; groups are left out."""
    yield from _below("", typer.main.get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for key, one in inner.items():
        yield from _below(f"{name} {key}".strip(), one)


def _blocks() -> Iterator[str]:
    found = list(commands())
    yield INTRODUCTION
    yield table(("command", "what it does"), [[f"[{name}](#{anchor(name)})", text(_first(one))] for name, one in found])
    yield from ("## Exit status", table(("status", "meaning"), EXITS))
    if of_program := _options(typer.main.get_command(app), without=SHARED):
        yield from ("## Options before a command", of_program)
    yield from ("## Options of every command", _options(found[0][1], SHARED))
    for name, command in found:
        yield from _command(name, command)


def anchor(name: str) -> str:
    return name.replace(" ", "-")


def _first(command: Any) -> str:
    return re.split(r"(?<=\.)\s", _without_examples(command))[0]


def help_of(command: Any) -> str:
    return inspect.cleandoc(command.help or "").replace("\b\n", "\n").replace("\x08", "")


def examples(command: Any) -> list[str]:
    """The lines under `Examples:` in the help of a command."""
    match = _EXAMPLES.search("\n" + help_of(command))
    return [line.strip() for line in match["lines"].splitlines() if line.strip()] if match else []


def _without_examples(command: Any) -> str:
    return _EXAMPLES.sub("\n", "\n" + help_of(command)).strip()


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}"
    yield from (text(paragraph) for paragraph in re.split(r"\n\s*\n", _without_examples(command)))
    usage = command.get_usage(command.context_class(command, info_name=f"{PROGRAM} {name}"))
    yield fenced("text", " ".join(usage.removeprefix("Usage:").split()))
    if lines := examples(command):
        yield fenced("console", "\n".join(lines))
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    if arguments:
        rows = [[code(one.metavar or one.name.upper()), text(one.help or "")] for one in arguments]
        yield table(("argument", "meaning"), rows)
    yield _options(command, without=SHARED)


def _options(command: Any, only: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> str:
    rows = []
    for one in command.params:
        if one.param_type_name != "option" or one.hidden or one.name in without or (only and one.name not in only):
            continue
        rows.append([_call(command, one), text(one.help or ""), _default(one)])
    return table(("option", "meaning", "default"), rows) if rows else ""


def _call(command: Any, option: Any) -> str:
    """`--workers INT`, as the help has it."""
    shown = option.get_help_record(command.context_class(command))[0]
    return code(re.sub(r"<(\w+)[^>]*>", lambda match: match[1].upper(), shown))


def _default(option: Any) -> str:
    variable = f" or the variable {code(option.envvar)}" if option.envvar else ""
    if option.is_flag:
        chosen = (option.opts if option.default else option.secondary_opts) if option.secondary_opts else []
        return code(chosen[0]) if chosen else "off"
    value = option.default
    return (code(value) if value not in (None, [], ()) and not callable(value) else "–") + variable
