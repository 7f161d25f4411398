"""The error for wrong input."""


class InputError(ValueError):
    """What came in cannot be used. The message says what came, what is expected and what to do."""
