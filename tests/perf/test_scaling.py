import json
from dataclasses import replace
from pathlib import Path

import pytest

from perf import _rates, scaling

REPORT = scaling.read_report(scaling.REFERENCE)


def test_the_document_holds_what_the_script_prints() -> None:
    document = scaling.DOCUMENT.read_text()
    assert scaling.with_blocks(document, scaling.blocks(REPORT)) == document


def test_the_head_by_hand() -> None:
    one, sharded = scaling.PLANS[0], next(plan for plan in scaling.PLANS if plan.head == "sharded" and plan.gpus == 8)
    assert one.memory_of_head() == 3 * 4 * 512 * 1_000_000
    assert sharded.memory_of_head() == one.memory_of_head() / 8
    assert one.one_array() == sharded.one_array() == 128 * 1_000_000 * 4
    assert one.traffic() == 0
    assert scaling.head_flop(1_000_000) == 3 * 2 * 1_000_000 * 512


def test_a_sharded_head_sends_embeddings_and_no_weights() -> None:
    sharded, replicated = (
        next(plan for plan in scaling.PLANS if plan.head == head and plan.gpus == 8)
        for head in ("sharded", "replicated")
    )
    of_backbone = 2 * 7 / 8 * 4 * scaling.backbone().parameters
    assert sharded.traffic() - of_backbone == pytest.approx(7 / 8 * 8 * 128 * 4 * (2 * 512 + 2 * 3))
    assert replicated.traffic() - of_backbone == pytest.approx(2 * 7 / 8 * 4 * 512 * 1_000_000)


def test_what_iresnet50_keeps_of_an_image_by_hand() -> None:
    side, before = 112, 64
    numbers = 3 * side**2 + 2 * 64 * side**2  # what goes into the first convolution, its normalisation and PReLU
    for channels, blocks in ((64, 3), (128, 4), (256, 14), (512, 3)):
        for block in range(blocks):
            numbers += 2 * before * side**2  # into the block and its first convolution
            numbers += 3 * channels * side**2  # into the second normalisation, PReLU and the second convolution
            side = side // 2 if block == 0 else side
            numbers += channels * side**2 * (2 if block == 0 else 1)  # into the last normalisation, and the shortcut's
            before = channels
    numbers += 2 * 512 * 7**2 + 512  # into the trunk's last normalisation, the linear layer and the embedding's
    assert scaling.backbone().kept == 2 * numbers == 35_400_192


def _steps(head: str, identities: int) -> float:
    """Seconds of one image, written out, at 20 and 4 TFLOP/s and 10 GB/s of weights."""
    share = 0.1 if head == "sampled" else 1.0
    extra = 4 * 512 * identities / 128 / 10e9 if head == "replicated" else 0.0
    return scaling.backbone().flop / 20e12 + 6 * 512 * share * identities / 4e12 + extra


def test_the_fit_finds_the_rates_that_paces_were_made_with(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [replace(one, pace=8 / _steps(one.head, one.identities)) for one in _rates.FITTED]
    monkeypatch.setattr(_rates, "FITTED", made)
    found = _rates.fitted_rates.__wrapped__()
    assert (found.backbone, found.head, found.replicated) == pytest.approx((20e12, 4e12, 10e9))


def test_the_fit_finds_the_memory_that_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def bytes_of(one: _rates.Published) -> float:
        share = 0.1 if one.head == "sampled" else 1.0
        copies = 3 + 2 if one.head == "replicated" else (2 + share) / 8
        return 5e9 + 7 * 4 * 128 * share * one.identities + copies * 4 * 512 * one.identities

    monkeypatch.setattr(_rates, "FITTED", [replace(one, memory=bytes_of(one)) for one in _rates.FITTED])
    found = _rates.fitted_memory.__wrapped__()
    assert (found.fixed, found.arrays, found.copies) == pytest.approx((5e9, 7, 2))


def test_the_fit_is_near_what_is_published() -> None:
    assert len(_rates.FITTED) == 5 + 8 + 11
    assert all(abs(_rates.pace_error(one)) < 0.12 and abs(_rates.memory_error(one)) < 0.05 for one in _rates.FITTED)
    million = {one.head: one for one in _rates.FITTED if one.identities == 1_000_000}
    assert {head: one.pace for head, one in million.items()} == {"replicated": 2090, "sharded": 3449, "sampled": 4803}
    assert all(abs(_rates.pace_error(one)) < 0.03 for one in million.values())


def test_eight_gpus_add_no_traffic_to_the_published_paces() -> None:
    rates = scaling.expected_rates(scaling.V100)
    assert rates == scaling.fitted_rates()
    for plan in (plan for plan in scaling.PLANS if plan.gpus <= 8):
        assert plan.network_seconds() == 0
    for plan in (plan for plan in scaling.PLANS if plan.gpus == 64):
        inside = replace(plan, gpus=8)
        beyond = plan.traffic() / 25e9 - inside.traffic() / 300e9
        assert plan.seconds() - inside.seconds() == pytest.approx(beyond)


def test_what_the_page_says_of_replication() -> None:
    paces = {plan.head: plan.pace() for plan in scaling.PLANS if plan.gpus == 8}
    assert f"{1 - 2090 / 3449:.0%}" == "39%"
    assert f"{1 - paces['replicated'] / paces['sharded']:.0%}" == "41%"
    apart = next(plan for plan in scaling.PLANS if plan.gpus == 64 and plan.head == "replicated")
    assert apart.network_seconds() > apart.seconds(whole_weights=False) - apart.network_seconds()
    assert 4.5 < _rates.fitted_memory().copies < 5
    assert 7.5 < _rates.fitted_memory().arrays < 8.5
    of_128_images = apart.memory_of_backbone()
    assert _rates.fitted_memory().fixed == pytest.approx(of_128_images, rel=0.05)


def test_every_plan_fits_the_memory_that_it_assumes() -> None:
    for plan in scaling.PLANS:
        assert plan.memory_of_head() + plan.one_array() + plan.memory_of_backbone() < scaling.A100.memory


def test_a_document_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for plan"):
        scaling.with_blocks("nothing here", {"plan": "a table"})
    with pytest.raises(ValueError, match="no place for plan"):
        scaling.with_blocks("<!-- plan -->\n<!-- end of plan -->\n" * 2, {"plan": "a table"})


@pytest.mark.parametrize("content", [b"[]", b"{}", json.dumps({"format": 2, "parts": []}).encode(), b"{"])
def test_what_is_no_report_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a report of"):
        scaling.read_report(path)
