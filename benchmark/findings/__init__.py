"""What the results say: the answer in words, who is best, and the tables behind it.

Report, leaderboard and site share it.
"""
