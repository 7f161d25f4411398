"""The runner: from an experiment file to trained cells, metrics, statistics, a report and a leaderboard.

Its rooms, in the way of the data; an earlier one never imports a later one:

    spec                                 experiment files, and the cells that they expand to
    backbones, training, engine, store   train cells, on one machine or on many, and keep what they give
    metrics                              arrays in, numbers out
    statistics                           tables of numbers in, intervals and comparisons out
    scale_margin, findings               what the results say
    tables, plots, report                how they are shown
    audit, tuning, claims, papers, advice, leaderboard   what the commands do with all this

docs/architecture.md says where to change what.
"""

IN_CLONE = ("benchmark", "datasets", "losses") if __name__ == "benchmark" else ()
"""The packages of a clone; installed, there is only `marginbench`."""
