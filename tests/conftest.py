import torch

from tests.browser import browser

__all__ = ["browser"]

torch.set_num_threads(1)
