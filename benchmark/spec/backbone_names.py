"""Which backbones an experiment file may name."""

from benchmark import backbones

NAMES = tuple(backbones.names())
