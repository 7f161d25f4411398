"""Wrong input, the one kind of error that the command line shows in one line. Everything else is a bug.

`losses` has a class of its own so that it can be used alone.
"""

from datasets import InputError
from losses import InputError as LossInputError

INPUT_ERRORS = (InputError, LossInputError)

__all__ = ["INPUT_ERRORS", "InputError"]
