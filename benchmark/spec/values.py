"""Types of values in experiment files, with their ranges, and how tables name a loss or a dataset with its settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from benchmark.cell import Resources
from datasets._names import unknown

MOST_CELLS = 100_000
MOST_SEEDS = 10_000
LARGEST_SEED = 2**31 - 1
TUNED = " (tuned)"
"""How labels of tuned rows end, for readers: what is tuned is known by a field."""
T = TypeVar("T")


class Keys(BaseModel):
    """A mapping whose keys are all known and whose values have exactly the type asked for.

    The text below a key says what it means; the documentation shows it.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


@dataclass(frozen=True)
class KnownName:
    """Checks that a text is one of some names. A function that gives the names is called when a file is read, because
    plug-ins are loaded by then."""

    noun: str
    names: Sequence[str] | Callable[[], Sequence[str]]

    def known(self) -> Sequence[str]:
        return self.names() if callable(self.names) else self.names

    def __call__(self, value: str) -> str:
        known = self.known()
        if value not in known:
            raise PydanticCustomError("name", "{message}", {"message": unknown(self.noun, value, known)})
        return value


def one_of(noun: str, names: Sequence[str] | Callable[[], Sequence[str]]) -> AfterValidator:
    return AfterValidator(KnownName(noun, names))


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else (value,)


def _counted(value: Any) -> Any:
    """`5` stands for the seeds 0 to 4."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MOST_SEEDS:
            raise PydanticCustomError(
                "seeds", "should be a count from 1 to {most}, or a list of seeds", {"most": MOST_SEEDS}
            )
        return tuple(range(value))
    if isinstance(value, list):
        return tuple(value)
    raise PydanticCustomError("seeds", "should be a count of seeds or a list of them")


def _on_one_line(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise PydanticCustomError("label", "should be a printable text on one line")
    return value


class ResourceKeys(Keys):
    """What a cell asks a cluster for; the defaults are those of `Resources`."""

    cpus: Annotated[float, Field(ge=0.01, le=1024.0)] = Resources.cpus
    """CPUs that a cell reserves on a Ray cluster."""
    gpus: Annotated[float, Field(ge=0.01, le=1.0)] = Resources.gpus
    """The share of a GPU that a cell reserves with `--device cuda`; 0.25 puts four cells on one GPU."""


Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Seeds = Annotated[
    tuple[Seed, ...],
    BeforeValidator(_counted),
    Field(min_length=1, max_length=MOST_SEEDS),
    AfterValidator(lambda seeds: tuple(dict.fromkeys(seeds))),
]
OneOrMany = Annotated[tuple[T, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
Dim = Annotated[int, Field(ge=1, le=65_536)]
Label = Annotated[str, Field(max_length=80), AfterValidator(_on_one_line)]


def with_settings(name: str, settings: Mapping[str, Any]) -> str:
    """`arcface s=16 m=0.3`: the name, then what was given, in the order given."""
    return " ".join([name, *(f"{key}={short_value(value)}" for key, value in settings.items())])


def short_value(value: Any) -> str:
    """`0.3`, `auto` or `none`."""
    if isinstance(value, float):
        brief = f"{value:g}"
        return brief if float(brief) == value else repr(value)
    return "none" if value is None else str(value)
