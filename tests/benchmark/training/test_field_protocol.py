"""Fixed normalisation, channel order and the flip test, each against its definition written out."""

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from PIL import Image
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize
from torch import Tensor

import datasets
from benchmark import backbones, scoring
from benchmark.backbones import Backbone
from benchmark.cell import Cell
from benchmark.engine.job import as_numpy, embeddings_of, evaluation_arrays, model_state
from benchmark.training import Trained, embed, train
from benchmark.training.seeds import Seeds
from datasets import Data, Split

MakeCell = Callable[..., Cell]
PACK = Path(os.environ.get("MARGINBENCH_DATA") or "nowhere") / "faces_lfw_112x112"


@torch.no_grad()
def by_hand(net: Backbone, images: Tensor) -> Tensor:
    """Embeddings of pixels from 0 to 255, with the net's own numbers but none of its code for pixels."""
    mean, std = net.pixel_mean.view(1, -1, 1, 1), net.pixel_std.view(1, -1, 1, 1)
    return net.eval()(((images.float() - mean) / std).contiguous(memory_format=torch.channels_last))


def coloured(channels: list[int]) -> Data:
    """Two classes, red and blue, with some noise; the channels in the order that is asked for."""
    draw = torch.Generator().manual_seed(3)
    labels = torch.arange(40) % 2
    images = torch.randint(0, 60, (40, 3, 16, 16), generator=draw, dtype=torch.uint8)
    images[labels == 0, 0] += 150
    images[labels == 1, 2] += 110
    split = Split(images[:, channels].contiguous(), labels, ("red", "blue"))
    return Data("coloured", "closed", split, split, {"test": split})


def weights(trained: Trained) -> dict[str, Tensor]:
    return {name: value for name, value in model_state(trained).items() if name != "backbone.channel_order"}


def test_the_flip_test_adds_the_mirror_image(make_cell: MakeCell, digits: Data) -> None:
    trained = train(make_cell("softmax", flip_test=True), digits)
    images = digits.test.images
    assert isinstance(images, Tensor)
    mirrored = torch.stack([images[..., column] for column in reversed(range(images.shape[3]))], dim=3)
    both = by_hand(trained.backbone, images) + by_hand(trained.backbone, mirrored)
    found = embeddings_of(trained, digits, "cpu", flip=True)
    torch.testing.assert_close(found["test"], both, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(both, 2 * by_hand(trained.backbone, images), atol=0.1)
    assert torch.equal(found["train"], embed(trained.backbone, digits.train.images))
    logits = evaluation_arrays(trained.head, digits, found, flip=True)["test/logits"]
    bias = trained.head.get_parameter("bias").detach()
    torch.testing.assert_close(logits, both / 2 @ trained.head.weight.detach().T + bias, rtol=1e-4, atol=1e-4)


def test_the_flip_test_trains_the_same_net(make_cell: MakeCell, digits: Data) -> None:
    plain, flipped = (weights(train(make_cell(epochs=1, flip_test=flip), digits)) for flip in (False, True))
    assert all(torch.equal(plain[name], flipped[name]) for name in plain)


@pytest.mark.parametrize("fixed", [{}, {"pixel_mean": (0.4, 0.5, 0.6), "pixel_std": (0.2, 0.25, 0.3)}])
def test_bgr_is_training_on_swapped_channels(
    make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch, fixed: dict[str, tuple[float, ...]]
) -> None:
    """Seeds follow from the images; here both sets get the same."""
    monkeypatch.setattr(Seeds, "for_run", lambda *_: Seeds("coloured", "convnet", 0))
    images, swapped = coloured([0, 1, 2]), coloured([2, 1, 0])
    cell = make_cell(batch=8, epochs=1, **fixed)
    bgr = train(replace(cell, recipe=replace(cell.recipe, channel_order="bgr")), images)
    same = train(cell, swapped)
    assert bgr.history == same.history
    assert all(torch.equal(value, weights(same)[name]) for name, value in weights(bgr).items())
    assert torch.equal(embed(bgr.backbone, images.test.images), embed(same.backbone, swapped.test.images))
    assert bgr.history != train(cell, images).history


def test_a_saved_net_knows_its_channel_order(make_cell: MakeCell) -> None:
    data = coloured([0, 1, 2])
    cell = make_cell(batch=8, epochs=1, channel_order="bgr", pixel_mean=(0.5,))
    trained = train(cell, data)
    saved = safetensors.torch.load(safetensors.torch.save(model_state(trained)))
    own = {name.removeprefix("backbone."): value for name, value in saved.items() if name.startswith("backbone.")}
    again = backbones.create("convnet", data.image_shape, 16)
    again.load_state_dict(own)
    assert torch.equal(embed(again, data.test.images), embed(trained.backbone, data.test.images))
    without = {name: value for name, value in own.items() if name != "channel_order"}
    again.load_state_dict(without)
    assert again.channel_order is None
    assert not torch.equal(embed(again, data.test.images), embed(trained.backbone, data.test.images))


def test_a_checkpoint_keeps_the_channel_order(make_cell: MakeCell, checkpoint: Path) -> None:
    data, cell = coloured([0, 1, 2]), make_cell(batch=8, epochs=2, channel_order="bgr")

    def stop(epoch: int, epochs: int, loss: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(cell, data, checkpoint=checkpoint, checkpoint_every=0.0, on_epoch=stop)
    assert checkpoint.exists()
    resumed, whole = train(cell, data, checkpoint=checkpoint), train(cell, data)
    assert resumed.history == whole.history
    assert all(torch.equal(value, model_state(whole)[name]) for name, value in model_state(resumed).items())


def test_fixed_normalisation_is_that_of_insightface(make_cell: MakeCell, digits: Data) -> None:
    net = train(make_cell(epochs=1, pixel_mean=(0.5,), pixel_std=(0.5,)), digits).backbone
    pixels = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16)
    exact = (pixels.double() / 255.0 - 0.5) / 0.5
    assert float((net.normalise(pixels).double() - exact).abs().max()) <= 2**-23
    assert net.normalise(pixels).flatten()[[0, 255]].tolist() == [-1.0, 1.0]


def test_what_is_not_fixed_is_measured(make_cell: MakeCell, digits: Data) -> None:
    plain, half = (train(make_cell(epochs=1, pixel_std=given), digits).backbone for given in ((), (0.25,)))
    assert torch.equal(plain.pixel_mean, half.pixel_mean)
    assert half.pixel_std.tolist() == [63.75]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"channel_order": "bgr"}, "channel_order 'bgr' is for images with 3 channels, and these have 1"),
        ({"channel_order": "grb"}, "channel_order='grb' is not allowed; expected 'rgb' or 'bgr'"),
        ({"pixel_mean": (0.5, 0.5, 0.5)}, "pixel_mean has 3 numbers for images with 1 channel; expected one number"),
        ({"pixel_std": (0.0,)}, r"pixel_std=\[0.0\] is not allowed; expected numbers above 0"),
        ({"pixel_std": (float("nan"),)}, "expected numbers above 0"),
    ],
)
def test_what_does_not_fit_is_refused(
    make_cell: MakeCell, digits: Data, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        train(make_cell(**settings), digits)


def insightface_evaluate(embeddings: np.ndarray, issame: np.ndarray) -> tuple[float, float]:
    """Its verification.py, written out: images 2i and 2i+1 are a pair."""
    unit = normalize(embeddings)
    distances = np.sum(np.square(unit[0::2] - unit[1::2]), axis=1)
    thresholds, accuracies = np.arange(0, 4, 0.01), []
    for others, held_out in KFold(n_splits=10, shuffle=False).split(np.arange(len(issame))):
        right = [np.mean((distances[others] < one) == issame[others]) for one in thresholds]
        best = thresholds[np.argmax(right)]
        accuracies.append(np.mean((distances[held_out] < best) == issame[held_out]))
    return float(np.mean(accuracies)), float(np.std(accuracies))


@pytest.mark.skipif(not PACK.is_dir(), reason="MARGINBENCH_DATA has no faces_lfw_112x112")
def test_the_figure_is_insightface_s_on_real_faces(make_cell: MakeCell, tmp_path: Path) -> None:
    bins, issame = pickle.loads((PACK / "lfw.bin").read_bytes(), encoding="bytes")
    pixels = np.stack([np.asarray(Image.open(BytesIO(bytes(one))).convert("RGB")) for one in bins])
    data = datasets.load("faces", PACK.parent, cache=tmp_path, train=str(PACK), tests=[str(PACK / "lfw.bin")])
    cell = make_cell(epochs=1, augmentation="none", pixel_mean=(0.5,), pixel_std=(0.5,), flip_test=True)
    few = torch.arange(256)
    some = replace(data.train, images=data.train.images[few], labels=data.train.labels[few])
    trained = train(cell, replace(data, train=some))
    net = trained.backbone.eval()
    found = embed(net, data.tests["lfw"].images, flip=True)

    parts = []
    with torch.no_grad():
        for batch in torch.split(torch.from_numpy(pixels).permute(0, 3, 1, 2), 128):
            ready = (batch.float() / 255 - 0.5) / 0.5
            parts.append((net(ready).double() + net(torch.flip(ready, [3])).double()).numpy())
    mean, deviation = insightface_evaluate(np.concatenate(parts), np.asarray(issame, bool))

    arrays = {"weight": trained.head.weight.detach(), "lfw/embeddings": found}
    arrays |= {f"lfw/{name}": getattr(data.tests["lfw"], name) for name in ("labels", "pairs", "same", "fold")}
    metrics = scoring.score(as_numpy(arrays), jackknife=False).metrics
    assert metrics["lfw/accuracy_insightface"] == pytest.approx(mean, abs=1e-9)
    assert metrics["lfw/accuracy_insightface_std"] == pytest.approx(deviation, abs=1e-9)
    assert mean > 0.52
