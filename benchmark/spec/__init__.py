"""Experiment files: what to compare, checked, and expanded into cells.

experiment = spec.load("default")        # a shipped name, or the path of a YAML file
cells = experiment.cells(losses=["arcface"], seeds=[0])
"""

from benchmark.spec.builtin import SCALES, describe, load, names
from benchmark.spec.dataset_rows import DatasetRow
from benchmark.spec.estimate import cell_line, estimate_seconds, in_words
from benchmark.spec.experiment import Experiment
from benchmark.spec.loss_rows import LossRow
from benchmark.spec.memory import MEMORY_FACTOR, estimate_memory
from benchmark.spec.tuned import Budget, TunedFile, find_tuned, read_tuned
from benchmark.spec.tuned_rows import with_tuned
