"""How much tuning may try: the key `tune` of an experiment file, the command's options and the file of the outcome."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from benchmark.spec.values import Keys, OneOrMany

MOST_TRIALS = 1_000
MOST_SEEDS = 100

Rate = Annotated[float, Field(gt=0.0, le=1000.0)]


def _different(rates: tuple[float, ...]) -> tuple[float, ...]:
    if len(set(rates)) < len(rates):
        raise PydanticCustomError("rates", "should be different learning rates")
    return rates


class Budget(Keys):
    """The same for every loss on every dataset."""

    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] = 12
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)] = 2  # 0 to seeds − 1
    learning_rates: Annotated[OneOrMany[Rate], AfterValidator(_different)] | None = None  # None: around the recipe's
