"""The report of an experiment: one page that answers the question, and its tables and pictures as files."""

from benchmark.report.build import PAGE, Report, build, write_report
