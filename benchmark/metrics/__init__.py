"""Metrics: arrays in, plain numbers out; they know nothing of the runner."""
