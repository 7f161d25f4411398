"""Runs one job: trains, embeds, scores, and packs the results into files."""

import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

import datasets
from benchmark import metrics, scoring
from benchmark.cell import PROTOCOL_VERSION
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.engine.base import Packed
from benchmark.engine.plan import Job
from benchmark.engine.status import StatusFile
from benchmark.errors import InputError
from benchmark.training import Trained, embed, train
from benchmark.training.history import as_csv
from benchmark.version import commit
from losses import Head

LOGITS_AT_ONCE = 2**22  # samples × classes


def run_job(
    job: Job,
    data: datasets.Data,
    device: str,
    checkpoint: Path,
    keep_models: bool,
    loaders: int = 0,
    status: Path | None = None,
) -> Packed:
    """Trains the job's cell on loaded data."""
    if data.digest != job.dataset_digest:
        raise InputError(f"{job.cell.dataset_label} has changed since the run began: start the run again")
    if (loss_digest(job.cell.loss), backbone_digest(job.cell.backbone)) != (job.loss_digest, job.backbone_digest):
        raise InputError(
            f"the code of {job.cell.loss} or {job.cell.backbone} is not what the run began with: start the run again"
        )
    begun = time.time()
    watch = None if status is None else StatusFile(status)
    trained = train(job.cell, data, device=device, checkpoint=checkpoint, loaders=loaders, on_step=watch)
    diverged_at, reason = trained.diverged_at, trained.diverged_reason
    kept = head_arrays(trained.head)
    scores = scoring.Scores()
    if diverged_at is None:
        flip = job.cell.recipe.flip_test
        embedded = embeddings_of(trained, data, device, loaders, flip)
        if all(bool(one.isfinite().all()) for one in [kept["weight"], *embedded.values()]):
            kept |= evaluation_arrays(trained.head, data, embedded, flip)
            scores = scoring.score(as_numpy(kept))
        else:
            diverged_at, reason = int(trained.history[-1]["step"]), "the trained net's embeddings are not finite"
    files = {
        **scores.files(diverged_at, reason),
        "history.csv": as_csv(trained.history),
        "embeddings.safetensors": safetensors.torch.save({name: kept[name].contiguous() for name in sorted(kept)}),
    }
    if keep_models:
        files["model.safetensors"] = safetensors.torch.save(model_state(trained))
    return Packed(files, description(job, data, device, begun))


def head_arrays(head: Head) -> dict[str, Tensor]:
    """Class weights, bias and scalars."""
    kept: dict[str, Tensor] = {"weight": head.weight.detach().cpu()}
    if isinstance(bias := getattr(head, "bias", None), nn.Parameter):
        kept["bias"] = bias.detach().cpu()
    for name in ("s", "m"):
        value = getattr(head, name, None)
        if isinstance(value, int | float) or (isinstance(value, Tensor) and value.ndim == 0):
            kept[f"head/{name}"] = torch.tensor(float(value))
    kept["posterior"] = torch.tensor(int(head.is_cross_entropy))
    return kept


def embeddings_of(
    trained: Trained, data: datasets.Data, device: str, loaders: int = 0, flip: bool = False
) -> dict[str, Tensor]:
    """Of the training images as they are; of the others, with `flip`, added to their mirror image's."""
    splits = {"train": data.train, **evaluated(data)}
    return {
        name: embed(trained.backbone, split.images, device, loaders=loaders, flip=flip and name != "train")
        for name, split in splits.items()
    }


def evaluated(data: datasets.Data) -> dict[str, datasets.Split]:
    """The splits to score: validation and every test set."""
    return {**data.tests, **({"val": data.val} if len(data.val) else {})}


def evaluation_arrays(
    head: Head, data: datasets.Data, embedded: Mapping[str, Tensor], flip: bool = False
) -> dict[str, Tensor]:
    """What scoring needs beside the head: centres of the training classes, embeddings and pairs of the splits."""
    centres = metrics.class_centres(embedded["train"].numpy(), data.train.labels.numpy(), data.num_classes)
    kept = {
        "train/centres": torch.from_numpy(np.asarray(centres.centres)),
        "train/counts": torch.from_numpy(np.asarray(centres.counts)),
        "train/mean_angles": torch.from_numpy(np.asarray(centres.mean_angles)),
    }
    if head.is_cross_entropy:
        kept["train/mean_posteriors"] = training_posteriors(head, data, embedded["train"])
    for name, split in evaluated(data).items():
        kept[f"{name}/embeddings"] = embedded[name]
        kept[f"{name}/labels"] = split.labels
        kept[f"{name}/pairs"] = split.pairs.to(torch.int32)
        kept[f"{name}/same"] = split.same
        kept[f"{name}/fold"] = split.fold.to(torch.int16)
        if split.clusters is not None:
            kept[f"{name}/clusters"] = split.clusters
        if data.protocol == "closed":
            with torch.no_grad():  # of the mean of image and mirror image: the head was trained on single ones
                one = embedded[name] / 2 if flip else embedded[name]
                kept[f"{name}/logits"] = head.eval().logits(one.to(head.weight.device)).cpu()
    return kept | {f"{name}/seen": seen for name, seen in data.seen_in_training().items()}


@torch.no_grad()
def training_posteriors(head: Head, data: datasets.Data, embeddings: Tensor) -> Tensor:
    """For each class the mean of the posterior of this class over its training images; 0 without images."""
    labels, posteriors = data.train.labels, torch.empty(len(embeddings), dtype=torch.float64)
    for part in torch.split(torch.arange(len(embeddings)), max(LOGITS_AT_ONCE // data.num_classes, 1)):
        logits = head.eval().logits(embeddings[part].to(head.weight.device)).double()
        own = labels[part, None].to(logits.device)
        posteriors[part] = logits.softmax(dim=1).gather(1, own)[:, 0].cpu()
    totals = torch.bincount(labels, weights=posteriors, minlength=data.num_classes)
    return totals / data.class_counts.clamp(min=1)


def as_numpy(arrays: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in arrays.items()}


def model_state(trained: Trained) -> dict[str, Tensor]:
    """The trained net as plain tensors, `backbone.…` and `head.…`."""
    parts = {"backbone": trained.backbone, "head": trained.head}
    return {
        f"{part}.{name}": value.detach().cpu().contiguous()
        for part, module in parts.items()
        for name, value in module.state_dict().items()
    }


def description(job: Job, data: datasets.Data, device: str, begun: float) -> dict[str, Any]:
    """The cell, the parts of its id, and its provenance. Only the provenance differs between equal runs."""
    return {
        "cell": job.cell.description(),
        "labels": {"loss": job.cell.label, "dataset": job.cell.dataset_label},
        "protocol": PROTOCOL_VERSION,
        "dataset_digest": job.dataset_digest,
        "test_sets": {
            name: {"identities": split.identities, "sha256": data.files.get(name)} for name, split in data.tests.items()
        },
        "notes": list(data.notes),
        "loss_digest": job.loss_digest,
        "backbone_digest": job.backbone_digest,
        "provenance": {
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": machine(device),
            "device": device if device == "cpu" else torch.cuda.get_device_name(device),
            "commit": commit(),
            "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begun)),
            "seconds": round(time.time() - begun, 3),
        },
    }


def machine(device: str) -> str:
    """The kind of machine, with the CPU instructions that torch uses, because others round differently."""
    kind = f"{platform.system()} {platform.machine()}"
    return f"{kind} {torch.backends.cpu.get_cpu_capability()}" if device == "cpu" else kind
