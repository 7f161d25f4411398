"""SGD, AdamW and Muon over a backbone and its head, with one learning rate for both.

Weight decay applies to matrices and kernels, and to class weights as in the papers; norms, biases and other vectors
have none.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from benchmark.errors import InputError
from benchmark.recipe import Recipe
from datasets._registry import Registry


class Optimiser:
    """One or two torch optimisers as one. `flat` pairs kernels with the 2-D views that are optimised."""

    def __init__(
        self, parts: list[torch.optim.Optimizer], flat: Iterable[tuple[nn.Parameter, nn.Parameter]] = ()
    ) -> None:
        self.parts = parts
        self.flat = list(flat)
        self.parameters = [weight for part in parts for group in part.param_groups for weight in group["params"]]

    def set_rate(self, rate: float) -> None:
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate

    def zero_grad(self) -> None:
        for weight in self.parameters:
            weight.grad = None
        for kernel, _ in self.flat:
            kernel.grad = None

    def flatten_gradients(self) -> None:
        """Prepares gradients; call it after `backward` and before anything that reads them."""
        for kernel, matrix in self.flat:
            matrix.grad = None if kernel.grad is None else _as_matrix(kernel.grad)

    def gradients(self) -> list[Tensor]:
        return [weight.grad for weight in self.parameters if weight.grad is not None]

    def state(self) -> dict[str, Tensor]:
        """The state of the optimisers, by the number of the weight."""
        return {
            f"{number}.{key}": value
            for number, weight in enumerate(self.parameters)
            for part in self.parts
            for key, value in part.state.get(weight, {}).items()
            if isinstance(value, Tensor)
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        owner = {id(weight): part for part in self.parts for group in part.param_groups for weight in group["params"]}
        for name, value in state.items():
            number, key = name.split(".", 1)
            weight = self.parameters[int(number)]
            if value.shape == weight.shape:
                value = torch.empty_like(weight, dtype=value.dtype).copy_(value)
            owner[id(weight)].state[weight][key] = value


MakeOptimiser = Callable[[Recipe, nn.Module, nn.Module], Optimiser]
OPTIMISERS: Registry[MakeOptimiser] = Registry("optimiser", __package__, "marginbench.optimisers")


def optimiser_for(recipe: Recipe, backbone: nn.Module, head: nn.Module) -> Optimiser:
    if not recipe.lr > 0.0:
        raise InputError(f"lr={recipe.lr!r} is not allowed; expected a number > 0")
    return OPTIMISERS.get(recipe.optimiser)(recipe, backbone, head)


@OPTIMISERS.register
def sgd(recipe: Recipe, backbone: nn.Module, head: nn.Module) -> Optimiser:
    """Stochastic gradient descent with momentum."""
    groups = _groups([*backbone.parameters(), *head.parameters()], recipe)
    return Optimiser([torch.optim.SGD(groups, lr=recipe.lr, momentum=recipe.momentum, fused=True)])


@OPTIMISERS.register
def adamw(recipe: Recipe, backbone: nn.Module, head: nn.Module) -> Optimiser:
    """Adam with decoupled weight decay."""
    groups = _groups([*backbone.parameters(), *head.parameters()], recipe)
    return Optimiser([torch.optim.AdamW(groups, lr=recipe.lr, fused=True)])


@OPTIMISERS.register
def muon(recipe: Recipe, backbone: nn.Module, head: nn.Module) -> Optimiser:
    """Muon for the backbone's matrices and kernels (as matrices with one row per output channel), AdamW for the rest.
    Muon's steps are scaled to the size of AdamW's, so that both use one learning rate."""
    kernels = [weight for weight in backbone.parameters() if weight.ndim == 4]
    flat = [(kernel, nn.Parameter(_as_matrix(kernel.detach()))) for kernel in kernels]
    if any(kernel.data_ptr() != matrix.data_ptr() for kernel, matrix in flat):
        raise InputError("muon needs channels-last memory: backbone.to(memory_format=torch.channels_last)")
    matrices = [weight for weight in backbone.parameters() if weight.ndim == 2] + [matrix for _, matrix in flat]
    rest = [weight for weight in backbone.parameters() if weight.ndim not in (2, 4)]
    on_matrices = torch.optim.Muon(
        matrices,
        lr=recipe.lr,
        momentum=recipe.momentum,
        weight_decay=recipe.weight_decay,
        adjust_lr_fn="match_rms_adamw",
    )
    on_rest = torch.optim.AdamW(_groups([*rest, *head.parameters()], recipe), lr=recipe.lr, fused=True)
    return Optimiser([on_matrices, on_rest], flat)


def _groups(weights: list[nn.Parameter], recipe: Recipe) -> list[dict[str, object]]:
    groups: list[dict[str, object]] = [
        {"params": [weight for weight in weights if weight.ndim >= 2], "weight_decay": recipe.weight_decay},
        {"params": [weight for weight in weights if weight.ndim < 2], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def _as_matrix(kernel: Tensor) -> Tensor:
    """A kernel as output channels × the rest; it shares the kernel's memory if that is channels-last."""
    return kernel.permute(0, 2, 3, 1).reshape(len(kernel), -1)
