"""`train` against the bare step, and against the loop that people usually write.

    python -m perf.training                       # convnet on glyphs
    python -m perf.training --backbone resnet20 --images 1500

The bare step is forward, backward and optimiser on images that lie normalised in memory. The usual loop is
pytorch-metric-learning's ArcFaceLoss with a DataLoader and torchvision's transforms of PIL images; it has the same
net, images and optimiser. Everything runs in one process, in turns, and is given as a ratio of processor seconds:
machines are shared and noisy.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import datasets
import losses
from benchmark import backbones
from benchmark.cell import Cell, Recipe
from benchmark.training import train
from benchmark.training.optimisers import optimiser_for
from datasets import Data
from datasets._torchvision import ensure_torchvision

DIM = 64
BARS = {"bare step / train": 0.92}


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


def in_turns(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Processor seconds of each run, round by round, after one to warm up."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            begin = time.process_time()
            run()
            if turn > 0:
                times[name].append(time.process_time() - begin)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="convnet", choices=backbones.names())
    parser.add_argument("--images", type=int, default=6_000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = datasets.load("glyphs")
    data = replace(data, train=data.train.take(torch.arange(min(options.images, len(data.train)))))
    recipe = Recipe(epochs=1, batch=options.batch, augmentation="shift")
    cell = Cell(datasets.resolve("glyphs"), options.backbone, DIM, recipe, "arcface", {}, seed=0)
    runs: dict[str, Callable[[], object]] = {
        "train": lambda: train(cell, data),
        "bare step": bare_step(cell, data),
        "usual loop": usual_loop(cell, data),
    }
    times = in_turns(runs, options.rounds)
    for name, seconds in times.items():
        print(f"{name:>11}: {len(data.train) / median(seconds):7,.0f} images/s, one thread")
    missed = False
    print(f"usual loop / train: {median(times['usual loop']) / median(times['train']):.2f} on one core")
    for what, bar in BARS.items():
        ratio = median(times[what.partition(" / ")[0]]) / median(times["train"])
        missed |= ratio < bar
        print(f"{what}: {ratio:.2f} (bar: ≥ {bar:g}, {'met' if ratio >= bar else 'MISSED'})")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
