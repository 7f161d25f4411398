"""What the pages of report and site share: templates, style and script, tables and pictures as a page shows them."""

from benchmark.pages.page import Choice, Facts, Shown, choices, json_for_a_page, render
from benchmark.pages.pictures import Drawn, NotDrawn
