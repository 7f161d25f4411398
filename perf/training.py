"""`train` in one process against the bare step, and against the loop that people usually write.

python -m perf.training [--quick]
"""

import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import datasets
import losses
from benchmark import backbones
from benchmark.cell import Cell
from benchmark.recipe import Recipe
from benchmark.recipe.optimisers import optimiser_for
from benchmark.training import train
from datasets import Data
from datasets._torchvision import ensure_torchvision
from perf._alone import alone
from perf._model import Measured, Part, at_least
from perf._timing import in_turns, ratio

TITLE = "Training in one process"
HOW = (
    "Processor seconds of an epoch with shifts. The bare step is forward, backward and optimiser on images that lie "
    "normalised in memory; the usual loop is pytorch-metric-learning's ArcFaceLoss with a DataLoader and torchvision's "
    "transforms of PIL images, with the same net, images and optimiser."
)
DIM = 64
RECIPE = Recipe(epochs=1, batch=128, augmentation="shift")


def bare_step(cell: Cell, data: Data) -> Callable[[], None]:
    """As many steps as `train` takes, on batches that are ready."""
    net = backbones.create(cell.backbone, data.image_shape, DIM)
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    head = losses.create(cell.loss, data.num_classes, DIM, **cell.hyper)
    optimiser = optimiser_for(cell.recipe, net, head)
    ready = net.normalise(data.train.images[torch.arange(len(data.train))])
    size = cell.recipe.batch

    def run() -> None:
        for begin in range(0, len(ready), size):
            optimiser.zero_grad()
            head(net(ready[begin : begin + size]), data.train.labels[begin : begin + size]).backward()
            optimiser.flatten_gradients()
            for part in optimiser.parts:
                part.step()

    return run


class PilImages(Dataset[tuple[Tensor, int]]):
    """As torchvision's datasets do it: an array in memory, a PIL image made of the item, then the transforms."""

    def __init__(self, data: Data) -> None:
        transforms = ensure_torchvision().transforms
        self.to_pil = transforms.ToPILImage()
        self.images = data.train.images[torch.arange(len(data.train))]
        self.labels = data.train.labels.tolist()
        channels = data.image_shape[0]
        self.transform = transforms.Compose(
            [
                transforms.RandomAffine(0, translate=(2 / data.image_shape[2], 2 / data.image_shape[1])),
                transforms.ToTensor(),
                transforms.Normalize([0.5] * channels, [0.5] * channels),
            ]
        )

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.transform(self.to_pil(self.images[index])), self.labels[index]


def usual_loop(cell: Cell, data: Data) -> Callable[[], None]:
    from pytorch_metric_learning.losses import ArcFaceLoss

    net: nn.Module = backbones.create(cell.backbone, data.image_shape, DIM)
    head = ArcFaceLoss(data.num_classes, DIM)
    weights = [*net.parameters(), *head.parameters()]
    optimiser = torch.optim.SGD(weights, lr=cell.recipe.lr, momentum=0.9, weight_decay=5e-4)
    loader = DataLoader(PilImages(data), cell.recipe.batch, shuffle=True)

    def run() -> None:
        for images, labels in loader:
            optimiser.zero_grad()
            loss = head(net(images), labels)
            loss.backward()
            optimiser.step()
            float(loss.detach())

    return run


def measure(quick: bool) -> Part:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _measured(*(("digits", 200, 1) if quick else ("glyphs", 6_000, 5)), judged=not quick)
    finally:
        torch.set_num_threads(before)


def _measured(dataset: str, images: int, rounds: int, judged: bool) -> Part:
    data = datasets.load(dataset)
    data = replace(data, train=data.train.take(torch.arange(min(images, len(data.train)))))
    cell = Cell(datasets.resolve(dataset), "convnet", DIM, RECIPE, "arcface", {}, seed=0)
    runs: dict[str, Callable[[], object]] = {
        "train": lambda: train(cell, data),
        "bare step": bare_step(cell, data),
        "usual loop": usual_loop(cell, data),
    }
    times = in_turns(runs, rounds, clock=time.process_time)
    at = f"convnet, {len(data.train):,} images of {dataset}, one epoch, one thread"
    part = Part("training", TITLE, HOW)
    for what, bar in (("bare step", at_least(0.92)), ("usual loop", None)):
        one = ratio(times, what, "train")
        part.measured.append(Measured(f"{what} / train", at, one.value, "×", one.low, one.high, bar, judged))
    return part


if __name__ == "__main__":
    alone(measure)
