"""Wrong input, the one kind of error that the command line shows in one line. Everything else is a bug.

`losses` has a class of its own so that it can be used alone; INPUT_ERRORS has both.
"""

from typing import Any

from datasets._errors import InputError

__all__ = ["InputError"]


def __getattr__(name: str) -> Any:
    """INPUT_ERRORS imports torch, which metrics do without."""
    if name != "INPUT_ERRORS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import losses

    return InputError, losses.InputError
