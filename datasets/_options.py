"""Options of datasets and wrappers: declared once, with default, range and meaning."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from datasets._errors import InputError
from datasets._names import did_you_mean, listed

T = TypeVar("T")


class Option(Generic[T]):
    """A class attribute that declares an option; on an instance it is the option's value.

    An incidental option, such as whether to download, does not change the data.
    """

    def __init__(self, default: T, meaning: str, *, incidental: bool = False) -> None:
        self.default = default
        self.meaning = meaning
        self.incidental = incidental
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Option[T] | T:
        if instance is None:
            return self
        value: T = instance.__dict__.get(self.name, self.default)
        return value

    def allowed(self) -> str:
        raise TypeError(f"{type(self).__name__} does not say what it allows")

    def accept(self, value: object) -> T:
        """The value as its own type, or ValueError."""
        raise TypeError(f"{type(self).__name__} does not say what it accepts")

    def refuse(self, value: object, hint: str = "") -> InputError:
        return InputError(f"option {self.name}={value!r}: expected {self.allowed()}{hint}")


class Whole(Option[int]):
    def __init__(self, default: int, meaning: str, *, low: int, high: int, incidental: bool = False) -> None:
        super().__init__(default, meaning, incidental=incidental)
        self.low, self.high = low, high

    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def accept(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise self.refuse(value)
        return value


class Real(Option[float]):
    def __init__(self, default: float, meaning: str, *, low: float, high: float) -> None:
        super().__init__(default, meaning)
        self.low, self.high = low, high

    def allowed(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def accept(self, value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high:  # type: ignore[operator]
            raise self.refuse(value)
        return float(value)  # type: ignore[arg-type]


class Choice(Option[str]):
    def __init__(self, default: str, meaning: str, *, among: tuple[str, ...]) -> None:
        super().__init__(default, meaning)
        self.among = among

    def allowed(self) -> str:
        return "one of " + ", ".join(map(repr, self.among))

    def accept(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.among:
            raise self.refuse(value, did_you_mean(value, self.among))
        return value


class Flag(Option[bool]):
    def allowed(self) -> str:
        return "True or False"

    def accept(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise self.refuse(value)
        return value


class Text(Option[str]):
    def allowed(self) -> str:
        return "a text"

    def accept(self, value: object) -> str:
        if not isinstance(value, str):
            raise self.refuse(value)
        return value


class HasOptions:
    """Gives its subclasses a constructor that takes the declared options and no others."""

    name: str

    def __init__(self, **values: object) -> None:
        declared = self.options()
        for key, value in values.items():
            if key not in declared:
                raise InputError(
                    f"{self.name} has no option {key!r} (came with value {value!r}); "
                    f"its options: {listed(declared)}{did_you_mean(key, declared)}"
                )
            try:
                self.__dict__[key] = declared[key].accept(value)
            except ValueError as error:
                raise InputError(f"{self.name}: {error}") from None

    @classmethod
    def options(cls) -> dict[str, Option[Any]]:
        found: dict[str, Option[Any]] = {}
        for owner in reversed(cls.__mro__):
            found.update({key: value for key, value in vars(owner).items() if isinstance(value, Option)})
        return found

    def values(self) -> dict[str, object]:
        """Every option that the data depends on with the value it has, defaults filled in."""
        return {key: getattr(self, key) for key, option in self.options().items() if not option.incidental}
