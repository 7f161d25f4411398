"""What the pages of report and site share: template, style, script, tables and pictures."""

from benchmark.pages.page import Choice, Facts, Shown, choices, json_for_a_page, render
from benchmark.pages.pictures import Drawn, NotDrawn
