"""The report of an experiment: one page that answers the question, and its tables and pictures as files."""

from benchmark.report.build import PAGE, Report, build
from benchmark.report.files import write_report
