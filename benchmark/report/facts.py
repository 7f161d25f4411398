"""Facts of the report: its datasets, how backbones were trained on them, and versions and machines."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmark.cell import PROTOCOL_VERSION
from benchmark.pages import Facts
from benchmark.provenance import provenance
from benchmark.recipe import whole
from benchmark.results import ExperimentResults
from benchmark.spec import Experiment
from benchmark.spec.values import with_settings
from benchmark.store import Run
from benchmark.text import counted, short

WITHOUT_MOMENTUM = ("adamw",)  # optimisers that ignore the recipe's momentum
FIXED = {"pixel_mean": "pixel mean", "pixel_std": "pixel deviation"}  # measured unless given
LARGEST_FILE = 100_000  # characters of an experiment file that are shown
IDENTITIES = {
    "joined": "not given; images are joined that are equal or form a pair of one identity",
    "unknown": "unknown; intervals are by pairs",
}
PROTOCOLS = {
    "closed": "closed: the test classes are the training classes",
    "open": "open: no test class was seen in training",
}
SEEN = "open, but {seen:,} of {people:,} test identities were seen in training; figures without them stand beside"


def runs_of(collected: ExperimentResults, dataset: str) -> list[Run]:
    """The runs whose dataset has this name in the tables."""
    return [run for run, name in zip(collected.runs, collected.table["dataset"], strict=True) if name == dataset]


def number_of_classes(runs: Sequence[Run]) -> int:
    """The number of training classes; 0 if no run stored its class weights."""
    shapes = [run.shapes().get("weight") for run in runs[:1]]
    return shapes[0][0] if shapes and shapes[0] else 0


def dataset_facts(collected: ExperimentResults, dataset: str) -> Facts:
    """Label → value; the sizes come from a run that did not diverge."""
    runs = runs_of(collected, dataset)
    measured = [run for run in runs if run.diverged_at is None]
    cell = runs[0].cell["cell"]
    facts = [("Data", _data(cell["dataset"]))]
    facts += _sizes(measured[0]) if measured else [("Training classes", f"{number_of_classes(runs):,}")]
    facts += [
        ("Backbone", f"{cell['backbone']}, embeddings of {cell['dim']} dimensions"),
        ("Recipe", _recipe(collected.experiment, runs)),
        ("Seeds", ", ".join(str(seed) for seed in sorted({run.cell["cell"]["seed"] for run in runs}))),
        ("Data digest", ", ".join(sorted({run.cell["dataset_digest"][:16] for run in runs}))),
    ]
    return facts


def scale_and_margin(runs: Sequence[Run]) -> dict[str, tuple[list[float], list[float]]]:
    """By loss: s and m at the end of each run, if they are single numbers."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for run in runs:
        kept = found.setdefault(run.cell["labels"]["loss"], ([], []))
        arrays = run.arrays("head/s", "head/m")
        for values, name in zip(kept, ("head/s", "head/m"), strict=True):
            values += [float(arrays[name])] if name in arrays else []
    return found


def _recipe(experiment: Experiment, runs: Sequence[Run]) -> str:
    """The experiment's recipe; the learning rate of a tuned row is not part of it."""
    own = [run for run in runs if not run.cell["labels"].get("tuned")]
    recipe = (own or runs)[0].cell["cell"]["recipe"]
    if len(own) == len(runs):
        return recipe_in_words(recipe, f"learning rate {recipe['lr']:g}")
    if own:
        return recipe_in_words(recipe, f"learning rate {recipe['lr']:g} (each tuned row has its own)")
    rates = _rates_before_tuning(experiment, runs[0])
    before = f" ({' or '.join(f'{rate:g}' for rate in rates)} before tuning)" if rates else ""
    return recipe_in_words(recipe, f"learning rate tuned for each loss{before}")


def _rates_before_tuning(experiment: Experiment, run: Run) -> list[float]:
    """From the recipes that the experiment file gives this dataset."""
    label = run.cell["labels"]["dataset"]
    return sorted({recipe.lr for row in experiment.datasets if row.label == label for recipe in row.recipes})


def recipe_in_words(recipe: Mapping[str, Any], rate: str) -> str:
    """`adamw, learning rate 0.01, onecycle schedule, …`; settings that have no effect are left out."""
    parts = [recipe["optimiser"], rate, f"weight decay {recipe['weight_decay']:g}"]
    parts += [f"momentum {recipe['momentum']:g}"] if recipe["optimiser"] not in WITHOUT_MOMENTUM else []
    parts.append(f"{recipe['schedule']} schedule")
    if recipe["schedule"] == "step":
        parts[-1] += f" at {', '.join(f'{100 * share:g}' for share in recipe['milestones'])} % of the run"
    parts += [f"warm-up over {100 * recipe['warmup']:g} % of the run"] if recipe["warmup"] else []
    parts.append(f"{recipe['epochs']} epochs with a batch size of {recipe['batch']}")
    parts.append("no augmentation" if recipe["augmentation"] == "none" else f"augmentation {recipe['augmentation']}")
    parts += [f"label smoothing {recipe['label_smoothing']:g}"] if recipe["label_smoothing"] else []
    return ", ".join([*parts, *_pixels_and_flip(whole(recipe))])


def _pixels_and_flip(recipe: Mapping[str, Any]) -> list[str]:
    """A text for each setting that is not the default."""
    fixed = [(words, recipe[key]) for key, words in FIXED.items() if recipe[key]]
    parts = [f"{words} {'/'.join(f'{value:g}' for value in values)} (of 0 to 1)" for words, values in fixed]
    parts += [f"channel order {recipe['channel_order']}"] if recipe["channel_order"] != "rgb" else []
    return parts + (["flip test"] if recipe["flip_test"] else [])


def _data(dataset: Mapping[str, Any]) -> str:
    """`glyphs classes=300 + longtail ratio=50, split seed 0`."""
    chain = [with_settings(dataset["name"], dataset["options"])]
    chain += [with_settings(name, given) for wrapper in dataset["wrappers"] for name, given in wrapper.items()]
    return f"{' + '.join(chain)}, split seed {dataset['seed']}"


def _sizes(run: Run) -> list[tuple[str, str]]:
    metrics, arrays = run.metrics, run.arrays("train/counts", "test/labels", "val/labels")
    counts, test, val = arrays["train/counts"], arrays["test/labels"], arrays.get("val/labels", np.empty(0))
    protocol = "closed" if "test/logits" in run.shapes() else "open"
    unknown, seen = "test/clusters" in run.shapes(), run.arrays("test/seen").get("test/seen")
    about = PROTOCOLS[protocol]
    if seen is not None:
        about = SEEN.format(seen=len(np.unique(test[seen])), people=len(np.unique(test)))
    identities = "classes" if protocol == "closed" else "identities"
    return [
        ("Protocol", about),
        ("Training", f"{int(counts.sum()):,} images of {len(counts):,} classes"),
        ("Validation", f"{len(val):,} images of {len(np.unique(val)):,} {identities}" if len(val) else "none"),
        ("Test", f"{len(test):,} images" + ("" if unknown else f" of {len(np.unique(test)):,} {identities}")),
        ("Test pairs", f"{metrics['test/n_same']:,} same, {metrics['test/n_different']:,} different"),
        *_of_test_set(run),
        *([("Notes", " ".join(f"{note}." for note in run.cell["notes"]))] if run.cell.get("notes") else []),
    ]


def _of_test_set(run: Run) -> list[tuple[str, str]]:
    """What is known of a test set beside its images: where its identities come from, and which file it is."""
    about = run.about_test_set
    found = [("Identities", IDENTITIES[about["identities"]])] if about.get("identities") in IDENTITIES else []
    return found + ([("Test file", f"SHA-256 {about['sha256']}")] if about.get("sha256") else [])


def background(collected: ExperimentResults) -> Facts:
    """Label → value; where runs differ, every value with the number of runs that have it."""
    experiment, runs = collected.experiment, collected.runs
    cells = collected.trained + len(collected.missing)
    trained = list({run.id: run for run in runs}.values())  # a row and its tuned one may share theirs
    return [
        ("Experiment", ": ".join(filter(None, (experiment.name, experiment.description)))),
        ("Runs", f"{collected.trained} of {cells} cells have a result; seeds {', '.join(map(str, experiment.seeds))}"),
        ("Baseline", experiment.baseline),
        ("Protocol", f"version {PROTOCOL_VERSION}"),
        *provenance(trained).items(),
    ]


def experiment_text(collected: ExperimentResults) -> str:
    """The experiment's file as it is now."""
    text = collected.experiment.path.read_text(encoding="utf-8", errors="replace")
    return text if len(text) <= LARGEST_FILE else f"{text[:LARGEST_FILE]}\n… ({len(text):,} characters in all)"


def overrides_in_words(experiment: Experiment) -> str:
    """What the command line changed in the experiment; empty without any."""
    if not experiment.overrides:
        return ""
    return f"Changed with --override: {', '.join(experiment.overrides)}. Runs without these changes are not shown."


def tuning_in_words(experiment: Experiment) -> str:
    """How the settings of tuned rows were chosen; empty without any."""
    tuned = experiment.tuned
    if tuned is None:
        return ""
    budget, made = tuned.budget, tuned.made
    others = any(row.tuned is None for row in experiment.losses)
    rows = "The settings of rows marked “(tuned)”" if others else "All settings"
    chosen = ", ".join(map(short, budget.learning_rates or ()))
    rates = f" Learning rates were chosen from {chosen}." if chosen else ""
    beside = " The other rows have the experiment's own settings." if others else ""
    before = sorted({one.date for one in tuned.earlier} - {made.date})
    partly = f" (in part on {', '.join(before)})" if before else ""
    return (
        f"{rows} were chosen on validation data, for each dataset separately. Every loss had the same budget: at most "
        f"{counted(budget.trials, 'trial')} with {counted(budget.seeds, 'seed')} each ({tuned.sampler}).{rates} "
        f"Pruning: {tuned.pruning}. The settings are in the file {tuned.path.name}, made on {made.date}{partly} with "
        f"the experiment {tuned.experiment} at commit {made.commit or 'unknown'}.{beside}"
    )
