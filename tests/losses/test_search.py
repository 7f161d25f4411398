"""Where tuning looks for each loss's settings."""

import math
import random
from typing import Any

import pytest

import losses
from losses import Head, Search, TargetOnlyHead, choice, integer, number, scale
from tests.losses.test_longhand import OWN

MOST_SEARCHED = 3
STRUCTURE = ("gradient", "beyond", "variant")


def searched(name: str) -> dict[str, Search]:
    return {key: hyper.search for key, hyper in losses.get(name).hyper.items() if hyper.search is not None}


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
def test_ranges_lie_in_what_is_allowed_and_hold_the_default(name: str) -> None:
    declared = losses.get(name).hyper
    assert len(searched(name)) <= MOST_SEARCHED
    assert not set(searched(name)) & set(STRUCTURE)
    for key, search in searched(name).items():
        assert all(declared[key].accepts(value) for value in search.among or (search.low, search.high))
        default = declared[key].default
        if isinstance(default, int | float):
            assert default in search.among or search.low <= default <= search.high


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
def test_any_setting_from_the_space_makes_a_loss(name: str) -> None:
    draw = random.Random(0)
    for _ in range(20):
        losses.create(name, num_classes=10, dim=8, **{key: drawn(one, draw) for key, one in searched(name).items()})


def drawn(search: Search, draw: random.Random) -> Any:
    if search.among:
        return draw.choice(search.among)
    if search.whole:
        return draw.randint(int(search.low), int(search.high))
    return draw.choice([search.low, search.high, draw.uniform(search.low, search.high)])


@pytest.mark.parametrize("name", OWN)
def test_every_loss_with_a_scale_or_margin_is_searched(name: str) -> None:
    assert searched(name) or not losses.get(name).hyper


def test_forms() -> None:
    class Given(TargetOnlyHead):
        s: float = scale(64.0)
        m: float = number(0.5, low=0.0, high=1.0, meaning="m")
        t: float = number(1.0, low=0.0, high=10.0, meaning="t")
        k: int = integer(3, low=1, high=16, meaning="k")
        variant: str = choice("a", ("a", "b"), meaning="which")
        search = {"m": (0.0, 0.6), "t": (0.1, 10, "log"), "k": (1, 4), "variant": ["a", "b"]}

    found = {key: hyper.search for key, hyper in Given.hyper.items()}
    assert found == {
        "gradient": None,
        "s": Search(low=4.0, high=64.0, log=True),
        "m": Search(low=0.0, high=0.6),
        "t": Search(low=0.1, high=10, log=True),
        "k": Search(low=1, high=4, whole=True),
        "variant": Search(among=("a", "b")),
    }

    class Without(Given):
        search = {"s": None}

    assert Without.hyper["s"].search is None
    assert Without.hyper["m"].search == found["m"]
    assert Given.hyper["s"].search is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"m": (0.0, 2.0)},
        {"m": (0.5, 0.5)},
        {"m": (0.0, 0.5, "log")},
        {"m": (0.1, 0.5, "sqrt")},
        {"m": (0.1,)},
        {"m": (math.nan, 0.5)},
        {"m": ("a", "b")},
        {"m": []},
        {"m": [0.1, 7.0]},
        {"m": 0.3},
        {"k": (1, 2.5)},
        {"variant": ("a", "b")},
        {"nothing": (0.0, 1.0)},
        [("m", 0.0, 0.6)],
    ],
)
def test_a_space_that_will_not_do_is_named(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"search|nothing"):

        class Wrong(Head):
            m: float = number(0.5, low=0.0, high=1.0, meaning="m")
            k: int = integer(3, low=1, high=16, meaning="k")
            variant: str = choice("a", ("a", "b"), meaning="which")
            search = wrong
