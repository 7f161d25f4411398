"""Trains one cell: from its description to a backbone, a head and a history."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import losses
from benchmark import backbones
from benchmark.backbones import Backbone
from benchmark.cell import PROTOCOL_VERSION, Cell
from benchmark.code_digest import code_digest
from benchmark.errors import InputError
from benchmark.recipe import Recipe
from benchmark.recipe.augmentation import AUGMENTATIONS
from benchmark.recipe.optimisers import Optimiser, optimiser_for
from benchmark.recipe.schedules import Schedule, schedule_for
from benchmark.training.batches import Batches, pixel_statistics
from benchmark.training.checkpoint import Checkpoints, RunState, load_checkpoint
from benchmark.training.history import Row, row
from benchmark.training.precision import Precision
from benchmark.training.seeds import Seeds
from datasets import Data, Images
from losses import Head

LARGEST_LOSS = 1e6
CHECKPOINT_EVERY = 5.0

OnEpoch = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Trained:
    """The result of a run. `diverged_at` is the step, counted from 1, whose loss or gradient was not usable; the
    weights are those before that step."""

    backbone: Backbone
    head: Head
    history: list[Row]
    diverged_at: int | None = None
    diverged_reason: str = ""


@dataclass(frozen=True)
class Moment:
    """Where a run is after a step. Steps are those of the whole run."""

    epoch: int
    epochs: int
    step: int
    steps: int
    images_per_step: float
    loss: float
    history: list[Row]  # of the finished epochs


OnStep = Callable[[Moment], None]


class _DivergedError(Exception):
    """Ends a run whose loss or gradient is no longer usable."""


def train(
    cell: Cell,
    data: Data,
    *,
    device: str = "cpu",
    checkpoint: Path | None = None,
    checkpoint_every: float = CHECKPOINT_EVERY,
    on_epoch: OnEpoch | None = None,
    on_step: OnStep | None = None,
    loaders: int = 0,
) -> Trained:
    """Trains the cell and returns the last weights, never the best.

    `checkpoint` is a file that an interrupted run continues from. It is written every `checkpoint_every` seconds, or
    less often where it is large. The caller deletes it after storing the result. If it cannot be written, training
    goes on without it. `on_epoch` gets epoch, epochs and mean loss, `on_step` where the run is.
    `loaders` is the number of threads that decode images that stay on disk.
    """
    run = _Run(cell, data, device, loaders)
    if checkpoint is not None:
        load_checkpoint(checkpoint, run.state, run.identity())
    checkpoints = Checkpoints(checkpoint, checkpoint_every, run.state, run.identity())

    def after_step() -> None:
        if run.state.batch < len(run.batches):  # after the last one, the epoch is finished first
            checkpoints.offer()
        if on_step is not None:
            on_step(run.moment())

    diverged_at, reason = None, ""
    for epoch in range(run.state.epoch, cell.recipe.epochs):
        try:
            run.train_epoch(epoch, after_step)
        except _DivergedError as problem:
            diverged_at, reason = run.step, str(problem)
            break
        checkpoints.offer()
        if on_epoch is not None:
            on_epoch(epoch + 1, cell.recipe.epochs, run.state.history[-1]["loss"])
    return Trained(run.backbone, run.head, run.state.history, diverged_at, reason)


class _Run:
    """The parts of one run, and a training step."""

    def __init__(self, cell: Cell, data: Data, device: str, loaders: int = 0) -> None:
        self.cell, self.data, self.device = cell, data, device
        check_device(device)
        _check_sizes(cell, data)
        seeds = Seeds.for_run(data, cell.backbone, cell.seed)
        self.backbone = _backbone(cell, data, seeds, device)
        self.batches = Batches(
            data.train,
            cell.recipe.batch,
            AUGMENTATIONS.get(cell.recipe.augmentation),
            self.backbone.normalise,
            seeds,
            device,
            loaders,
        )
        total_steps = len(self.batches) * cell.recipe.epochs
        self.head = _head(cell, data, total_steps, seeds.head).to(device)
        self.optimiser: Optimiser = optimiser_for(cell.recipe, self.backbone, self.head)
        self.schedule: Schedule = schedule_for(cell.recipe, total_steps)
        self.precision = Precision(device)
        self.state = RunState(self.backbone, self.head, self.optimiser, self.precision)
        self.step = 0

    def moment(self) -> Moment:
        epochs, steps, images = self.cell.recipe.epochs, len(self.batches), len(self.data.train)
        now, state = self.state.epoch + 1, self.state
        return Moment(now, epochs, self.step, epochs * steps, images / steps, state.losses[-1], state.history)

    def identity(self) -> dict[str, Any]:
        """Which run a checkpoint belongs to: the cell, the data, the code and the kind of device."""
        weights = {**dict(self.backbone.named_parameters()), **dict(self.head.named_parameters(prefix="head"))}
        return {
            "cell": self.cell.description(),
            "protocol": PROTOCOL_VERSION,
            "dataset": self.data.digest,
            "loss": code_digest(type(self.head)),
            "backbone": code_digest(type(self.backbone)),
            "weights": {name: list(weight.shape) for name, weight in weights.items()},
            "torch": str(torch.__version__),
            "device": torch.device(self.device).type,
        }

    def train_epoch(self, epoch: int, after_step: Callable[[], None]) -> None:
        """The epoch, or what a checkpoint has left of it."""
        self.backbone.train()
        self.head.train()
        state = self.state
        self.step = epoch * len(self.batches) + state.batch
        rate = self.cell.recipe.lr
        try:
            for images, labels, index in self.batches.epoch(epoch, state.batch):
                rate = self.cell.recipe.lr * self.schedule(self.step)
                self.step += 1
                self._train_step(images, labels, index, rate)
                state.batch += 1
                after_step()
            self.head.end_epoch()
        finally:
            state.history.append(row(epoch + 1, self.step, state.losses, rate, self.head))
        state.epoch, state.batch, state.losses = epoch + 1, 0, []

    def _train_step(self, images: Tensor, labels: Tensor, index: Tensor, rate: float) -> None:
        with self.precision.autocast():
            loss = self.head(self.backbone(images), labels, index=index)
        value = float(loss.detach())
        self.state.losses.append(value)
        if not math.isfinite(value) or value > LARGEST_LOSS:
            raise _DivergedError(f"the loss is {value:g}")
        self.precision.backward(loss, self.optimiser)
        norm = float(torch.nn.utils.get_total_norm(self.optimiser.gradients()))
        if not math.isfinite(norm) and not self.precision.may_overflow():
            raise _DivergedError(f"the gradient's norm is {norm:g}")
        self.optimiser.set_rate(rate)
        self.precision.step(self.optimiser)


def check_device(device: str) -> None:
    """Raises `ValueError` unless torch can train on this device."""
    kind = device.partition(":")[0]
    if kind not in ("cpu", "cuda"):
        raise InputError(f"device={device!r} is not allowed; expected 'cpu', 'cuda' or one such as 'cuda:0'")
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={device!r} is not available: torch {torch.__version__} finds no CUDA; use 'cpu'")


def _check_sizes(cell: Cell, data: Data) -> None:
    if cell.recipe.epochs < 1 or cell.recipe.batch < 2:
        raise InputError(
            f"epochs={cell.recipe.epochs!r} and batch={cell.recipe.batch!r} are not allowed; "
            "expected at least 1 epoch and batches of at least 2 images"
        )
    if len(data.train) < 2:
        raise InputError(f"{data.name} has {len(data.train)} training images; expected at least 2")


def _backbone(cell: Cell, data: Data, seeds: Seeds, device: str) -> Backbone:
    backbone = backbones.create(cell.backbone, data.image_shape, cell.dim, seeds.backbone_weights)
    _set_normalisation(backbone, cell.recipe, data.train.images)
    return backbone.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def _set_normalisation(backbone: Backbone, recipe: Recipe, images: Images) -> None:
    """As the recipe says; what it leaves open is measured on the images."""
    channels = images.shape[1]
    recipe.check_channels(channels)
    if recipe.channel_order == "bgr":
        backbone.channel_order = torch.arange(channels).flip(0)
    if not (recipe.pixel_mean and recipe.pixel_std):
        order = slice(None) if backbone.channel_order is None else backbone.channel_order
        mean, std = pixel_statistics(images)
        backbone.pixel_mean.copy_(mean[order])
        backbone.pixel_std.copy_(std[order])
    if recipe.pixel_mean:
        backbone.pixel_mean.copy_(255.0 * torch.tensor(recipe.pixel_mean, dtype=torch.float64))
    if recipe.pixel_std:
        backbone.pixel_std.copy_(255.0 * torch.tensor(recipe.pixel_std, dtype=torch.float64))


def _head(cell: Cell, data: Data, total_steps: int, seed: int) -> Head:
    return losses.create(
        cell.loss,
        num_classes=data.num_classes,
        dim=cell.dim,
        class_counts=data.class_counts,
        num_samples=len(data.train),
        total_steps=total_steps,
        label_smoothing=cell.recipe.label_smoothing,
        seed=seed,
        **cell.hyper,
    )
