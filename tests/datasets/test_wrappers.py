"""Wrappers: what they change, and what they must leave alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import datasets
from datasets import Data

DIGITS = datasets.load("digits")


def wrapped(*wrappers: Mapping[str, Mapping[str, object]], seed: int = 0) -> Data:
    return datasets.load("digits", seed=seed, wrappers=wrappers)


def evaluation_is_untouched(data: Data) -> None:
    for one, other in ((data.val, DIGITS.val), (data.test, DIGITS.test)):
        assert torch.equal(one.images[:], other.images[:])
        assert torch.equal(one.labels, other.labels)
        assert torch.equal(one.pairs, other.pairs)


@given(st.floats(1, 60))
@settings(max_examples=15, deadline=None)
def test_longtail(ratio: float) -> None:
    data = wrapped({"longtail": {"ratio": ratio}})
    counts = data.class_counts.sort(descending=True).values.double()
    assert counts[-1] >= 2
    assert counts[0] / counts[-1] == pytest.approx(ratio, rel=0.3)
    assert counts[0] == DIGITS.class_counts.max()
    evaluation_is_untouched(data)


def test_longtail_says_when_the_ratio_is_out_of_reach() -> None:
    data = wrapped({"longtail": {"ratio": 10_000}})
    assert any("the ratio is" in note and "instead of 10000" in note for note in data.notes)
    assert data.class_counts.min() == 2


@given(st.floats(0, 0.9))
@settings(max_examples=15, deadline=None)
def test_label_noise(share: float) -> None:
    data = wrapped({"label_noise": {"share": share}})
    assert data.train.noisy.sum() == round(share * len(data.train))
    assert torch.equal(data.train.clean_labels, DIGITS.train.labels)
    assert torch.equal(data.train.images[:], DIGITS.train.images[:])
    evaluation_is_untouched(data)


def test_label_noise_leaves_no_class_empty() -> None:
    data = wrapped({"subset": {"per_class": 2}}, {"label_noise": {"share": 0.9}})
    assert data.class_counts.min() >= 1
    assert data.train.noisy.sum() == 10
    assert data.notes == ("label_noise: only 10 of 18 labels could be changed, because classes are small",)


def test_label_noise_is_uniform_over_the_other_classes() -> None:
    data = wrapped({"label_noise": {"share": 0.9}})
    shift = (data.train.labels - data.train.clean_labels)[data.train.noisy] % 10
    counts = torch.bincount(shift, minlength=10)
    assert counts[0] == 0
    assert counts[1:].min() > 70  # 115 are expected of each
    assert counts[1:].max() < 165


@given(st.integers(2, 10), st.integers(1, 60))
@settings(max_examples=15, deadline=None)
def test_subset_of_a_closed_set(classes: int, per_class: int) -> None:
    data = wrapped({"subset": {"classes": classes, "per_class": per_class}})
    assert data.class_counts.tolist() == [per_class] * classes
    assert data.train.names == data.val.names == data.test.names
    for split, whole in ((data.train, DIGITS.train), (data.val, DIGITS.val), (data.test, DIGITS.test)):
        for label, name in enumerate(split.names):
            of_class = {image.numpy().tobytes() for image in split.images[split.labels == label]}
            all_of_class = {image.numpy().tobytes() for image in whole.images[whole.labels == int(name)]}
            assert of_class <= all_of_class
    for split in (data.val, data.test):
        assert torch.equal(split.labels[split.pairs[:, 0]] == split.labels[split.pairs[:, 1]], split.same)


def test_subset_cuts_evaluation_only_when_asked_to() -> None:
    assert len(wrapped({"subset": {"share": 0.5}}).test) == len(DIGITS.test)
    cut = wrapped({"subset": {"share": 0.5, "evaluation": True}})
    assert len(cut.test) == pytest.approx(len(DIGITS.test) / 2, abs=10)
    assert cut.test.pairs.max() < len(cut.test)


def test_subset_of_an_open_set_leaves_evaluation_alone(glyphs: Data, cache: Path) -> None:
    data = datasets.load("glyphs", cache, cache=cache, wrappers=[{"subset": {"classes": 50, "per_class": 4}}])
    assert data.class_counts.tolist() == [4] * 50
    assert set(data.train.names) <= set(glyphs.train.names)
    assert torch.equal(data.test.pairs, glyphs.test.pairs)


def test_wrappers_compose_in_order() -> None:
    tail, noise = {"longtail": {"ratio": 20}}, {"label_noise": {"share": 0.3}}
    one, other = wrapped(tail, noise), wrapped(noise, tail)
    assert one.train.noisy.float().mean() == pytest.approx(0.3, abs=0.01)
    assert len({DIGITS.digest, wrapped(tail).digest, wrapped(noise).digest, one.digest, other.digest}) == 5
    assert one.wrappers == ({"longtail": {"ratio": 20.0, "at_least": 2}}, {"label_noise": {"share": 0.3}})


def test_noise_is_remembered_through_a_subset() -> None:
    noisy = wrapped({"label_noise": {"share": 0.3}})
    data = wrapped({"label_noise": {"share": 0.3}}, {"subset": {"classes": 4}})
    names = torch.tensor([int(name) for name in data.train.names])
    kept = torch.isin(noisy.train.labels, names)
    assert torch.equal(data.train.noisy, noisy.train.noisy[kept])
    assert (data.train.clean_labels[~data.train.noisy] >= 0).all()


def test_same_seed_same_data_other_seed_other_data() -> None:
    chain = [{"longtail": {"ratio": 5}}, {"label_noise": {"share": 0.2}}, {"subset": {"classes": 5}}]
    assert wrapped(*chain).digest == wrapped(*chain).digest
    assert wrapped(*chain).digest != wrapped(*chain, seed=1).digest


@pytest.mark.parametrize(
    ("wrappers", "message"),
    [
        ([{"longtial": {}}], "did you mean 'longtail'"),
        ([{"longtail": {"ratio": 0.5}}], "ratio=0.5: expected a number from 1"),
        ([{"longtail": {"ration": 5}}], "did you mean 'ratio'"),
        ([{"label_noise": {"share": 1.0}}], "share=1.0"),
        ([{"label_noise": {"share": "half"}}], "share='half'"),
        ([{"subset": {"classes": 11}}], "classes=11: expected 2 to 10"),
        ([{"subset": {"per_class": 3, "share": 0.5}}], "cannot be used together"),
        (["longtail"], "a name and its options"),
        ([{"longtail": {}, "subset": {}}], "a name and its options"),
        ({"longtail": {}}, "expected a list"),
    ],
)
def test_wrong_wrappers_are_named(wrappers: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        datasets.load("digits", wrappers=wrappers)  # type: ignore[arg-type]
