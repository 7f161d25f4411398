"""Options of datasets and wrappers: declared once, with default, range and meaning."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast, overload

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
        raise TypeError(f"{type(self).__name__} must implement allowed()")

    def fits(self, value: Any) -> bool:
        raise TypeError(f"{type(self).__name__} must implement fits()")

    def accept(self, value: Any) -> T:
        """The value converted to its type, or `InputError`."""
        if not self.fits(value):
            raise InputError(f"option {self.name}={value!r}: expected {self.allowed()}{self.hint(value)}")
        return cast(T, value)

    def hint(self, value: Any) -> str:
        return ""


class Whole(Option[int]):
    def __init__(self, default: int, meaning: str, *, low: int, high: int, incidental: bool = False) -> None:
        super().__init__(default, meaning, incidental=incidental)
        self.low, self.high = low, high

    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high


class Real(Option[float]):
    def __init__(self, default: float, meaning: str, *, low: float, high: float) -> None:
        super().__init__(default, meaning)
        self.low, self.high = low, high

    def allowed(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    def accept(self, value: Any) -> float:
        return float(super().accept(value))


class Choice(Option[str]):
    def __init__(self, default: str, meaning: str, *, among: tuple[str, ...]) -> None:
        super().__init__(default, meaning)
        self.among = among

    def allowed(self) -> str:
        return "one of " + ", ".join(map(repr, self.among))

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.among

    def hint(self, value: Any) -> str:
        return did_you_mean(value, self.among)


class Flag(Option[bool]):
    def allowed(self) -> str:
        return "True or False"

    def fits(self, value: Any) -> bool:
        return isinstance(value, bool)


class Text(Option[str]):
    def allowed(self) -> str:
        return "a text"

    def fits(self, value: Any) -> bool:
        return isinstance(value, str)


class Sets(Option[list[Any]]):
    """Files, each with or without a name; a file may be one of pairs with one of images."""

    def allowed(self) -> str:
        return "a list of files, such as ['lfw.bin', {'name': 'other.bin'}, {'name': {'pairs': …, 'images': …}}]"

    def fits(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(self._fits_one(one) for one in value)

    def _fits_one(self, one: Any) -> bool:
        if isinstance(one, str):
            return bool(one)
        if not isinstance(one, dict) or not all(isinstance(key, str) for key in one):
            return False
        if set(one) == {"pairs", "images"}:
            return all(isinstance(path, str) and path for path in one.values())
        named: Any = next(iter(one.values()), None)
        return len(one) == 1 and self._fits_one(named) and (isinstance(named, str) or "images" in named)

    def accept(self, value: Any) -> list[Any]:
        return list(super().accept(value))


class HasOptions:
    """Gives subclasses a constructor that takes the declared options only."""

    name: str

    def __init__(self, **values: object) -> None:
        declared = self.options()
        for key, value in values.items():
            if key not in declared:
                raise InputError(
                    f"{self.name} has no option {key!r} (given: {value!r}); "
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
        """The value of every option that the data depends on, defaults included."""
        return {key: getattr(self, key) for key, option in self.options().items() if not option.incidental}
