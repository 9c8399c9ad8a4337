# `make help` lists what there is. Every target sets up what it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
# Which extras .venv has: a stamp for each, renewed when pyproject.toml changes.
STAMP := .venv/installed

.DEFAULT_GOAL := help
.PHONY: help run test lint check smoke plan soak bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(STAMP)-run ## set up, and run the main job: one cell, offline, on embedded data
	$(BIN)/python run.py

# The tests of a file stay together, for what they share. In the order of their names the longest,
# tests/launchers, are not the last.
test: $(STAMP)-test ## set up, and run the tests, on up to four cores
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lint: $(STAMP)-dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint test ## ruff, mypy and the tests

smoke: $(STAMP)-run ## the sweeps that CI runs: every encoder, attention and analysis, tiny
	rm -rf build/smoke
	$(BIN)/python run.py -m dataset=babi_1,planted encoder=lstm,average,cnn attention=additive,dot \
		trainer=smoke store=build/smoke
	$(BIN)/python run.py dataset=planted analysis=[wiegreffe_pinter,log_odds] trainer=smoke \
		store=build/smoke

plan: $(STAMP)-run ## what a sweep would do, and how long: make plan SWEEP="experiment=jain_wallace"
	$(BIN)/python run.py --plan $(SWEEP)

soak: $(STAMP)-test ## a sweep under fire, some minutes: killed workers, failing writes, damaged files
	$(BIN)/python -m pytest -m soak -s tests/soak

bench: $(STAMP)-bench ## measure speed, as ratios, into benchmarks/results
	$(BIN)/python benchmarks/training_epoch.py
	$(BIN)/python benchmarks/analyses.py

clean: ## remove .venv and caches; results in multirun/ stay
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(STAMP)-run: pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(STAMP)-test: pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@ $(STAMP)-run

$(STAMP)-bench: pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@ $(STAMP)-run

$(STAMP)-dev: pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(STAMP)-run $(STAMP)-test

.venv:
	$(PYTHON) -m venv .venv
