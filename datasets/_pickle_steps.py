"""What a pickle would do, looked at step by step without doing it."""

import io
import pickletools
from collections.abc import Container
from pathlib import Path

from datasets._errors import InputError
from datasets._source import MOST_BYTES

MOST_STEPS = 1 << 22
# fmt: off
STEPS = {
    "PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "DUP", "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT",
    "BININT1", "BININT2", "LONG", "LONG1", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES",
    "BINBYTES8", "BYTEARRAY8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "EMPTY_LIST", "APPEND",
    "APPENDS", "LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "GLOBAL", "STACK_GLOBAL", "REDUCE",
    "BUILD", "GET", "BINGET", "LONG_BINGET", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE",
}
# fmt: on
PUTS = {"PUT", "BINPUT", "LONG_BINPUT"}


def check_steps(path: Path, content: bytes, callable_names: Container[str]) -> None:
    """Raises `InputError` with the byte at which the pickle does what a list of images does not need."""
    steps, offset = 0, 0
    try:
        for step, argument, place in pickletools.genops(io.BytesIO(content)):
            steps, offset = steps + 1, place or 0
            if step.name not in STEPS:
                raise InputError(f"the step {step.name} is not allowed in a list of images")
            if steps > MOST_STEPS:
                raise InputError(f"more than {MOST_STEPS} steps")
            if step.name in PUTS and not 0 <= int(argument or 0) <= steps:
                raise InputError(f"it keeps a value as number {argument}, but has kept {steps} at most")
            if step.name == "GLOBAL" and str(argument) not in callable_names:
                raise InputError(f"it wants to call {str(argument)[:100]!r}, which is not allowed")
            if isinstance(argument, bytes | bytearray | str | int) and _too_large(argument):
                raise InputError("a value is larger than any image")
    except InputError as error:
        raise InputError(f"{path}, byte {offset}: {error}") from error
    except Exception as error:  # pickletools raises many kinds
        raise InputError(f"{path} is not a whole pickle, after byte {offset}: {error}") from error


def _too_large(argument: bytes | bytearray | str | int) -> bool:
    return argument.bit_length() > 64 if isinstance(argument, int) else len(argument) > MOST_BYTES
