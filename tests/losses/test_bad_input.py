"""Wrong input gets an error that names the culprit, what came and what is allowed."""

from typing import Any

import numpy as np
import pytest
import torch

import losses


def head(**settings: Any) -> losses.Head:
    return losses.create("arcface", num_classes=5, dim=4, **settings)


GOOD_X, GOOD_Y = torch.randn(3, 4), torch.tensor([0, 1, 4])

BATCHES = [
    (GOOD_X, torch.tensor([0, 1, 5]), r"label 5 is out of range; labels go from 0 to 4"),
    (GOOD_X, torch.tensor([0, -1, 2]), r"label -1 is out of range"),
    (GOOD_X, torch.tensor([0.0, 1.0, 2.0]), r"labels are torch.float32; expected a tensor of integer"),
    (GOOD_X, torch.tensor([True, False, True]), r"labels are torch.bool"),
    (GOOD_X, [0, 1, 2], r"labels are list"),
    (GOOD_X, torch.tensor([[0], [1], [2]]), r"labels have shape \(3, 1\); expected \(3,\)"),
    (GOOD_X, torch.tensor([0, 1]), r"labels have shape \(2,\); expected \(3,\)"),
    (torch.randn(3, 5), GOOD_Y, r"embeddings have shape \(3, 5\); expected \(B, 4\)"),
    (torch.randn(4), GOOD_Y, r"embeddings have shape \(4,\)"),
    (torch.randn(0, 4), torch.zeros(0, dtype=torch.int64), r"embeddings have shape \(0, 4\); expected .* B ≥ 1"),
    (torch.ones(3, 4, dtype=torch.int64), GOOD_Y, r"embeddings are torch.int64"),
    ([[1.0] * 4] * 3, GOOD_Y, r"embeddings are list"),
]


@pytest.mark.parametrize(("embeddings", "labels", "message"), BATCHES)
def test_batches(embeddings: Any, labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        head()(embeddings, labels)
    assert "arcface" in str(caught.value)


INDICES = [
    (torch.tensor([0, 1]), r"index is torch.int64 of shape \(2,\)"),
    (torch.tensor([0.0, 1.0, 2.0]), r"index is torch.float32"),
    ([0, 1, 2], r"index is \[0, 1, 2\]"),
    (torch.tensor([0, 1, -2]), r"index -2 is out of range"),
    (torch.tensor([0, 1, 9]), r"index 9 is out of range; expected ≥ 0 and below num_samples=9"),
]


@pytest.mark.parametrize(("index", "message"), INDICES)
def test_sample_indices(index: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        head(num_samples=9)(GOOD_X, GOOD_Y, index=index)


SETTINGS = [
    ({"s": -1.0}, r"s=-1.0 is not allowed; s is a number with 0 < value"),
    ({"s": 0}, r"s=0 is not allowed"),
    ({"s": float("nan")}, r"s=nan is not allowed"),
    ({"s": float("inf")}, r"s=inf is not allowed"),
    ({"s": "big"}, r's=\'big\' is not allowed; .* or "auto"'),
    ({"s": True}, r"s=True is not allowed"),
    ({"m": 2.0}, r"m=2.0 is not allowed; m is a number with 0 ≤ value ≤ 1.5708"),
    ({"m": None}, r"m=None is not allowed"),
    ({"m": "0.5"}, r"m='0.5' is not allowed"),
    ({"beyond": "cut"}, r"beyond='cut' is not allowed; beyond is one of 'linear', 'clamp', 'none'"),
    ({"gradient": "fast"}, r"gradient='fast' is not allowed; gradient is one of 'exact', 'detached'"),
    ({"margin": 0.5}, r"arcface has no hyper-parameter 'margin'; it takes: gradient, s, m, beyond; write m=0.5"),
    ({"margin": np.float64(28.6)}, r"has no hyper-parameter 'margin'; .*; m is in radians: 28.6° is m=0.499"),
    ({"scale": 30}, r"has no hyper-parameter 'scale'; .*; write s=30"),
    ({"m": 28.6}, r"m=28.6 is not allowed; .*; m is in radians: 28.6° is m=0.499"),
    ({"m": 100.0}, r"m=100.0 is not allowed; m is a number with 0 ≤ value ≤ 1.5708$"),
    ({"num_clases": 5}, r"did you mean 'num_classes'\?"),
    ({"s": np.float32(-1)}, r"s=-1.0 is not allowed"),
    ({"s": np.array([16.0])}, r"s=array\(\[16.\]\) is not allowed"),
    ({"s": np.bool_(True)}, r"s=True is not allowed"),
    ({"seed": np.float64(1.0)}, r"seed=1.0 is not allowed"),
    ({"gradiant": "exact"}, r"did you mean 'gradient'\?"),
    ({"label_smoothing": 1.0}, r"label_smoothing=1.0 is not allowed; expected 0 ≤ share < 1"),
    ({"seed": -1}, r"seed=-1 is not allowed; expected an integer ≥ 0"),
    ({"seed": 1.5}, r"seed=1.5 is not allowed"),
    ({"num_samples": 0}, r"num_samples=0 is not allowed"),
    ({"total_steps": "10"}, r"total_steps='10' is not allowed"),
    ({"class_counts": [1, 2, 3]}, r"class_counts of shape \(3,\)"),
    ({"class_counts": [1.0, 2.0, 3.0, 4.0, 5.0]}, r"expected 5 integers ≥ 0"),
    ({"class_counts": [1, 2, 3, 4, -5]}, r"expected 5 integers ≥ 0"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        head(**settings)


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
def test_too_few_classes(name: str) -> None:
    least = losses.get(name).min_classes
    for classes in (least - 1, 0, -3, 2.0, "5", True, None):
        expected = f"{name}: num_classes={classes!r} is not allowed; expected an integer ≥ {least}"
        with pytest.raises(ValueError, match=expected):
            losses.create(name, num_classes=classes, dim=4)  # type: ignore[arg-type]


def test_two_classes_are_refused_where_the_scale_would_be_zero() -> None:
    assert losses.get("adacos").min_classes == losses.get("adacos_fixed").min_classes == 3
    with pytest.raises(ValueError, match=r"adaacos: .*at least 3 classes"):
        losses.create("adaacos", num_classes=2, dim=4)


def test_adaacos_takes_two_classes_with_a_scale_of_its_own() -> None:
    assert torch.isfinite(losses.create("adaacos", num_classes=2, dim=4, s=6.0)(GOOD_X, torch.tensor([0, 1, 1])))


@pytest.mark.parametrize("alias", ["embedding_size", "embedding_dim", "feat_dim", "in_features"])
def test_other_libraries_names_of_the_dimension(alias: str) -> None:
    with pytest.raises(losses.InputError, match=f"arcface has no hyper-parameter '{alias}'; .*; write dim=64"):
        losses.create("arcface", num_classes=5, **{alias: 64})


@pytest.mark.parametrize("alias", ["n_classes", "out_features"])
def test_other_libraries_names_of_the_number_of_classes(alias: str) -> None:
    with pytest.raises(losses.InputError, match=f"arcface has no hyper-parameter '{alias}'; .*; write num_classes=5"):
        losses.ArcFace(dim=4, **{alias: 5})


def test_a_hint_names_only_what_the_loss_has() -> None:
    with pytest.raises(losses.InputError, match=r"softmax has no hyper-parameter 'scale'; it takes: none$"):
        losses.create("softmax", 5, 4, scale=30.0)
    with pytest.raises(losses.InputError, match=r"; write m0=0.5$"):
        losses.create("kappaface", 5, 4, margin=0.5)
    with pytest.raises(losses.InputError, match=r"cosface: m=28.6 is not allowed; m is a number with 0 ≤ value ≤ 2$"):
        losses.create("cosface", 5, 4, m=28.6)  # on the cosine: no angle


def test_unknown_loss() -> None:
    with pytest.raises(AttributeError, match="module 'losses' has no attribute 'ArcFase'; did you mean 'ArcFace'"):
        losses.ArcFase  # noqa: B018
    with pytest.raises(ValueError, match="no loss is named 'arcfase'; did you mean 'arcface'"):
        losses.create("arcfase", num_classes=5, dim=4)
