"""The row of the history that each epoch adds."""

import csv
import io
import math

import torch

from losses import Head

Row = dict[str, float | int]
COLUMNS = {"annealing": "lambda"}


def row(epoch: int, step: int, losses: list[float], rate: float, head: Head) -> Row:
    """`step` counts from the start of the run; `loss` is the mean over the epoch's finite losses."""
    finite = [loss for loss in losses if math.isfinite(loss)]
    mean = math.fsum(finite) / len(finite) if finite else math.nan
    return {"epoch": epoch, "step": step, "loss": mean, "lr": rate, **scalars(head)}


def scalars(head: Head) -> Row:
    """The head's scale and margin, every number that it adapts, and the mean of what it adapts for each class."""
    found: Row = {}
    for name in ("s", "m"):
        value = getattr(head, name, None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = float(value)
    for name, buffer in head.named_buffers():
        if buffer.is_floating_point() and buffer.ndim == 0:
            found[COLUMNS.get(name, name)] = float(buffer)
        elif buffer.is_floating_point() and buffer.shape == torch.Size([head.num_classes]):
            found[f"{name}_mean"] = float(buffer.mean())
    return found


def as_csv(history: list[Row]) -> bytes:
    """history.csv: a line per epoch."""
    columns = list(dict.fromkeys(name for row in history for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(history)
    return text.getvalue().encode()
