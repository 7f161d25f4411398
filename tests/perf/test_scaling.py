import json
from pathlib import Path

import pytest

from perf import scaling

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
    assert sharded.traffic() - of_backbone == pytest.approx(7 / 8 * 8 * 128 * 4 * (2 * 512 + 3))
    assert replicated.traffic() - of_backbone == pytest.approx(2 * 7 / 8 * 4 * 512 * 1_000_000)


def test_the_rates_give_back_the_published_paces() -> None:
    rates, net = scaling.published_rates(), scaling.backbone()
    for share, pace in scaling.PUBLISHED_PACE.items():
        seconds = net.flop / rates.backbone + scaling.head_flop(3_000_000 * share) / rates.head
        assert 8 / seconds == pytest.approx(pace)
    assert 0 < rates.backbone < scaling.V100.half
    assert 0 < rates.head < scaling.V100.half


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
    with pytest.raises(ValueError, match="is no report that"):
        scaling.read_report(path)
