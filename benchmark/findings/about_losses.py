"""The family and the settings of a loss, for tables."""

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

import losses
from benchmark.spec.values import with_settings
from losses import CosineHead, Head, TargetOnlyHead


@dataclass(frozen=True)
class AboutLoss:
    label: str  # of the row
    family: str
    settings: str  # all numbers, given or by default, and the choices that were given


def about_losses(results: pd.DataFrame) -> dict[str, AboutLoss]:
    """By label, for every loss that has a run. Tuned rows have settings and a learning rate per dataset."""
    found = {}
    for label, rows in results.groupby("loss", sort=False):
        loss = losses.get(str(rows["name"].iloc[0]))
        words = _by_dataset(loss, rows) if rows["tuned"].iloc[0] else settings(loss, json.loads(rows["hyper"].iloc[0]))
        found[str(label)] = AboutLoss(str(label), family(loss), words)
    return found


def _by_dataset(loss: type[Head], rows: pd.DataFrame) -> str:
    """`digits: s=12.3 m=0.2 lr=0.013; glyphs: …`, or `s=8 lr=0.1 (digits), 0.03 (glyphs)` if only the rate differs."""
    first = rows.drop_duplicates("dataset")
    hypers = [settings(loss, json.loads(hyper)) for hyper in first["hyper"]]
    rates = [f"{json.loads(recipe)['lr']:g}" for recipe in first["recipe"]]
    if len(set(hypers)) > 1:
        each = zip(first["dataset"], hypers, rates, strict=True)
        return "; ".join(f"{dataset}: {hyper} lr={rate}" for dataset, hyper, rate in each)
    where: dict[str, list[str]] = {}
    for dataset, rate in zip(first["dataset"], rates, strict=True):
        where.setdefault(rate, []).append(str(dataset))
    shown = [rate if len(where) == 1 else f"{rate} ({', '.join(names)})" for rate, names in where.items()]
    return f"{hypers[0]} lr={', '.join(shown)}".strip()


def family(loss: type[Head]) -> str:
    """Follows from the base class and the methods that the class overrides, so that a new loss has one too."""
    adapts = loss.update_state is not Head.update_state or loss.end_epoch is not Head.end_epoch
    if not loss.normalises:
        return "softmax"
    if not loss.is_cross_entropy:
        return "not cross-entropy"
    if issubclass(loss, TargetOnlyHead):
        return "adaptive target margin" if adapts else "target margin"
    if issubclass(loss, CosineHead) and loss.target_value is CosineHead.target_value:
        return "adaptive scale" if adapts else "scale only"
    return "all logits"


def settings(loss: type[Head], given: dict[str, Any]) -> str:
    """`s=auto m=0.5`."""
    shown = {
        name: given.get(name, hyper.default)
        for name, hyper in loss.hyper.items()
        if name in given or (hyper.default is not None and not hasattr(hyper, "options"))
    }
    return with_settings("", shown).strip()
