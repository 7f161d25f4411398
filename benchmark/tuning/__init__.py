"""Fair tuning: every loss gets the same trials, on validation data alone, and the same again after any interruption.

A study is one row of an experiment on one dataset. Each of its trials is a pure function of those before it, and its
runs are stored as any other run, so going on is replaying what is stored.
"""
