"""Margins from an embedding's length (MagFace, AdaFace) and margins drawn at random (ElasticFace)."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F

import losses
from losses import Batch
from losses.adaface import AdaFace
from losses.elasticface import ElasticFace
from losses.magface import MagFace

CLASSES, DIM = 5, 8


def random_batch(size: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed + 900)
    x = torch.randn(size, DIM, generator=random, dtype=torch.float64)
    return x, torch.randint(CLASSES, (size,), generator=random)


def of_length(*lengths: float, dim: int = DIM) -> torch.Tensor:
    directions = F.normalize(torch.randn(len(lengths), dim, generator=torch.Generator().manual_seed(4)).double(), dim=1)
    return directions * torch.tensor(lengths, dtype=torch.float64)[:, None]


def batch_of(head: losses.Head, x: torch.Tensor, y: torch.Tensor | None = None) -> Batch:
    labels = torch.zeros(len(x), dtype=torch.int64) if y is None else y
    return Batch(x, labels, None, head.weight.double())


# magface


@pytest.mark.parametrize("dim", [8, 64, 512, 2048])
def test_magface_bounds_grow_with_the_square_root_of_the_dimension(dim: int) -> None:
    head = MagFace(CLASSES, dim).double()
    unit = math.sqrt(dim / 512)
    x = of_length(0.0, 10 * unit, 60 * unit, 110 * unit, 1e3 * unit, dim=dim)
    cosines = torch.full((5,), math.cos(0.3), dtype=torch.float64)
    margins = torch.acos(head.target_cosine(cosines, batch_of(head, x))) - 0.3
    assert margins.tolist() == pytest.approx([0.45, 0.45, 0.625, 0.8, 0.8], abs=1e-9)


def test_magface_of_512_dimensions_has_the_papers_bounds() -> None:
    head = MagFace(CLASSES, 512)
    assert (head.shortest, head.longest) == (10.0, 110.0)
    assert losses.create("magface", num_classes=5, dim=64).shortest == pytest.approx(10 * 0.35355, rel=1e-4)


def test_magface_adds_a_term_that_pulls_lengths_up_in_training_alone() -> None:
    head = MagFace(CLASSES, DIM, s=16.0).double()
    bare = MagFace(CLASSES, DIM, s=16.0, lambda_g=0.0).double()
    x, y = of_length(0.1, 2.0, 5.0, 100.0), torch.tensor([0, 1, 2, 3])
    low, high = head.shortest, head.longest
    added = sum(a / high**2 + 1 / a for a in (low, 2.0, 5.0, high)) / 4
    assert head(x, y).item() - bare(x, y).item() == pytest.approx(35 * added)
    assert head.eval()(x, y).item() == bare.eval()(x, y).item()


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("gradient", ["exact", "detached"])
def test_magface_gradient_along_the_length(fused: bool, gradient: str) -> None:
    """The margin pushes a length down, being larger for longer ones, unless it is detached; λ_g pulls it up.
    Outside its bounds a length counts no more."""
    x, y = of_length(0.1, 3.0, 100.0), torch.tensor([0, 1, 2])
    radial = {}
    for lambda_g in (0.0, 35.0):
        head = MagFace(CLASSES, DIM, s=16.0, lambda_g=lambda_g, gradient=gradient).double()
        head.fused = fused
        leaf = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(head(leaf, y), leaf)
        radial[lambda_g] = (slope * F.normalize(x, dim=1)).sum(1)
    assert radial[0.0][[0, 2]].abs().max() < 1e-12
    assert radial[0.0][1] > 1e-3 if gradient == "exact" else abs(radial[0.0][1]) < 1e-12
    pull = 35 / 3 * (1 / MagFace(CLASSES, DIM).longest ** 2 - 1 / 9)
    assert (radial[35.0] - radial[0.0]).tolist() == pytest.approx([0.0, pull, 0.0], abs=1e-12)


@pytest.mark.parametrize("bounds", [{"l_a": 110.0}, {"l_a": 20.0, "u_a": 20.0}, {"u_a": 5.0}])
def test_magface_refuses_bounds_in_the_wrong_order(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"magface: l_a=.* is not allowed; expected less than u_a="):
        losses.create("magface", num_classes=5, dim=4, **bounds)


# adaface


def test_adaface_running_mean_and_deviation_start_from_the_first_batch() -> None:
    head = AdaFace(CLASSES, DIM).double()
    y = torch.tensor([0, 1, 2])
    head(of_length(1.0, 2.0, 6.0), y)
    assert float(head.norm_mean) == pytest.approx(3.0)
    assert float(head.norm_deviation) == pytest.approx(math.sqrt(7.0))
    head(of_length(10.0, 20.0, 30.0), y)
    assert float(head.norm_mean) == pytest.approx(0.99 * 3.0 + 0.01 * 20.0)
    assert float(head.norm_deviation) == pytest.approx(0.99 * math.sqrt(7.0) + 0.01 * 10.0)


def test_adaface_a_batch_of_one_moves_the_mean_and_keeps_the_deviation() -> None:
    head = AdaFace(CLASSES, DIM).double()
    head(of_length(1.0, 2.0, 6.0), torch.tensor([0, 1, 2]))
    head(of_length(50.0), torch.tensor([0]))
    assert float(head.norm_mean) == pytest.approx(0.99 * 3.0 + 0.01 * 50.0)
    assert float(head.norm_deviation) == pytest.approx(math.sqrt(7.0))


def test_adaface_without_a_deviation_has_a_margin_on_the_cosine_alone() -> None:
    """Batches of one from the very first: ẑ=0, so it is CosFace; so are lengths that are all equal."""
    head = AdaFace(CLASSES, DIM, s=16.0)
    cosface = losses.create("cosface", num_classes=CLASSES, dim=DIM, s=16.0, m=0.4)
    for length in (3.0, 5.0, 1.0):
        x, y = of_length(length).float(), torch.tensor([1])
        assert head(x, y).item() == pytest.approx(cosface(x, y).item(), rel=1e-6)
    assert float(head.norm_deviation) == 0.0
    unit, y = F.normalize(random_batch(12)[0], dim=1).float(), random_batch(12)[1]
    equal = AdaFace(CLASSES, DIM, s=16.0)
    assert equal(unit, y).item() == pytest.approx(cosface(unit, y).item(), abs=1e-3)


@pytest.mark.parametrize("m", [0.1, 0.4, 1.5])
def test_adaface_target_never_rises_whatever_the_length(m: float) -> None:
    head = AdaFace(CLASSES, DIM, m=m).double()
    head(of_length(1.0, 2.0, 6.0), torch.tensor([0, 1, 2]))
    theta = torch.linspace(0.0, math.pi, 2001, dtype=torch.float64)
    for length in (0.0, 0.5, 3.0, 4.0, 12.0, 1e3):
        batch = batch_of(head, of_length(length).expand(len(theta), DIM))
        assert (head.target_cosine(theta.cos(), batch).diff() <= 1e-12).all()


def test_adaface_asks_more_of_the_cosine_of_the_long_and_of_the_angle_of_the_short() -> None:
    head = AdaFace(CLASSES, DIM).double()
    head(of_length(1.0, 2.0, 6.0), torch.tensor([0, 1, 2]))
    batch = batch_of(head, of_length(1e-6, 3.0, 1e3))
    here = torch.full((3,), math.cos(1.0), dtype=torch.float64)
    short, middle, long = head.target_cosine(here, batch).tolist()
    z = 0.333 * 3.0 / math.sqrt(7.0)
    assert short == pytest.approx(math.cos(1.0 + 0.4 * z) - 0.4 * (1 - z), rel=1e-5)
    assert middle == pytest.approx(math.cos(1.0) - 0.4)
    assert long == pytest.approx(math.cos(1.0 - 0.4) - 0.8)


# elasticface


VARIANTS = {"arc": (0.5, 0.05), "arc+": (0.5, 0.0175), "cos": (0.35, 0.05), "cos+": (0.35, 0.02)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_elasticface_draws_with_the_papers_mean_and_deviation(variant: str) -> None:
    head = ElasticFace(CLASSES, DIM, variant=variant)
    m, sigma = VARIANTS[variant]
    assert (head.m, head.sigma) == (m, sigma)
    x, y = random_batch(20_000)
    margins = head.margins(batch_of(head, x, y))
    assert margins.mean().item() == pytest.approx(m, abs=5 * sigma / math.sqrt(20_000))
    assert margins.std().item() == pytest.approx(sigma, rel=0.03)
    assert not torch.equal(margins, head.margins(batch_of(head, x, y)))


def test_elasticface_takes_a_mean_and_a_deviation_of_ones_own() -> None:
    head = ElasticFace(CLASSES, DIM, variant="cos+", m=0.2)
    assert (head.m, head.sigma) == (0.2, 0.02)
    assert ElasticFace(CLASSES, DIM, sigma=0.0).sigma == 0.0


@pytest.mark.parametrize("variant", ["arc+", "cos+"])
def test_elasticface_plus_gives_the_larger_margin_to_the_smaller_cosine(variant: str) -> None:
    head, plain = ElasticFace(CLASSES, DIM, variant=variant), ElasticFace(CLASSES, DIM, variant=variant[:-1])
    plain.sigma = head.sigma
    x, y = random_batch(50)
    batch = batch_of(head, x, y)
    margins, drawn = head.margins(batch), plain.margins(batch)
    assert torch.equal(margins.sort().values, drawn.sort().values)  # the same draws, handed out otherwise
    by_cosine = margins[batch.cosine.argsort()]
    assert (by_cosine.diff() < 0.0).all()
    argsorted = drawn.sort().values[batch.cosine.argsort(descending=True)]  # the slip of the public code
    assert not torch.equal(argsorted, margins)


def test_elasticface_plus_on_hand_made_numbers() -> None:
    head = ElasticFace(CLASSES, DIM, variant="arc+", m=0.5, sigma=0.1)
    with torch.no_grad():
        head.weight.copy_(torch.eye(DIM)[:CLASSES])
    angles = torch.tensor([0.9, 0.1, 0.5, 1.3, 0.3])
    x = torch.zeros(5, DIM, dtype=torch.float64)
    x[:, 0], x[:, -1] = angles.cos(), angles.sin()
    low_to_high = copy.deepcopy(head).margins(batch_of(head, x)).sort().values.tolist()
    found = head.margins(batch_of(head, x)).tolist()
    assert found == [low_to_high[place] for place in (3, 0, 2, 4, 1)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_elasticface_draws_never_make_the_target_rise(variant: str) -> None:
    head = ElasticFace(CLASSES, DIM, variant=variant, sigma=1.0)
    margins = head.margins(batch_of(head, *random_batch(1000)))
    assert margins.min() == 0.0
    assert margins.max() == pytest.approx(math.pi / 2)


def test_elasticface_draws_are_its_own_and_repeatable() -> None:
    x, y = random_batch(16)
    first, again, other = (ElasticFace(CLASSES, DIM, seed=seed).double() for seed in (1, 1, 2))
    with torch.no_grad():
        other.weight.copy_(first.weight)
    torch.manual_seed(5)
    values = [first(x, y).item() for _ in range(3)]
    torch.manual_seed(6)
    assert [again(x, y).item() for _ in range(3)] == values
    assert other(x, y).item() != values[0]
    before = first.generator.get_state()
    first.eval()(x, y)
    first.logits(x)
    assert torch.equal(first.generator.get_state(), before)


# all of them


@pytest.mark.contract
@pytest.mark.parametrize(
    ("name", "settings"),
    [*((name, {}) for name in losses.names()), *(("elasticface", {"variant": one}) for one in ("arc+", "cos"))],
)
def test_a_run_that_is_resumed_in_the_middle_goes_on_to_the_same_bytes(name: str, settings: dict[str, str]) -> None:
    def steps(head: losses.Head, first: int, last: int) -> list[float]:
        optimiser = torch.optim.SGD(head.parameters(), lr=0.5)
        values = []
        for step in range(first, last):
            x, y = random_batch(1 if step == 4 else 9, seed=step)
            loss = head(3.0 * x.float(), y, index=torch.arange(len(y)))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            values.append(loss.item())
        return values

    whole = losses.create(name, num_classes=CLASSES, dim=DIM, seed=3, **settings)
    begun = losses.create(name, num_classes=CLASSES, dim=DIM, seed=3, **settings)
    expected = steps(whole, 0, 10)
    assert steps(begun, 0, 5) == expected[:5]
    resumed = losses.create(name, num_classes=CLASSES, dim=DIM, seed=8, **settings)
    resumed.load_state_dict(copy.deepcopy(begun.state_dict()))
    assert steps(resumed, 5, 10) == expected[5:]
    for key, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[key])
