"""Each wrong thing gets one line: the file, the line, the key, what is allowed and the nearest name."""

from pathlib import Path

import pytest

import losses
from benchmark import spec
from benchmark.plugins import load_plugin
from losses import _registry

REST = "datasets: digits\nlosses: softmax\n"


def in_losses(entry: str) -> str:
    return f"datasets: digits\nlosses:\n  - softmax\n  - {entry}\n"


def in_datasets(entry: str) -> str:
    return f"losses: softmax\ndatasets:\n  - mnist\n  - {entry}\n"


def in_recipe(recipe: str) -> str:
    return f"{REST}recipe: {{{recipe}}}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (in_losses("arcfase"), "line 4, losses[1]: there is no loss 'arcfase'; did you mean 'arcface'? (there are"),
        (in_losses("arcfase: {m: 1}"), "line 4, losses.arcfase: there is no loss 'arcfase'; did you mean 'arcface'?"),
        (
            in_losses("arcface: {mm: 0.5}"),
            "line 4, losses.arcface.mm: arcface has no hyper-parameter 'mm'; it takes gradient, s, m, beyond; "
            "did you mean 'm'?",
        ),
        (in_losses("softmax: {s: 1}"), "line 4, losses.softmax.s: softmax has no hyper-parameter 's'; it takes none"),
        (
            in_losses("arcface: {m: 9}"),
            "line 4, losses.arcface.m: 9 is not allowed; m is a number with 0 ≤ value ≤ 1.5708",
        ),
        (in_losses("arcface: {s: [16, '16']}"), "line 4, losses.arcface.s[1]: '16' is not allowed; s is a number"),
        (in_losses("arcface: {m: true}"), "line 4, losses.arcface.m: True is not allowed; m is a number"),
        (in_losses("arcface: {m: []}"), "line 4, losses.arcface.m: should not be an empty list"),
        (in_losses("sphereface: {m: 2.5}"), "line 4, losses.sphereface.m: 2.5 is not allowed; m is an integer"),
        (
            in_losses("arcface: {beyond: liner}"),
            "line 4, losses.arcface.beyond: 'liner' is not allowed; beyond is one of",
        ),
        (in_losses("arcface: {beyond: liner}"), "did you mean 'linear'?"),
        (
            in_losses("arcface: 0.5"),
            "line 4, losses.arcface: should be a mapping of settings, such as {key: value}, not 0.5",
        ),
        (
            in_losses("{arcface: {}, cosface: {}}"),
            "line 4, losses[1]: names arcface and cosface; give each loss its own entry",
        ),
        (
            in_losses("arcface: {}\n    lable: x"),
            "line 5, losses.lable: there is no key 'lable'; beside the name there may be label; did you mean 'label'?",
        ),
        (in_losses("label: x"), "line 4, losses[1]: names no loss; there are"),
        (in_losses("{arcface: {}, label: 3}"), "line 4, losses.label: should be a text, not 3"),
        (
            in_losses('{arcface: {}, label: "a\\nb"}'),
            "losses.label: should be a printable text on one line, not 'a\\nb'",
        ),
        (
            in_losses("{arcface: {}, label: softmax}"),
            "line 4, losses[1]: two settings of losses have the label 'softmax'",
        ),
        (in_losses("all: {s: 3}"), "line 4, losses[1]: 'all' takes no settings and no label"),
        (in_losses("3"), "line 4, losses[1]: should be the name of a loss, alone or with its settings, not 3"),
        ("datasets: digits\nlosses:\n", "line 2, losses: should name at least one loss; there are"),
        ("datasets: digits\nlosses: []\n", "line 2, losses: should name at least one loss"),
        (in_datasets("digit"), "line 4, datasets[1]: there is no dataset 'digit'; did you mean 'digits'?"),
        (
            in_datasets("glyphs: {clases: 9}"),
            "line 4, datasets.glyphs.clases: glyphs has no option 'clases'; it takes classes, per_class, "
            "eval_per_class, size; did you mean 'classes'?",
        ),
        (
            in_datasets("glyphs: {label: x}"),
            "line 4, datasets.glyphs.label: glyphs has no option 'label'; it takes classes, per_class, "
            "eval_per_class, size; 'label' belongs beside 'glyphs', not below it",
        ),
        (in_datasets("digits: {name: x}"), "line 4, datasets.digits.name: digits has no option 'name'"),
        (in_datasets("digits: {wrappers: x}"), "line 4, datasets.digits.wrappers: digits has no option 'wrappers'"),
        (
            in_datasets("glyphs: {classes: 1}"),
            "datasets.glyphs.classes: 1 is not allowed; classes is a whole number from 2",
        ),
        (in_datasets("omniglot: {protocol: opn}"), "protocol is one of 'open', 'closed'; did you mean 'open'?"),
        (in_datasets("glyphs: {classes: [2, 3]}"), "line 4, datasets.glyphs.classes: [2, 3] is not allowed"),
        (
            in_datasets("digits:\n    wrappers:\n    - longtale: {ratio: 9}"),
            "line 6, datasets.wrappers.longtale: there is no wrapper 'longtale'; did you mean 'longtail'? (there are",
        ),
        (
            in_datasets("digits:\n    wrappers:\n    - longtail:\n        ratoi: 9"),
            "line 7, datasets.wrappers.longtail.ratoi: longtail has no option 'ratoi'; it takes ratio, at_least; "
            "did you mean 'ratio'?",
        ),
        (in_datasets("{digits: {}, wrappers: 7}"), "line 4, datasets.wrappers: should be the name of a wrapper"),
        (
            in_datasets("{digits: {}, split_seed: -1}"),
            "line 4, datasets.split_seed: should be greater than or equal to 0",
        ),
        (in_datasets("{digits: {}, recipe: {lr: 0}}"), "line 4, datasets.recipe.lr: should be greater than 0, not 0"),
        (in_datasets("{digits: {}, backbone: lenet}"), "datasets.backbone: there is no backbone 'lenet'; did you mean"),
        (
            in_datasets("{digits: {}, losses: [softmax, softmx]}"),
            "line 4, datasets.losses[1]: there is no loss 'softmx' in this experiment; did you mean 'softmax'? (there",
        ),
        (in_datasets("{digits: {}, losses: []}"), "line 4, datasets.losses: should not be empty"),
        (in_datasets("{digits: {}, losses: 3}"), "line 4, datasets.losses: should be a text, not 3"),
        (
            in_datasets("{digits: {}, label: mnist}"),
            "line 4, datasets[1]: two different datasets have the label 'mnist'",
        ),
        ("losses: softmax\n", "mine.yaml, datasets: is missing"),
        (
            f"{REST}backbone: convnt\n",
            "line 3, backbone: there is no backbone 'convnt'; did you mean 'convnet'? (there",
        ),
        (f"{REST}backbone: {{convnet: {{dim: 3}}}}\n", "line 3, backbone: should be a text, not {'convnet'"),
        (f"{REST}dim: [8, 0]\n", "line 3, dim[1]: should be greater than or equal to 1, not 0"),
        (f"{REST}dim: 1.5\n", "line 3, dim: should be a whole number, not 1.5"),
        (f"{REST}dim: []\n", "line 3, dim: should not be empty"),
        (f"{REST}seeds: 0\n", "line 3, seeds: should be a count from 1 to 10000, or a list of seeds, not 0"),
        (f"{REST}seeds:\n- 0\n- -1\n", "line 5, seeds[1]: should be greater than or equal to 0, not -1"),
        (f"{REST}sedes:\n\n  - 1\n", "line 3, sedes: there is no key 'sedes'"),
        (f"{REST}seeds: true\n", "line 3, seeds: should be a count of seeds or a list of them, not True"),
        (f"{REST}seed: 3\n", "line 3, seed: there is no key 'seed'; the keys are name, description, baseline, seeds"),
        (f"{REST}seed: 3\n", "did you mean 'seeds'?"),
        (f"{REST}baseline: softmx\n", "line 3, baseline: no row is named 'softmx'; did you mean 'softmax'?"),
        (
            "datasets: digits\nlosses: {arcface: {m: [0.1, 0.2]}}\nbaseline: arcface\n",
            "line 3, baseline: 'arcface' has 2 rows; name one (there are arcface m=0.1, arcface m=0.2)",
        ),
        (
            f"{REST}hyper: {{arcfac: {{}}}}\n",
            "line 3, hyper.arcfac: there is no loss 'arcfac'; did you mean 'arcface'?",
        ),
        (f"{REST}hyper:\n  arcface:\n    mm: 1\n", "line 5, hyper.arcface.mm: arcface has no hyper-parameter 'mm'"),
        (f"{REST}hyper: {{arcface: {{m: 1}}}}\n", "line 3, hyper.arcface: arcface is not among the losses of this"),
        (f"{REST}hyper: [arcface]\n", "line 3, hyper: should be a mapping, not ['arcface']"),
        (f"{REST}resources: {{gpu: 1}}", "line 3, resources.gpu: there is no key 'gpu'; the keys are cpus, gpus"),
        (f"{REST}resources: {{gpus: 2}}", "line 3, resources.gpus: should be less than or equal to 1, not 2"),
        (f"{REST}resources: {{gpus: 0}}", "line 3, resources.gpus: should be greater than or equal to 0.01, not 0"),
        (f"{REST}resources: {{cpus: '4'}}", "line 3, resources.cpus: should be a number, not '4'"),
        (f"{REST}resources: 4", "line 3, resources: should be a mapping, not 4"),
        (in_recipe("lr: fast"), "line 3, recipe.lr: should be a number, not 'fast'"),
        (in_recipe("lr: '0.1'"), "line 3, recipe.lr: should be a number, not '0.1'"),
        (in_recipe("lr: [-1]"), "line 3, recipe.lr[0]: should be greater than 0, not -1"),
        (in_recipe("lr: [0.1, -1]"), "line 3, recipe.lr[1]: should be greater than 0, not -1"),
        (in_recipe("epocs: 3"), "line 3, recipe.epocs: there is no key 'epocs'; the keys are optimiser, lr, momentum"),
        (in_recipe("epocs: 3"), "did you mean 'epochs'?"),
        (in_recipe("epochs: 0"), "line 3, recipe.epochs: should be greater than or equal to 1, not 0"),
        (in_recipe("epochs: true"), "line 3, recipe.epochs: should be a whole number, not True"),
        (in_recipe("batch: 0"), "line 3, recipe.batch: should be greater than or equal to 1"),
        (in_recipe("optimiser: adam"), "line 3, recipe.optimiser: there is no optimiser 'adam'; did you mean 'adamw'?"),
        (
            in_recipe("schedule: cosin"),
            "recipe.schedule: there is no schedule 'cosin'; did you mean 'cosine'? (there are",
        ),
        (
            in_recipe("augmentation: shfit"),
            "recipe.augmentation: there is no augmentation 'shfit'; did you mean 'shift'?",
        ),
        (in_recipe("label_smoothing: 1"), "line 3, recipe.label_smoothing: should be less than 1, not 1"),
        (in_recipe("momentum: 1.0"), "line 3, recipe.momentum: should be less than 1"),
        (in_recipe("weight_decay: -1e-4"), "recipe.weight_decay: should be greater than or equal to 0, not -0.0001"),
        (in_recipe("warmup: 2"), "line 3, recipe.warmup: should be less than 1"),
        (in_recipe("schedule: step"), "line 3, recipe.schedule: 'step' needs milestones"),
        (in_recipe("milestones: [0.5]"), "line 3, recipe.milestones: are for the schedule 'step' only"),
        (in_recipe("schedule: step, milestones: [0.5, 0.5]"), "recipe.milestones: should be rising shares of the run"),
        (in_recipe("schedule: step, milestones: [30]"), "line 3, recipe.milestones: should be less than 1, not 30"),
        (in_recipe("schedule: step, milestones: 0.5"), "line 3, recipe.milestones: should be a list, not 0.5"),
        (in_recipe("schedule: step, milestones: []"), "line 3, recipe.milestones: should not be empty"),
        (
            in_recipe("schedule: step, milestones: [[0.1], [0.5, 2]]"),
            "recipe.milestones[1][1]: should be less than 1, not 2",
        ),
        (f"{REST}recipe: fast\n", "line 3, recipe: should be a mapping, not 'fast'"),
        ("", "mine.yaml: an experiment should be a mapping with the keys name, description"),
        ("- digits\n", "mine.yaml: an experiment should be a mapping"),
    ],
)
def test_the_message_says_where_and_what(refusal, text: str, message: str) -> None:
    found = refusal(text)
    assert message in found
    assert found.startswith("mine.yaml, ") or message.startswith("mine.yaml: ")
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize("name", ["../up", "a/b", "a\\b", ".hidden", "dot.", "", "-x", "x" * 65, "a b", "é", "a\n"])
def test_names_that_make_no_good_folder_are_refused(refusal, name: str) -> None:
    quoted = name.replace("\\", "\\\\").replace("\n", "\\n")
    assert "mine.yaml, line 3, name: a name should be of letters" in refusal(f'{REST}name: "{quoted}"\n')


@pytest.mark.parametrize("name", ["a", "v1.2", "A-b_c", "x" * 64, "2026"])
def test_other_names_are_taken(load, name: str) -> None:
    assert load(f'{REST}name: "{name}"\n').name == name


def test_the_file_s_own_name_is_held_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "my file.yaml"
    path.write_text(REST)
    with pytest.raises(ValueError, match=r"my file\.yaml, name: the file's name is the experiment's unless"):
        spec.load(path)


def test_all_problems_come_in_one_message_by_line(refusal) -> None:
    lines = refusal("nmae: x\ndatasets: digit\nseeds: -1\nrecipe: {lr: x, lrr: 1}\nlosses: [arcfac]\n").splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "mine.yaml, line 1, nmae",
        "mine.yaml, line 2, datasets",
        "mine.yaml, line 3, seeds",
        "mine.yaml, line 4, recipe.lr",
        "mine.yaml, line 4, recipe.lrr",
        "mine.yaml, line 5, losses[0]",
    ]


def test_of_very_many_problems_ten_are_shown(refusal) -> None:
    lines = refusal(f"{REST}seeds: [{', '.join(['-1'] * 30)}]\n").splitlines()
    assert len(lines) == 11
    assert lines[-1] == "mine.yaml: … and 20 more"


def test_long_values_are_cut_and_kept_on_one_line(refusal) -> None:
    found = refusal(f'{REST}"k\\n{"y" * 500}": 1\nbackbone: "{"z" * 500}"\n')
    assert len(found.splitlines()) == 2
    assert len(found) < 1000


def test_a_loss_without_cross_entropy_takes_no_label_smoothing(
    load, refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses.names()
    monkeypatch.setattr(_registry, "_losses", dict(_registry._losses))
    plugin = tmp_path / "triplet.py"
    plugin.write_text(
        "from losses.softmax import Softmax\n\n"
        "class Triplet(Softmax):\n    name = 'triplet'\n    is_cross_entropy = False\n"
    )
    load_plugin(plugin)
    text = "datasets: digits\nlosses: [softmax, triplet]\nrecipe: {label_smoothing: %s}\n"
    assert "recipe.label_smoothing: triplet is not a cross-entropy loss" in refusal(text % "0.1")
    assert load(text % "0.0").cells()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("pixel_std: 0", "recipe.pixel_std: should be greater than 0, not 0"),
        ("pixel_std: 127.5", "recipe.pixel_std: should be less than or equal to 1, not 127.5"),
        ("pixel_mean: [0.5, -1]", "recipe.pixel_mean: should be greater than or equal to 0, not -1"),
        ("pixel_mean: []", "recipe.pixel_mean: should not be empty"),
        ("pixel_mean: half", "recipe.pixel_mean: should be a number, not 'half'"),
        ("channel_order: brg", "recipe.channel_order: there is no channel order 'brg'"),
        ("flip_test: 1", "recipe.flip_test: should be true or false, not 1"),
    ],
)
def test_pixels_and_flip_are_checked(refusal, given: str, said: str) -> None:
    message = refusal(f"datasets: digits\nlosses: softmax\nrecipe: {{{given}}}\n")
    assert said in message
    assert len(message.splitlines()) == 1
