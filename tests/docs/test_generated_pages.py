"""What the generated pages say, and that code and data say it: every key, option and example."""

import inspect
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from pydantic import BaseModel

import datasets
import losses
from benchmark import spec
from benchmark.cli import app
from benchmark.recipe import Recipe
from benchmark.spec.dataset_rows import BesideDataset
from benchmark.spec.experiment_file import ExperimentKeys
from benchmark.spec.loss_rows import BesideLoss
from benchmark.spec.recipes import RecipeKeys
from benchmark.spec.tuned import Budget
from benchmark.spec.values import ResourceKeys
from docs import generate
from docs.generate import api, claims, command_line, committed, curves, experiment_file, markdown, papers, related
from docs.generate import losses as loss_pages
from docs.generate.repository_links import rewritten
from losses import _registry

MODELS = (ExperimentKeys, BesideDataset, BesideLoss, RecipeKeys, Budget, ResourceKeys)
NOT_IN_EXAMPLE = {"tuned", "tuned_rows"}  # they need a file that was tuned for this very experiment
PYTHON, CONSOLE, YAML = (
    re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL) for language in ("python", "console", "yaml")
)
ROOT = Path(__file__).parents[2]
MEASURED = {path.stem for path in (ROOT / "results" / "reference" / "tables").glob("*.md")}
Content = dict[str, str | bytes]


@pytest.fixture(scope="module")
def of_losses() -> Content:
    return dict(loss_pages.pages())


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_the_full_example_loads_and_uses_every_key() -> None:
    experiment = spec.load(experiment_file.EXAMPLE)
    assert len(experiment.cells()) == 5 * (5 + 3)
    used = set(keys_of(yaml.safe_load(experiment_file.EXAMPLE.read_text())))
    assert {key for model in MODELS for key in model.model_fields} - used == NOT_IN_EXAMPLE


@pytest.mark.parametrize("model", MODELS)
def test_every_key_says_what_it_means(model: type[BaseModel]) -> None:
    for key, one in model.model_fields.items():
        assert (one.description or "").rstrip().endswith("."), key


def test_the_page_of_the_experiment_file_has_ranges_and_defaults() -> None:
    ((_, page),) = experiment_file.pages()
    assert "| `batch` | Images per training step. | a whole number from 1 to 1,000,000, or a list | `128` |" in page
    assert "| `lr` |" in page
    assert "a number above 0 to 1000, or a list | `0.1` |" in page
    assert "one of `adamw`, `muon`, `sgd`, or a list | `sgd` |" in page
    assert RecipeKeys.model_fields.keys() == vars(Recipe()).keys()


@pytest.mark.parametrize("name", [*datasets.names(), *datasets.wrapper_names()])
def test_every_option_of_a_dataset_is_explained(name: str) -> None:
    assert datasets.summary(name)
    assert all(option.meaning for option in datasets.options(name).values())


def test_every_recipe_ingredient_and_backbone_is_explained() -> None:
    ((_, page),) = experiment_file.pages()
    empty = re.findall(r"^\| `(\w+)` \|  \|$", str(page), re.MULTILINE)
    assert empty == []


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
def test_every_loss_has_a_page_with_a_working_example(of_losses: Content, name: str) -> None:
    page = str(of_losses[f"losses/{name}.md"])
    for heading in ("## Use it", "## Curves", "## Hyper-parameters", "## Results"):
        assert heading in page
    assert all(f"| `{key}` |" in page for key in losses.get(name).hyper)
    (example,) = PYTHON.findall(page)
    found: dict[str, Any] = {}
    exec(example, found)
    assert found["value"].isfinite()


def test_a_new_loss_gets_a_page_without_any_other_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Newcomer(losses.TargetOnlyHead):
        """ℓ_y = s·(cos θ_y − m).

        Paper: none, arXiv:0000.00000. Good for: this test.

        Released code: there is none.
        """

        name = "newcomer"
        s: float = losses.scale(16.0)

        def target_cosine(self, cosine: Any, batch: losses.Batch) -> Any:
            return cosine - 0.1

    try:
        assert "newcomer" in losses.names()
        monkeypatch.setattr(losses, "names", lambda: ["newcomer"])  # the pages of the others take seconds
        found = dict(loss_pages.pages())
    finally:
        del _registry._losses["newcomer"]
    page = str(found["losses/newcomer.md"])
    assert "ℓ<sub>y</sub> = s·(cos θ<sub>y</sub> − m)." in page
    assert "[arXiv:0000.00000](https://arxiv.org/abs/0000.00000)" in page
    assert "## What released code does differently\n\nThere is none." in page
    assert "No committed result has this loss." in page
    light, dark = (found[f"losses/curves/newcomer-pull-{theme}.svg"] for theme in ("light", "dark"))
    assert curves.LOSS in str(light)
    assert curves.THEMES["dark"][curves.LOSS] in str(dark)


def test_a_loss_page_has_its_results_claims_and_tables(of_losses: Content) -> None:
    page = str(of_losses["losses/arcface.md"])
    (row,) = committed.default_table().rows_of("arcface")
    assert " | ".join(row) in page
    board = committed.board()
    assert board is not None
    assert f"of {len(board.order)} by average rank" in page
    assert "[1](../claims/1.md)" in page
    assert "(../papers/arcface.md)" in page
    assert not committed.default_table().rows_of("arc")


def test_claims_and_papers_name_their_losses() -> None:
    found = dict([*claims.pages(), *papers.pages()])
    for claim in related.all_claims():
        page = str(found[f"claims/{claim.number}.md"])
        assert all(f"(../losses/{name}.md)" in page for name in related.losses_of_claim(claim))
        verdicts = [row for row in committed.ledger() if row["claim"] == str(claim.number)]
        assert page.count("\n| ") == 2 + 2 + len(claim.parts) + len(verdicts)
    for paper in related.all_papers():
        page = str(found[f"papers/{paper.name}.md"])
        assert all(f"(../losses/{name}.md)" in page for name in related.losses_of_paper(paper))
        assert ("## Measured beside published" in page) == (paper.name in MEASURED)
        assert f"make table-{paper.name}\n" in page


def test_addresses_in_committed_tables_become_links() -> None:
    hidden = r"Re-run \(h<!-- -->ttps\://github.com/a/b\_c\); more"
    assert committed.with_links(hidden) == r"Re-run \(<https://github.com/a/b_c>\); more"


def called(words: list[str], command: Any = None) -> Any:
    """The command that a call runs, after its arguments and options were read; a wrong call raises an error."""
    command = command or typer.main.get_command(app)
    context = command.make_context("benchmark", list(words))
    if not hasattr(command, "commands"):
        return command
    name, *rest = [*context._protected_args, *context.args]
    return called(rest, command.commands[name])


@pytest.mark.parametrize("wrong", [["run"], ["run", "smoke", "--no-such-option"], ["run", "smoke", "--workers", "few"]])
def test_a_wrong_call_is_noticed(wrong: list[str]) -> None:
    with pytest.raises(typer.BadParameter.__mro__[1]):  # click's UsageError, which typer does not export
        called(wrong)


@pytest.mark.parametrize(("name", "command"), list(command_line.commands()))
def test_the_examples_of_a_command_are_right_calls(name: str, command: Any) -> None:
    page = str(dict(command_line.pages())["reference/command-line.md"])
    assert f"\n## {name}\n" in page
    lines = command_line.examples(command)
    for line in lines:
        assert line.startswith("python -m benchmark "), line
        assert line in page
    assert not lines or command.name in {called(shlex.split(line)[3:]).name for line in lines}


def test_the_calls_on_pages_of_papers_and_claims_are_right() -> None:
    pages = [str(page) for _, page in [*papers.pages(), *claims.pages()]]
    lines = {line for page in pages for block in CONSOLE.findall(page) for line in block.splitlines()}
    assert len(lines) > len(related.all_papers())
    targets = [line.removeprefix("make ") for line in lines if line.startswith("make ")]
    subprocess.run(["make", "-n", *targets], cwd=ROOT, check=True, capture_output=True)
    for line in lines - {f"make {target}" for target in targets}:
        assert line.startswith("python -m benchmark "), line
        called(shlex.split(line)[3:])


def test_the_short_examples_of_the_experiment_file_load(tmp_path: Path) -> None:
    ((_, page),) = experiment_file.pages()
    full, *parts = [yaml.safe_load(block) for block in YAML.findall(str(page))]
    assert full == yaml.safe_load(experiment_file.EXAMPLE.read_text())
    for number, part in enumerate(parts):
        path = tmp_path / f"part-{number}.yaml"
        path.write_text(yaml.safe_dump({"datasets": ["digits"], "losses": ["softmax"], **part}))
        assert spec.load(path).cells()
    assert len(parts) == 3


def test_most_commands_have_an_example() -> None:
    without = {name for name, one in command_line.commands() if not command_line.examples(one)}
    assert not without & {"run", "report", "score", "table", "claims", "tune", "audit", "advise", "leaderboard run"}


def test_pages_that_did_not_change_are_left_alone_and_old_ones_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "KINDS", {"some": lambda: iter([("losses/a.md", "text")])})
    (tmp_path / "losses").mkdir()
    (tmp_path / "losses" / "old.md").write_text("old")
    said: list[str] = []
    generate.write(tmp_path, said.append)
    first = (tmp_path / "losses" / "a.md").stat().st_mtime_ns
    generate.write(tmp_path, said.append)
    assert (tmp_path / "losses" / "a.md").stat().st_mtime_ns == first
    assert [path.name for path in (tmp_path / "losses").iterdir()] == ["a.md"]
    assert said[0] == "some: 1 page"


def test_texts_are_shown_as_they_are() -> None:
    assert markdown.text("a *b* <c> | `d|*` [e]") == r"a \*b\* \<c\> \| `d|*` \[e\]"
    assert markdown.text("see doi 10.1109/A.9207251.") == (
        "see [doi 10.1109/A.9207251](https://doi.org/10.1109/A.9207251)."
    )
    assert markdown.formula("θ_{i,y} = λ_min·x^−p") == "θ<sub>i,y</sub> = λ<sub>min</sub>·x<sup>−p</sup>"


def test_links_out_of_docs_are_relative_to_the_clone(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (tmp_path / "README.md").write_text("")
    text = "[a](../../README.md#x) [b](other.md) [c](../../none.md) [d](https://e.f)\n```\n[a](../../README.md)\n```\n"
    page, output = docs / "deep" / "page.md", docs / "_build" / "html" / "deep" / "page.html"
    assert rewritten(text, page, output, docs) == text.replace(
        "[a](../../README.md#x)", '<a href="../../../../README.md#x">a</a>'
    )


LINK = re.compile(r"(?<!!)\[[^\[\]]*\]\(((?![a-z]+:|#)[^()\s#]+)[^()]*\)|!\[[^\]]*\]\(((?![a-z]+:)[^()\s]+)\)")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "results/reference/README.md", "perf/README.md"])
def test_links_of_pages_outside_of_docs_resolve(page: str) -> None:
    generated = tuple(f"docs/{folder}/" for folder in generate.FOLDERS)
    for target in (one or other for one, other in LINK.findall((ROOT / page).read_text())):
        path = (ROOT / page).parent / target
        assert path.exists() or target.startswith(generated), f"{page}: {target}"


PUBLIC = [
    (module, name, one)
    for module, package in api.MODULES.items()
    for name, one in api.public(package).items()
    if inspect.isfunction(one)
]


@pytest.mark.parametrize(("module", "name", "function"), PUBLIC, ids=[f"{module}.{name}" for module, name, _ in PUBLIC])
def test_every_public_function_explains_its_arguments_and_has_an_example(module: str, name: str, function: Any) -> None:
    said = function.__doc__ or ""
    assert ">>> " in said
    words, _, _ = said.partition(">>> ")
    for argument in inspect.signature(function).parameters:
        assert re.search(rf"`{argument}`|^\s+\*{{0,2}}{argument}(?:: |  )", words, re.MULTILINE), argument
