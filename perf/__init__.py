"""Measures speed and memory, against the theoretical limit and against other libraries.

    python -m perf                  # everything, about ten minutes: results/perf/report.md, report.json, figures/
    python -m perf --quick          # does it run? seconds, and no bar is judged
    python -m perf.loss_head        # one measurement alone

One file a measurement, each with `TITLE`, `HOW` and `measure(quick)`. Files whose names begin with an underscore are
what they share. Machines are noisy: contenders take turns within one run, and what is judged is a ratio wherever the
bar is one.
"""
