"""The leaderboard: one file for each loss and configuration, standings computed from the files, and a site.

An entry holds its metrics for every seed and names the cells and embeddings that they come from. So standings need no
runs, entries of two people merge without an edit, and anyone who has the embeddings can check the metrics.
"""
