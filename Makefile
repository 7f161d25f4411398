# Every target works on a fresh clone: it creates .venv the first time and installs what it needs.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
EXPERIMENT ?= default

.DEFAULT_GOAL := help
TABLES := sphereface cosface arcface arcface-angles adacos adaacos arcgrad kappaface unitsface eight-heads timm-face
SCALE ?= cpu
.PHONY: help setup bench report claims test test-all lint audit tables docs notebooks perf clean $(TABLES:%=table-%)

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY)  ## make .venv and install everything, once

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else f"MarginBench needs Python 3.11 or newer, $(PYTHON) is {v[0]}.{v[1]}: make PYTHON=python3.11 …")'
	@[ -x $(RUN) ] || { echo "making $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing the pinned packages into $(VENV) (about a minute, once)"
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

test: lint  ## lint, type-check and run the tests, but for the slow ones
	$(RUN) -m pytest -n 2 --dist loadgroup -m "not slow"

test-all: lint  ## lint, type-check and run all tests, also the slow ones
	$(RUN) -m pytest -n 2 --dist loadgroup

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m tests.plain_words
	$(RUN) -m mypy

bench: $(READY)  ## run the default experiment, eleven losses on digits and glyphs, 5 seeds; write its report
	$(RUN) -m benchmark run default

report: $(READY)  ## write the report again from stored results (EXPERIMENT=default)
	$(RUN) -m benchmark report $(EXPERIMENT)

claims: $(READY)  ## test the papers' claims: trains what is missing, prints the ledger
	$(RUN) -m benchmark claims --run

audit: $(READY)  ## check every loss: gradients, limits, half precision, state
	$(RUN) -m benchmark audit

tables: $(READY)  ## every paper's table, published beside measured; one alone: make table-arcface (SCALE=cpu|smoke|full)
	$(RUN) -m benchmark table all --scale $(SCALE)

$(TABLES:%=table-%): table-%: $(READY)
	$(RUN) -m benchmark table $* --scale $(SCALE)

.PHONY: new-loss leaderboard site
new-loss: $(READY)  ## write losses/NAME.py, a working template: make new-loss NAME=myloss
	@[ -n "$(NAME)" ] || { echo 'say what it is to be called: make new-loss NAME=myloss'; exit 2; }
	@$(RUN) -m benchmark new-loss "$(NAME)"

leaderboard: $(READY)  ## audit, run and enter what lacks an entry: make leaderboard [LOSS=myloss]
	$(RUN) -m benchmark leaderboard $(LOSS)

site: $(READY)  ## the leaderboard as static pages
	$(RUN) -m benchmark leaderboard site

docs: $(READY)  ## build the documentation, offline, into docs/_build/html
	@$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

notebooks: $(READY)  ## execute the notebooks and save them with their outputs
	$(RUN) -m notebooks.execute

perf: $(READY)  ## measure speed and memory against the bound and against peers, write results/perf (half an hour)
	$(RUN) -m perf

clean:  ## remove .venv and caches (results and data stay)
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
