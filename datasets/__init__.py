"""Datasets, their splits and their verification pairs.

    data = datasets.load("glyphs", root="data", seed=0)

A file dropped into this folder adds a dataset (a subclass of `Dataset`) or a wrapper (of `Wrapper`):

    class Mine(datasets.Dataset):
        name = "mine"
        summary = "what it is"
        protocol = "open"
        count = datasets.Whole(10, "what the option means", low=1, high=100)

        def build(self, place, seed):
            ...  # returns datasets.Data, from place.root and self.count
"""

from datasets._data import Data, Images, Pairs, Split
from datasets._dataset import Dataset, Size, Wrapper
from datasets._errors import InputError
from datasets._load import check, load, names, options, protocol, resolve, summary, training_size, wrapper_names
from datasets._options import Choice, Flag, Real, Text, Whole
from datasets._registry import DuplicateNameError
