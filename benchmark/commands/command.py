"""Declares a command: options come from dataclasses, and every command takes `--debug` and `--plugin`."""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from benchmark.options import INTERRUPTED, Commas, Plugins

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of errors in the call or its files.")]
Command = TypeVar("Command", bound=Callable[..., None])
Parameter = inspect.Parameter


class Without(frozenset[str]):
    """Fields of an options class that a command does not take."""


def command(app: typer.Typer, name: str, plugins: bool = True) -> Callable[[Command], Command]:
    """Adds a function to the command line. A parameter that is a dataclass becomes one option for each field."""

    def add(function: Command) -> Command:
        classes, parameters = _expanded(function)
        takes_plugins = "plugins" in parameters
        if plugins:
            parameters.setdefault("plugins", _keyword("plugins", Plugins, []))
        parameters["debug"] = _keyword("debug", Debug, False)
        lists = {key: found for key, one in parameters.items() if (found := _commas(one.annotation)) is not None}
        for key in lists:
            parameters[key] = parameters[key].replace(annotation=_as_text(parameters[key].annotation))

        @functools.wraps(function)
        def run(**given: Any) -> None:
            with _errors_shown(given.pop("debug")):
                _load(given.get("plugins", []))
                if not takes_plugins:
                    given.pop("plugins", None)
                given |= {key: one.read(f"--{key.replace('_', '-')}", given[key]) for key, one in lists.items()}
                for argument, (kind, names) in classes.items():
                    given[argument] = kind(**{key: given.pop(key) for key in names})
                function(**given)

        run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
        run.__annotations__ = {key: one.annotation for key, one in parameters.items()}
        app.command(name)(run)
        return function

    return add


Classes = dict[str, tuple[type, list[str]]]


def _expanded(function: Callable[..., None]) -> tuple[Classes, dict[str, Parameter]]:
    """The options classes that the function takes, with the fields that are options, and all its parameters."""
    classes: Classes = {}
    parameters: dict[str, Parameter] = {}
    for one in inspect.signature(function, eval_str=True).parameters.values():
        kind, *about = get_args(one.annotation) or (one.annotation,)
        if not is_dataclass(kind):
            parameters[one.name] = one.replace(kind=Parameter.KEYWORD_ONLY)
            continue
        left_out = {name for without in about if isinstance(without, Without) for name in without}
        assert isinstance(kind, type)
        found = {field.name: _parameter(kind, field) for field in fields(kind) if field.name not in left_out}
        classes[one.name] = (kind, list(found))
        parameters |= found
    return classes, parameters


def _parameter(kind: type, field: "Field[Any]") -> Parameter:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    hint = get_type_hints(kind, include_extras=True)[field.name]
    return _keyword(field.name, hint, default)


def _keyword(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _load(plugins: list[Path]) -> None:
    if plugins:
        from benchmark.plugins import load_plugin

        for file in plugins:
            load_plugin(file)


def _commas(annotation: Any) -> Commas | None:
    return next((one for one in get_args(annotation) if isinstance(one, Commas)), None)


def _as_text(annotation: Any) -> Any:
    return Annotated[(str | None, *get_args(annotation)[1:])]


@contextmanager
def _errors_shown(debug: bool) -> Iterator[None]:
    """`cli.main` says what is wrong; with `debug` the traceback comes first. Ctrl-C is exit 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as problem:
        if debug and not isinstance(problem, typer.Exit):
            traceback.print_exc()
        raise
