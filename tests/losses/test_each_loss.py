"""What is particular to each loss: published figures, limits, schedules, hand-made numbers."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F

import losses
from losses._hyper import auto_scale
from losses.arcgrad import lambert_w
from losses.kappaface import concentration, standardised
from losses.sphereface import psi


def random_batch(size: int, dim: int, classes: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed + 500)
    return torch.randn(size, dim, generator=random), torch.randint(classes, (size,), generator=random)


# scales


def takes_auto(loss: type[losses.Head]) -> bool:
    return "s" in loss.hyper and loss.hyper["s"].accepts("auto")


@pytest.mark.parametrize(
    ("classes", "scale"), [(10, 3.107), (47, 5.415), (100, 6.498), (1623, 10.453), (10572, 13.104)]
)
def test_fixed_adacos_scales(classes: int, scale: float) -> None:
    head = losses.create("adacos_fixed", num_classes=classes, dim=4)
    assert head.s == pytest.approx(scale, abs=5e-4)
    assert float(losses.create("adacos", num_classes=classes, dim=4).s) == pytest.approx(scale, abs=5e-4)


@pytest.mark.parametrize(("classes", "scale"), [(47, 18.818), (10, 10.80)])
def test_adaacos_scales(classes: int, scale: float) -> None:
    assert losses.create("adaacos", num_classes=classes, dim=4).s == pytest.approx(scale, abs=5e-3)


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in losses.names() if takes_auto(losses.get(name))])
def test_auto_scale_gives_half_the_posterior_at_78_degrees(name: str) -> None:
    s = losses.create(name, num_classes=100, dim=4, s="auto").s
    assert s == pytest.approx(auto_scale(100))
    assert s == pytest.approx(22.58, abs=0.01)
    own = math.exp(float(s) * math.cos(math.pi / 2.3))
    assert own / (own + 99) == pytest.approx(0.5)


# cosface


@pytest.mark.parametrize(
    ("classes", "posterior", "bound"), [(10, 0.9, 3.955), (10, 0.99, 6.113), (100, 0.9, 6.724), (100, 0.99, 9.098)]
)
def test_cosface_bound_on_the_scale(classes: int, posterior: float, bound: float) -> None:
    """On a simplex, with embeddings at the centres, the posterior at the bound is the one it was made for."""
    s = (classes - 1) / classes * math.log((classes - 1) * posterior / (1 - posterior))
    assert s == pytest.approx(bound, abs=5e-4)
    simplex = torch.eye(classes, dtype=torch.float64) - 1.0 / classes
    head = losses.create("cosface", num_classes=classes, dim=classes, s=s, m=0.0).double()
    with torch.no_grad():
        head.weight.copy_(simplex)
    assert math.exp(-head(simplex, torch.arange(classes)).item()) == pytest.approx(posterior, abs=1e-9)


# arcface and the combined margin


def test_beyond_pi() -> None:
    theta = torch.linspace(0.0, math.pi, 1001, dtype=torch.float64)
    curves = {}
    for beyond in ("linear", "clamp", "none"):
        head = losses.create("arcface", num_classes=3, dim=2, m=0.5, beyond=beyond)
        curves[beyond] = head.target_cosine(theta.cos(), None)  # type: ignore[arg-type, operator]
    inside = theta < math.pi - 0.5
    for curve in curves.values():
        assert torch.allclose(curve[inside], (theta[inside] + 0.5).cos(), atol=1e-9)
    past = ~inside
    assert torch.allclose(curves["linear"][past], theta[past].cos() - 0.5 * math.sin(0.5))
    assert (curves["clamp"][past] == -1.0).all()
    assert curves["none"][-1] == pytest.approx(math.cos(math.pi + 0.5), abs=1e-9)
    assert (curves["linear"].diff() <= 0).all()
    assert (curves["clamp"].diff() <= 0).all()
    assert (curves["none"].diff() > 0).any()


@pytest.mark.parametrize("beyond", ["linear", "clamp", "none"])
@pytest.mark.parametrize(("margins", "other"), [
    ({"m1": 1.0, "m2": 0.4, "m3": 0.0}, ("arcface", {"m": 0.4})),
    ({"m1": 1.0, "m2": 0.0, "m3": 0.3}, ("cosface", {"m": 0.3})),
    ({"m1": 1.0, "m2": 0.0, "m3": 0.0}, ("normface", {})),
])  # fmt: skip
def test_combined_contains_the_others(beyond: str, margins: dict, other: tuple[str, dict]) -> None:
    name, settings = other
    if name == "arcface":
        settings = {**settings, "beyond": beyond}
    x, y = random_batch(64, 3, 5)
    one = losses.create("combined", num_classes=5, dim=3, s=20.0, beyond=beyond, **margins)
    two = losses.create(name, num_classes=5, dim=3, s=20.0, **settings)
    assert one(x, y).item() == pytest.approx(two(x, y).item(), rel=1e-6)


def test_cm2_is_kept_from_rising() -> None:
    theta = torch.linspace(0.0, math.pi, 1001, dtype=torch.float64)
    for beyond in ("clamp", "linear"):
        head = losses.create("combined", num_classes=3, dim=2, m1=0.9, m2=0.4, m3=0.15, beyond=beyond)
        assert (head.target_cosine(theta.cos(), None).diff() <= 1e-12).all()  # type: ignore[arg-type, operator]


@pytest.mark.parametrize("name", ["arcface", "cosface", "combined", "kappaface"])
def test_detached_and_exact_slopes(name: str) -> None:
    """At θ=1 and m=.5 ArcFace's slopes are sin(1.5)/sin(1) apart: detached/exact = .844."""
    x = torch.tensor([[math.cos(1.0), math.sin(1.0), 0.0]], dtype=torch.float64, requires_grad=True)
    gradients = {}
    for gradient in ("exact", "detached"):
        settings = {"m2": 0.5, "m3": 0.0} if name == "combined" else {losses.get(name).margin_name: 0.5}
        head = losses.create(name, num_classes=2, dim=3, s=8.0, gradient=gradient, **settings).double()
        with torch.no_grad():
            head.weight.copy_(torch.eye(3, dtype=torch.float64)[[0, 2]])
        values = head(x, torch.tensor([0]), index=torch.tensor([0]))
        gradients[gradient] = torch.autograd.grad(values, x)[0][0, :2].norm().item()
    expected = 1.0 if name == "cosface" else math.sin(1.0) / math.sin(1.5)
    assert gradients["detached"] / gradients["exact"] == pytest.approx(expected, rel=1e-9)
    assert math.sin(1.0) / math.sin(1.5) == pytest.approx(0.844, abs=5e-4)


# sphereface


@pytest.mark.parametrize("m", range(1, 9))
def test_psi_falls_from_1_to_1_minus_2m_without_jumps(m: int) -> None:
    theta = torch.linspace(0.0, math.pi, 20_001, dtype=torch.float64)
    curve = psi(theta.cos(), m)
    assert curve[0] == pytest.approx(1.0)
    assert curve[-1] == pytest.approx(1.0 - 2.0 * m)
    assert (curve.diff() <= 1e-12).all()
    assert curve.diff().abs().max() < 2.0 * m * math.pi / 20_000


@pytest.mark.parametrize("m", [2, 3, 4])
def test_two_separated_classes_leave_the_angular_margin(m: int) -> None:
    """At λ=0 the boundary is mθ_1 = θ_2; the gap between the two classes' boundaries is (m−1)/(m+1)·∠(W_1,W_2)."""
    between = 1.2
    head = losses.create("sphereface", num_classes=2, dim=2, m=m, lambda_0=0.0, lambda_min=0.0).double()
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[1.0, 0.0], [math.cos(between), math.sin(between)]]))
    sweep = torch.linspace(0.0, between, 12_001, dtype=torch.float64)
    x = torch.stack([sweep.cos(), sweep.sin()], dim=1)

    def recognised(label: int) -> torch.Tensor:
        losses_of_each = torch.stack([head(row[None], torch.tensor([label])) for row in x[::20]])
        return sweep[::20][losses_of_each < math.log(2.0)]

    gap = recognised(1).min() - recognised(0).max()
    assert gap.item() == pytest.approx((m - 1) / (m + 1) * between, abs=5e-3)


def test_annealing_reaches_its_end_after_six_percent_of_the_run() -> None:
    head = losses.create("sphereface", num_classes=5, dim=4, total_steps=1000)
    assert head.lambda_at(0) == 1000.0  # type: ignore[operator]
    assert head.lambda_at(59) > 5.0  # type: ignore[operator]
    assert head.lambda_at(61) == 5.0  # type: ignore[operator]
    reference = losses.create("sphereface", num_classes=5, dim=4)
    assert reference.lambda_at(1658) > 5.0  # type: ignore[operator]
    assert reference.lambda_at(1659) == 5.0  # type: ignore[operator]
    x, y = random_batch(6, 4, 5)
    for _ in range(70):
        head(x, y)
    assert float(head.annealing) == 5.0  # type: ignore[arg-type]
    assert int(head.step) == 70  # type: ignore[arg-type]


# adacos and adaacos


def test_adacos_scale_falls_as_training_goes_well_and_stays_positive() -> None:
    """Embeddings at their class weights, the others at right angles: ln(C−1)/cos 0 after one step."""
    head = losses.create("adacos", num_classes=10, dim=12)
    with torch.no_grad():
        head.weight.copy_(torch.eye(12)[:10])
    before = float(head.s)
    head(torch.eye(12)[:10], torch.arange(10))
    assert float(head.s) == pytest.approx(math.log(9), rel=1e-6)
    assert float(head.s) < before
    three = losses.create("adacos", num_classes=3, dim=2)
    with torch.no_grad():
        three.weight.copy_(torch.tensor([[1.0, 0.0], [-0.5, 3**0.5 / 2], [-0.5, -(3**0.5) / 2]]))
    for _ in range(50):
        three(three.weight.detach(), torch.arange(3))
    assert float(three.s) >= 0.1


def test_adacos_median_is_of_the_own_angles_alone() -> None:
    head = losses.create("adacos", num_classes=4, dim=6).double()
    with torch.no_grad():
        head.weight.copy_(torch.eye(6, dtype=torch.float64)[:4])
    own = torch.tensor([0.1, 0.3, 0.5, 0.6], dtype=torch.float64)
    x = torch.zeros(4, 6, dtype=torch.float64)
    x[torch.arange(4), torch.arange(4)] = own.cos()
    x[:, 5] = own.sin()
    head(x, torch.arange(4))
    assert float(head.s) == pytest.approx(math.log(3) / math.cos(0.3))  # the lower middle


@pytest.mark.parametrize("size", [1, 2, 7, 8, 101])
def test_adaacos_margin_leaves_half_of_the_batch_inside(size: int) -> None:
    head = losses.create("adaacos", num_classes=20, dim=16, s=10.0).double()
    random = torch.Generator().manual_seed(size)
    y = torch.randint(20, (size,), generator=random)
    x = head.weight.detach()[y] + 0.15 * torch.randn(size, 16, generator=random, dtype=torch.float64)
    head(x, y)
    angles = torch.acos((F.normalize(x) @ F.normalize(head.weight).T).clamp(-1, 1)).detach()
    own = angles[torch.arange(size), y]
    angles[torch.arange(size), y] = math.inf
    assert float(head.m) > 0.0  # type: ignore[arg-type]
    inside = (own + float(head.m) < angles.amin(1) - 1e-9).double().mean().item()  # type: ignore[arg-type]
    assert abs(inside - 0.5) <= 1.0 / size + 1e-9


# arcgrad


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.1, 1.0, math.e, 9.0, 46.0, 1e6, 1e300])
def test_lambert_w(value: float) -> None:
    assert lambert_w(value) == pytest.approx(scipy.special.lambertw(value).real, rel=1e-12)


@pytest.mark.parametrize(("classes", "maximiser", "quoted"), [(10, 2.101, 2.679), (47, 3.091, 3.799)])
def test_arcgrad_rules(classes: int, maximiser: float, quoted: float) -> None:
    def scale_by(rule: str, gap: float) -> float:
        return float(losses.create("arcgrad", num_classes=classes, dim=4, s=rule, gap=gap).s)  # type: ignore[arg-type]

    assert scale_by("maximiser", 1.0) == pytest.approx(maximiser, abs=5e-4)
    assert scale_by("quoted", 1.0) == pytest.approx(quoted, abs=5e-4)
    assert scale_by("quoted", 0.5) == pytest.approx(2 * quoted, abs=1e-3)


def test_the_maximiser_maximises_the_gradient() -> None:
    """With all others at one gap behind the target, the gradient s·(1−p) is largest at the maximiser's scale."""
    classes, gap = 10, 0.7

    def gradient(s: float) -> float:
        others = (classes - 1) * math.exp(-s * gap)
        return s * others / (1 + others)

    best = float(losses.create("arcgrad", num_classes=classes, dim=4, s="maximiser", gap=gap).s)  # type: ignore[arg-type]
    assert gradient(best) > max(gradient(best * 0.99), gradient(best * 1.01))


def test_arcgrad_rules_need_the_gap() -> None:
    with pytest.raises(ValueError, match='arcgrad: s="quoted" needs gap='):
        losses.create("arcgrad", num_classes=10, dim=4, s="quoted")


# kappaface


def epoch(head: losses.Head, x: torch.Tensor, y: torch.Tensor) -> None:
    head(x, y, index=torch.arange(len(y)))
    head.end_epoch()


def kappa(r: float, d: int) -> float:
    return r * (d - r * r) / (1 - r * r)


@pytest.mark.parametrize("variant", ["paper", "official"])
def test_kappaface_on_hand_made_numbers(variant: str) -> None:
    """Three classes of 4, 2 and 2 images; within a class two directions, at the angle 2a of each other."""
    half_angles, counts = [0.2, 0.5, 0.9], [4, 2, 2]
    rows, labels = [], []
    for label, (half, count) in enumerate(zip(half_angles, counts, strict=True)):
        for i in range(count):
            row = torch.zeros(6)
            row[label], row[label + 3] = math.cos(half), math.sin(half) * (1 if i % 2 else -1)
            rows.append(row)
            labels.append(label)
    head = losses.create("kappaface", num_classes=3, dim=6, variant=variant, temperature=0.4, gamma=0.7)
    assert head.psi.tolist() == [1.0, 1.0, 1.0]  # type: ignore[operator, union-attr]
    epoch(head, torch.stack(rows), torch.tensor(labels))
    kappas = np.array([kappa(math.cos(half), 6) for half in half_angles])
    spread = (kappas - kappas.mean()) / kappas.std(ddof=1 if variant == "official" else 0)
    by_spread = 1 - 1 / (1 + np.exp(-0.4 * spread))
    largest = 4 * (1.05 if variant == "official" else 1.0)
    by_size = (np.cos(math.pi * np.array(counts) / largest) + 1) / 2
    first, second = (by_spread, by_size) if variant == "official" else (by_size, by_spread)
    np.testing.assert_allclose(head.psi.tolist(), 0.7 * first + 0.3 * second, rtol=1e-5)  # type: ignore[operator, union-attr]


@pytest.mark.parametrize("variant", ["paper", "official"])
def test_kappaface_buffer_mixes_old_and_new(variant: str) -> None:
    head = losses.create("kappaface", num_classes=2, dim=2, variant=variant, alpha=0.1)
    first, second = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 5.0]])
    head(first, torch.tensor([0]), index=torch.tensor([3]))
    head(second, torch.tensor([0]), index=torch.tensor([3]))
    mixed = torch.tensor([0.1, 0.9])
    expected = mixed / mixed.norm() if variant == "official" else mixed
    assert torch.allclose(head.directions[3], expected)  # type: ignore[index]
    assert head.owner.tolist() == [-1, -1, -1, 0]  # type: ignore[operator, union-attr]


def test_kappaface_leaves_out_classes_without_samples_and_bears_classes_of_one() -> None:
    head = losses.create("kappaface", num_classes=5, dim=4)
    x, y = random_batch(12, 4, 3)
    y[-1] = 3  # one sample: κ is infinite and becomes the largest finite one
    epoch(head, x, y)
    assert torch.isfinite(head.psi).all()  # type: ignore[arg-type]
    assert head.psi[4] == 1.0  # type: ignore[index]
    assert (head.psi[:4] < 1.0).all()  # type: ignore[index]


def test_classes_of_one_image_do_not_drown_the_others() -> None:
    """Their mean direction has length 1 up to rounding; κ of 1e9 from that would make all others look alike."""
    random = torch.Generator().manual_seed(3)
    singles, many = torch.randn(40, 16, generator=random), torch.randn(90, 16, generator=random)
    labels = torch.cat([torch.arange(40), 40 + torch.arange(90) % 10])
    head = losses.create("kappaface", num_classes=50, dim=16)
    epoch(head, torch.cat([singles, many]), labels)
    assert head.psi[40:].std() > 1e-3  # type: ignore[index]
    assert head.psi[:40].std() < 1e-6  # type: ignore[index]


def test_equal_concentrations_count_as_zero() -> None:
    assert standardised(torch.tensor([3.0, 3.0, 3.0], dtype=torch.float64), unbiased=True).tolist() == [0.0, 0.0, 0.0]
    assert standardised(torch.tensor([3.0], dtype=torch.float64), unbiased=True).tolist() == [0.0]
    assert concentration(torch.tensor([1.0, 0.5, 1.0], dtype=torch.float64), 8)[0] == pytest.approx(kappa(0.5, 8))
    assert concentration(torch.tensor([1.0], dtype=torch.float64), 8).tolist() == [0.0]


@pytest.mark.parametrize("true_kappa", [5.0, 30.0, 150.0])
@pytest.mark.parametrize("dim", [3, 16])
def test_concentration_of_von_mises_fisher_samples(true_kappa: float, dim: int) -> None:
    mean = np.eye(dim)[0]
    samples = scipy.stats.vonmises_fisher(mean, true_kappa, seed=1).rvs(20_000)
    found = concentration(torch.tensor([np.linalg.norm(samples.mean(0))]), dim).item()
    assert found == pytest.approx(true_kappa, rel=0.05)


def test_kappaface_given_counts_are_used_and_survive_a_reload() -> None:
    x, y = random_batch(12, 4, 3)
    counted = losses.create("kappaface", num_classes=3, dim=4, class_counts=[100, 10, 1])
    reloaded = losses.create("kappaface", num_classes=3, dim=4)
    reloaded.load_state_dict(counted.state_dict())
    seen = losses.create("kappaface", num_classes=3, dim=4)
    for head in (counted, reloaded, seen):
        epoch(head, x, y)
    assert torch.equal(counted.psi, reloaded.psi)  # type: ignore[arg-type]
    assert not torch.equal(counted.psi, seen.psi)  # type: ignore[arg-type]
    assert counted.psi[2] > counted.psi[0]  # type: ignore[index, operator]


def test_kappaface_without_index_says_so() -> None:
    head = losses.create("kappaface", num_classes=3, dim=4)
    x, y = random_batch(5, 4, 3)
    with pytest.warns(UserWarning, match="without index= learns no margins"):
        head(x, y)
    head.end_epoch()
    assert (head.psi == 1.0).all()  # type: ignore[union-attr]
