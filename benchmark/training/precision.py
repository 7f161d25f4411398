"""Mixed precision on CUDA: bfloat16 where the device has it, else float16 with a scaled loss; float32 on the CPU."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from benchmark.recipe.optimisers import Optimiser

SMALLEST_SCALE = 1.0  # below it, the scale is not the reason for overflowing gradients


class Precision:
    def __init__(self, device: str) -> None:
        self.device = torch.device(device).type
        self.mixed = self.device == "cuda"
        self.dtype = torch.bfloat16 if self.mixed and torch.cuda.is_bf16_supported() else torch.float16
        self.scaler = torch.amp.GradScaler(self.device, enabled=self.mixed and self.dtype == torch.float16)

    def autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device, self.dtype) if self.mixed else nullcontext()

    def backward(self, loss: Tensor, optimiser: Optimiser) -> None:
        """Computes gradients, and removes the loss scale from them."""
        optimiser.zero_grad()
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        optimiser.flatten_gradients()
        if self.scaler.is_enabled():
            for part in optimiser.parts:
                self.scaler.unscale_(part)

    def may_overflow(self) -> bool:
        """Whether a gradient that is not finite only means that the scale is too large."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > SMALLEST_SCALE

    def step(self, optimiser: Optimiser) -> None:
        for part in optimiser.parts:
            self.scaler.step(part)
        self.scaler.update()

    def state(self) -> dict[str, Any]:
        return self.scaler.state_dict()

    def load_state(self, state: dict[str, Any]) -> None:
        if state:
            self.scaler.load_state_dict(state)
