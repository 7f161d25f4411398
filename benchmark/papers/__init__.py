"""Paper tables: published values beside measured ones, with the reasons why they differ.

paper = papers.load("arcface")               # a shipped name, or the path of a YAML file
papers.make_tables([paper], "cpu", options)  # runs what is missing, writes and shows the table
"""

from benchmark.papers.comparison import Comparison, compare_with_published
from benchmark.papers.layout import tables
from benchmark.papers.paper import Paper, Scale
from benchmark.papers.paper_file import load, names
from benchmark.papers.run_table import make_tables, measured_at, show
