"""An experiment: what a checked file asks for, and the cells that it expands into."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from json import dumps
from pathlib import Path
from typing import TypeVar

from benchmark.cell import Cell, Resources
from benchmark.errors import InputError
from benchmark.spec.dataset_rows import DatasetRow
from benchmark.spec.loss_rows import LossRow
from benchmark.spec.tuned import Budget, TunedFile
from benchmark.spec.yaml_file import SHIPPED
from datasets._names import did_you_mean, listed

Row = TypeVar("Row", DatasetRow, LossRow)


@dataclass(frozen=True)
class Experiment:
    name: str
    description: str
    baseline: str  # the label of the loss that paired differences are against
    path: Path
    datasets: tuple[DatasetRow, ...]
    losses: tuple[LossRow, ...]
    seeds: tuple[int, ...]
    tune: Budget = field(default_factory=Budget)
    tuned: TunedFile | None = None  # where the tuned rows come from
    plain: "Experiment | None" = None  # as it was without them
    resources: Resources = field(default=Resources())
    overrides: tuple[str, ...] = ()  # KEY=VALUE of the command line that the file does not have

    @property
    def called(self) -> str:
        """What the command line takes for it: a shipped one's name, another's path."""
        return self.name if self.path.is_relative_to(SHIPPED) else str(self.path)

    @property
    def without_tuned(self) -> "Experiment":
        return self.plain or self

    @property
    def baselines(self) -> dict[str, str]:
        """For rows that are compared with another one than the baseline: a tuned row with the tuned baseline, and that
        with the baseline itself."""
        ours = self.without_tuned.baseline
        tuned = next((row.label for row in self.losses if row.of == ours), None)
        if tuned is None or tuned == self.baseline:
            return {}
        return {row.label: tuned for row in self.losses if row.tuned is not None and row.label != tuned}

    def cells(
        self,
        losses: Iterable[str] | None = None,
        datasets: Iterable[str] | None = None,
        seeds: Iterable[int] | None = None,
    ) -> list[Cell]:
        """The cells, each once a row; the filters take names or labels, and ValueError says which is unknown.

        Seed after seed, so that an interrupted run has compared everything on its first seeds and no
        dataset comes last as a whole.
        """
        chosen_losses = _chosen(self.losses, losses, f"loss in {self.name}")
        chosen_datasets = _chosen(self.datasets, datasets, f"dataset in {self.name}")
        return list(_expand(chosen_datasets, chosen_losses, self._chosen_seeds(seeds), self.resources))

    def _chosen_seeds(self, wanted: Iterable[int] | None) -> tuple[int, ...]:
        if wanted is None:
            return self.seeds
        wanted = list(wanted)
        for seed in wanted:
            if seed not in self.seeds:
                raise InputError(f"there is no seed {seed} in {self.name} (there are {listed(self.seeds)})")
        return tuple(seed for seed in self.seeds if seed in wanted)


def _chosen(rows: Sequence[Row], wanted: Iterable[str] | None, noun: str) -> list[Row]:
    if wanted is None:
        return list(rows)
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    known = list(dict.fromkeys([*(row.name for row in rows), *(row.label for row in rows)]))
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"there is no {noun} named {name!r}{hint} (there are {listed(known)})")
    return [row for row in rows if row.name in wanted or row.label in wanted]


def _expand(
    datasets: list[DatasetRow], losses: list[LossRow], seeds: tuple[int, ...], resources: Resources
) -> Iterator[Cell]:
    data_keys = [dumps(row.dataset, sort_keys=True) for row in datasets]
    loss_keys = [dumps([row.name, row.hyper, row.tuned is not None], sort_keys=True) for row in losses]
    seen = set()
    for seed, (data_key, data) in product(seeds, zip(data_keys, datasets, strict=True)):
        for backbone, dim, recipe in product(data.backbones, data.dims, data.recipes):
            for loss_key, loss in zip(loss_keys, losses, strict=True):
                if data.losses is not None and (loss.of or loss.label) not in data.losses:
                    continue
                tuned = None if loss.tuned is None else loss.tuned.get(data.label)
                if loss.tuned is not None and tuned is None:
                    continue
                key = (seed, data_key, backbone, dim, recipe, loss_key)
                if key in seen:
                    continue
                seen.add(key)
                yield Cell(
                    dataset=data.dataset,
                    backbone=backbone,
                    dim=dim,
                    recipe=recipe if tuned is None else replace(recipe, lr=tuned.lr),
                    loss=loss.name,
                    hyper=loss.hyper if tuned is None else tuned.hyper,
                    seed=seed,
                    label=loss.label,
                    dataset_label=data.label,
                    access=data.access,
                    tuned=tuned is not None,
                    resources=resources,
                )
