"""A million identities and ten million images: memory, traffic and time from stated assumptions, for docs/scaling.md.

    python -m perf.scaling                      # prints the tables that are in the document
    python -m perf.scaling --write              # puts them there

The rates are fitted to published paces (perf/_rates.py). The last table compares what was measured here at the largest
size with what the smaller ones foretell; it is made of results/reference/perf/report.json, a report that `make perf`
wrote.
"""

import argparse
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmark.tables import Column, Row, Table, Value, as_markdown
from datasets._files import write_atomically
from perf._growth import growth
from perf._process import ROOT
from perf._rates import (
    BATCH,
    DIM,
    FP32,
    HEADS,
    IMAGE_SHAPE,
    PUBLISHED_GPUS,
    SAMPLED,
    Rates,
    backbone,
    fitted_memory,
    fitted_rates,
    head_flop,
    published_table,
    stated_table,
    weights,
)
from perf._tables import number

DOCUMENT, REFERENCE = ROOT / "docs" / "scaling.md", ROOT / "results" / "reference" / "perf" / "report.json"
LARGEST_REPORT = 16 * 2**20  # bytes
IDENTITIES, IMAGES, EPOCHS = 1_000_000, 10_000_000, 20
MACHINE = PUBLISHED_GPUS  # GPUs of a machine
NETWORK = 25e9  # bytes a second into and out of a machine: one port of 200 Gb/s


@dataclass(frozen=True)
class Gpu:
    """The numbers of a data sheet."""

    half: float  # FLOP/s in half precision, dense
    memory: float  # bytes
    bandwidth: float  # bytes a second, to that memory
    link: float  # bytes a second to the other GPUs of the machine, one way


V100 = Gpu(125e12, 32e9, 900e9, 150e9)
A100 = Gpu(312e12, 80e9, 2_039e9, 300e9)


def expected_rates(gpu: Gpu) -> Rates:
    """The backbone's share of the peak stays; the head is as fast as memory is; replication the slower of its two."""
    known, bandwidth, link = fitted_rates(), gpu.bandwidth / V100.bandwidth, gpu.link / V100.link
    return Rates(known.backbone * gpu.half / V100.half, known.head * bandwidth, known.replicated * min(bandwidth, link))


@dataclass(frozen=True)
class Plan:
    """One way to train, on so many GPUs."""

    setup: str
    head: str  # replicated, sharded or sampled
    gpus: int

    @property
    def shards(self) -> int:
        return 1 if self.head == "replicated" else self.gpus

    @property
    def share(self) -> float:
        return SAMPLED if self.head == "sampled" else 1.0

    @property
    def embeddings(self) -> int:
        """That a GPU's part of the head sees in a step."""
        return BATCH * self.shards

    def memory_of_head(self) -> float:
        """Weights and momentum of all classes of the shard, gradient of those that the step sees."""
        return weights(IDENTITIES) / self.shards * (2 + self.share)

    def one_array(self) -> float:
        """Bytes of one B×C array of the shard: what plain code keeps several of, and a fused one none."""
        return FP32 * self.embeddings * IDENTITIES / self.shards * self.share

    def memory_of_backbone(self) -> float:
        return 3 * FP32 * backbone().parameters + BATCH * backbone().kept

    def traffic(self) -> float:
        """Bytes that a GPU sends in a step."""
        others = (self.gpus - 1) / self.gpus
        gradients = backbone().parameters + (DIM * IDENTITIES if self.head == "replicated" else 0)
        exchanged = 0 if self.head == "replicated" else self.embeddings * (2 * DIM + 2 * 3)
        return FP32 * others * (2 * gradients + exchanged)

    def network_seconds(self) -> float:
        """Of a step's traffic between machines, beyond that within a machine, which the published paces contain."""
        if self.gpus <= MACHINE:
            return 0.0
        return self.traffic() / NETWORK - replace(self, gpus=MACHINE).traffic() / A100.link

    def seconds(self, whole_weights: bool = True) -> float:
        """Of a step; without what it costs that one GPU has all weights, if so asked."""
        whole = self.share * IDENTITIES if self.shards == 1 and whole_weights else 0.0
        return BATCH * expected_rates(A100).seconds(self.share * IDENTITIES, whole) + self.network_seconds()

    def pace(self) -> float:
        return self.gpus * BATCH / self.seconds()


SETUPS = (("one GPU", 1), ("eight GPUs", 8), ("8 × 8 GPUs", 64))
PLANS = [Plan(setup, head, gpus) for setup, gpus in SETUPS for head in HEADS if gpus > 1 or head != "sharded"]


def plan_table() -> Table:
    columns = [
        "head", "head GB", "a B×C array GB", "backbone GB", "sent GB/step", "step ms", "images/s", "hours", "read GB/s",
    ]  # fmt: skip
    rows = [Row(tuple(Value(text) for text in _texts(plan))) for plan in PLANS]
    free = " and ".join(f"{BATCH / plan.seconds(whole_weights=False):,.0f}" for plan in PLANS if plan.gpus == 1)
    return Table(
        "plan",
        f"{IDENTITIES:,} identities, {IMAGES:,} images, {EPOCHS} epochs, iresnet50, {BATCH} images a GPU",
        (Column("setup", numeric=False), *(Column(name, numeric=name != "head") for name in columns)),
        tuple(rows),
        "Memory and traffic are for each GPU; images/s, hours and reading are for all of them together. "
        f"Were it free to normalise and update all weights, one GPU would reach {free} images/s.",
    )


def _texts(plan: Plan) -> list[str]:
    image = IMAGE_SHAPE[0] * IMAGE_SHAPE[1] * IMAGE_SHAPE[2]
    return [
        plan.setup,
        plan.head,
        f"{plan.memory_of_head() / 1e9:.2f}",
        f"{plan.one_array() / 1e9:.2f}",
        f"{plan.memory_of_backbone() / 1e9:.1f}",
        f"{plan.traffic() / 1e9:.2f}",
        f"{1e3 * plan.seconds():.0f}",
        f"{plan.pace():,.0f}",
        f"{EPOCHS * IMAGES / plan.pace() / 3_600:.1f}",
        f"{plan.pace() * image / 1e9:.2f}",
    ]


def quantities_table() -> Table:
    """The numbers that the plan is made of."""
    net, known, memory, expected = backbone(), fitted_rates(), fitted_memory(), expected_rates(A100)
    rows = {
        "iresnet50, parameters": f"{net.parameters / 1e6:.1f} M",
        "iresnet50, forward and backward of an image": f"{net.flop / 1e9:.1f} GFLOP",
        "iresnet50, kept for the backward pass of an image, bf16": f"{net.kept / 1e6:.1f} MB",
        "head, the three products for an image, all classes": f"{head_flop(IDENTITIES) / 1e9:.2f} GFLOP",
        "class weights": f"{weights(IDENTITIES) / 1e9:.2f} GB",
        "images as uint8": f"{IMAGES * 3 * 112 * 112 / 1e9:,.0f} GB",
        "V100, backbone, fitted": f"{known.backbone / 1e12:.1f} TFLOP/s, {known.backbone / V100.half:.0%} of peak",
        "V100, head, fitted": f"{known.head / 1e12:.1f} TFLOP/s",
        "V100, replicated class weights, fitted": f"{known.replicated / 1e9:.1f} GB/s",
        "V100, memory that does not grow with classes, fitted": f"{memory.fixed / 1e9:.1f} GB",
        "V100, B×C arrays in memory, fitted": f"{memory.arrays:.1f}",
        "V100, further copies of replicated weights, fitted": f"{memory.copies:.1f}",
        "A100, backbone at the same share of peak": f"{expected.backbone / 1e12:.1f} TFLOP/s",
        "A100, head at the ratio of memory bandwidths": f"{expected.head / 1e12:.1f} TFLOP/s",
        "A100, replicated class weights at the ratio of links": f"{expected.replicated / 1e9:.1f} GB/s",
    }
    filled = tuple(Row((Value(name), Value(value))) for name, value in rows.items())
    return Table("quantities", "What the plan is made of", (Column("quantity", numeric=False), Column("")), filled)


def predicted_table(report: Mapping[str, Any]) -> Table:
    """Each growth fitted without its largest size, and the prediction of that fit for the largest."""
    rows = []
    for curve in (one for part in report["parts"] for one in part["curves"] if one["growth"]):
        x, y = curve["x"], curve["y"]
        whole = growth(x, y)
        told = growth(x[:-1], y[:-1]).at(x[-1]) if len(x) > 3 else None
        rows.append([
            curve["what"], curve["size"], f"{whole.exponent:.2f} ({whole.low:.2f} … {whole.high:.2f})",
            f"{curve['expected']:g}", number(x[-1]), number(y[-1]), "–" if told is None else number(told),
        ])  # fmt: skip
    columns = ["exponent (95 %)", "on paper", "largest size", "measured s", "predicted s"]
    return Table(
        "growths",
        "Growth measured here",
        (Column("what", numeric=False), Column("with", numeric=False), *(Column(name) for name in columns)),
        tuple(Row(tuple(Value(text) for text in row)) for row in rows),
    )


def read_report(path: Path) -> dict[str, Any]:
    """A report as `make perf` writes it."""
    if path.stat().st_size > LARGEST_REPORT:
        raise ValueError(f"{path} is larger than {LARGEST_REPORT >> 20} MB; expected a report that `make perf` wrote")
    try:
        content = json.loads(path.read_bytes())
    except ValueError as problem:
        raise ValueError(f"{path} is not a report of `make perf`: {problem}") from None
    if not isinstance(content, dict) or content.get("format") != 1 or not isinstance(content.get("parts"), list):
        raise ValueError(f"{path} is not a report of `make perf`; expected an object with format 1 and parts")
    return content


def blocks(report: Mapping[str, Any]) -> dict[str, str]:
    """The document's tables by name."""
    tables = (published_table(), stated_table(), quantities_table(), plan_table(), predicted_table(report))
    return {table.name: as_markdown(table) for table in tables}


def with_blocks(document: str, found: Mapping[str, str]) -> str:
    """The document with its tables replaced; each stands between two comments that name it."""
    for name, text in found.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        if len(between.findall(document)) != 1:
            raise ValueError(f"the document has no place for {name}: expected <!-- {name} --> … <!-- end of {name} -->")
        document = between.sub(lambda match, text=text: f"{match[1]}{text}{match[2]}", document)  # type: ignore[misc]
    return document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scaling.md")
    parser.add_argument("--report", type=Path, default=REFERENCE, help="the report that the growths are taken from")
    options = parser.parse_args()
    found = blocks(read_report(options.report))
    print("\n".join(found.values()))
    if options.write:
        write_atomically(DOCUMENT, with_blocks(DOCUMENT.read_text(), found).encode())


if __name__ == "__main__":
    main()
