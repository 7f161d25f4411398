"""What every backbone promises."""

import pytest
import torch
from torch import nn

from benchmark import backbones
from datasets import DuplicateNameError

every_backbone = pytest.mark.parametrize("name", backbones.names())


def smallest(name: str) -> backbones.ImageShape:
    side = backbones.get(name).smallest
    return (1, side, side)


@pytest.mark.contract
@every_backbone
def test_forward_and_backward(name: str) -> None:
    trains(name, smallest(name))


COLOUR = {
    "resnet20": (3, 32, 32),
    "iresnet18": (3, 48, 40),
    "iresnet50": (3, 32, 32),
    "iresnet100": (3, 32, 32),
    "sphere20": (3, 32, 28),
}


@pytest.mark.parametrize(("name", "shape"), COLOUR.items())
def test_colour_images_square_or_not(name: str, shape: backbones.ImageShape) -> None:
    trains(name, shape)


def trains(name: str, shape: backbones.ImageShape) -> None:
    net = backbones.create(name, shape, dim=5).to(memory_format=torch.channels_last)
    images = torch.randn(4, *shape, generator=torch.Generator().manual_seed(0))
    embeddings = net(images)
    assert embeddings.shape == (4, 5)
    assert embeddings.dtype == torch.float32
    (embeddings * torch.arange(5.0)).square().sum().backward()
    unused = [what for what, weight in net.named_parameters() if weight.grad is None]
    assert not unused
    assert all(bool(weight.grad.isfinite().all()) for weight in net.parameters() if weight.grad is not None)


@pytest.mark.contract
@every_backbone
def test_ends_in_a_linear_layer_and_batch_norm(name: str) -> None:
    net = backbones.create(name, smallest(name), dim=5)
    called: list[nn.Module] = []
    for layer in net.modules():
        if not list(layer.children()):
            layer.register_forward_hook(lambda layer, *_: called.append(layer))
    with torch.no_grad():
        net(torch.zeros(2, *smallest(name)))
    last = nn.BatchNorm1d if backbones.get(name).normalised else nn.Identity
    assert [type(layer) for layer in called[-2:]] == [nn.Linear, last]
    assert called[-2].out_features == 5


def test_the_nets_of_sphereface_and_adaacos_end_in_the_linear_layer_as_published() -> None:
    published = {name for name in ("convnet", "iresnet18", "sphere20", "adaacos_net") if not is_normalised(name)}
    assert published == {"sphere20", "adaacos_net"}


def is_normalised(name: str) -> bool:
    return isinstance(backbones.create(name, smallest(name)).normalisation, nn.BatchNorm1d)


@pytest.mark.contract
@every_backbone
def test_weights_come_from_the_seed_alone(name: str) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = backbones.create(name, smallest(name), seed=7).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    again = backbones.create(name, smallest(name), seed=7).state_dict()
    other = backbones.create(name, smallest(name), seed=8).state_dict()
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)


def test_dropout_is_that_of_the_seed_and_the_step_and_survives_a_reload() -> None:
    images = torch.randn(8, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    first, again = (backbones.create("adaacos_net", (1, 28, 28), seed=7) for _ in range(2))
    torch.manual_seed(1)
    one = first(images)
    torch.manual_seed(2)
    assert torch.equal(one, again(images))
    second = first(images)
    assert not torch.equal(one, second)
    resumed = backbones.create("adaacos_net", (1, 28, 28), seed=8)
    resumed.load_state_dict(again.state_dict())
    assert torch.equal(resumed(images), second)
    assert torch.equal(first.eval()(images), first(images))


def test_dropout_drops_a_fifth_and_keeps_the_mean() -> None:
    net = backbones.create("adaacos_net", (1, 28, 28))
    dropout = net.get_submodule("trunk.9")
    dropped = dropout(torch.ones(100, 256))
    assert float((dropped == 0).float().mean()) == pytest.approx(0.2, abs=0.01)
    assert float(dropped.max()) == pytest.approx(1.25)


def test_default_sizes_of_the_embedding() -> None:
    assert backbones.create("convnet", (1, 8, 8)).dim == 64
    assert backbones.create("lenet2d", (1, 28, 28)).dim == 2
    assert backbones.create("lenet2d", (1, 28, 28), dim=3)(torch.zeros(2, 1, 28, 28)).shape == (2, 3)


@pytest.mark.parametrize(("side", "patches"), [(8, 8), (28, 7), (32, 8), (64, 8), (112, 8)])
def test_transformer_sees_about_eight_patches_a_side(side: int, patches: int) -> None:
    net = backbones.create("vit_tiny", (3, side, side))
    assert net.get_parameter("trunk.encoder.pos_embedding").shape[1] == patches**2 + 1


def test_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'resnet18'"):
        backbones.create("resnet8", (1, 28, 28))


@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [
        ("iresnet18", (3, 8, 8), "at least 32×32 pixels, not 8×8"),
        ("convnet", (1, 4, 28), "at least 8×8 pixels, not 4×28"),
        ("vit_tiny", (1, 28, 32), "square"),
        ("vit_tiny", (1, 37, 37), "cannot divide 37"),
        ("convnet", (28, 28), "expected \\(channels, height, width\\)"),
        ("convnet", (0, 28, 28), "channels=0"),
    ],
)
def test_images_that_a_net_cannot_take(name: str, shape: tuple[int, int, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        backbones.create(name, shape)


@pytest.mark.parametrize("dim", [0, -1, 2.0, True])
def test_embedding_size_is_checked(dim: int) -> None:
    with pytest.raises(ValueError, match="dim="):
        backbones.create("convnet", (1, 28, 28), dim=dim)


def test_two_backbones_of_one_name() -> None:
    with pytest.raises(DuplicateNameError, match="convnet"):
        type("Other", (backbones.Backbone,), {"name": "convnet"})
    assert backbones.get("convnet").__module__ == "benchmark.backbones.convnet"


def test_a_saved_net_knows_its_normalisation() -> None:
    net = backbones.create("convnet", (2, 8, 8))
    net.pixel_mean.copy_(torch.tensor([10.0, 20.0]))
    net.pixel_std.copy_(torch.tensor([2.0, 4.0]))
    again = backbones.create("convnet", (2, 8, 8), seed=1)
    again.load_state_dict(net.state_dict())
    images = torch.tensor([12, 28], dtype=torch.uint8)[None, :, None, None].expand(3, 2, 8, 8)
    normalised = again.normalise(images)
    assert normalised.is_contiguous(memory_format=torch.channels_last)
    assert normalised[:, 0].unique().tolist() == [1.0]
    assert normalised[:, 1].unique().tolist() == [2.0]
