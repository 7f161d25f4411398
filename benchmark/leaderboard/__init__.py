"""The leaderboard: one file a loss and configuration, standings computed from the files, and a site to show them.

Entries carry their figures seed by seed and name the cells and embeddings behind them, so that standings need no
runs, two people's entries merge without an edit, and whoever has the embeddings can check the figures.
"""
