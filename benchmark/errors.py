"""Wrong input: the errors that the command line shows as one message. Every other error is a bug.

`losses` has its own class, so that it can be used alone. INPUT_ERRORS has both classes.
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
