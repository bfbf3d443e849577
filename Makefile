# Two commands on a bare machine: `make reports` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
NEEDS  := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: reports
reports: $(VENV)/.product ## write every workbook, table and chapter that differs
	@$(BIN)/tile-ledger build

.PHONY: check
check: $(VENV)/.product ## tell which of them is stale, which printed cells moved, and why
	@$(BIN)/tile-ledger check --full

.PHONY: verify
verify: $(VENV)/.test ## recalculate every workbook with IronCalc and compare all its values
	@status=0; for book in reports/*/*.xlsx; do \
		$(BIN)/tile-ledger verify "$$book" || status=$$?; done; exit $$status

.PHONY: test
test: $(VENV)/.test ## run all tests; a missing program is a skip with its reason, under CI=true a failure
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile

# No outside program, no slow test, few random examples.
FAST := env LEDGER_ENGINES=0 LEDGER_RANDOM=20 CI=
ONLY := -m pytest --numprocesses auto --dist loadfile -m 'not engine and not slow'

.PHONY: test-fast
test-fast: $(VENV)/.test ## run what needs no other program, with few random examples
	@$(FAST) $(BIN)/python $(ONLY)

.PHONY: test-lowest
test-lowest: .venv-lowest/.test ## the same with the lowest of every library, and every output has the same bytes
	@.venv-lowest/bin/tile-ledger check --full
	@$(FAST) .venv-lowest/bin/python $(ONLY)

NEWEST ?= $(firstword $(foreach each,3.15 3.14 3.13 3.12,$(shell python$(each) -c '' 2>/dev/null && echo python$(each))) $(PYTHON))
.PHONY: test-newest
test-newest: .venv-newest/.test ## the same with the newest Python that is here, or NEWEST=python3.14
	@.venv-newest/bin/python --version
	@.venv-newest/bin/tile-ledger check --full
	@$(FAST) .venv-newest/bin/python $(ONLY)

.PHONY: lint
lint: $(VENV)/.lint ## check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

.PHONY: format
format: $(VENV)/.lint ## let ruff lay the code out
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: fuzz
fuzz: $(VENV)/.test ## change books and workbooks at random for ten minutes: no traceback, no hang
	@$(BIN)/python tests/fuzz.py 600 $(SEED)

.PHONY: bench
bench: $(VENV)/.test ## measure against peers in ratios, large books and diffs against their limits, many mistakes
	@$(BIN)/python benchmarks/write_rows.py
	@$(BIN)/python benchmarks/check_book.py
	@$(BIN)/python benchmarks/diff_rows.py
	@$(BIN)/python benchmarks/linear.py

.PHONY: clean
clean: ## remove what the other targets installed
	rm -rf $(VENV) .venv-lowest .venv-newest node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Tile Ledger needs Python 3.11 or newer; name one: make PYTHON=python3.12 reports")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.product: $(VENV)/bin/python $(NEEDS)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.product
	@$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.product
	@$(PIP) --editable '.[lint]'
	@touch $@

.venv-lowest/.test: $(NEEDS) constraints-lowest.txt
	@$(PYTHON) -m venv --clear .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-lowest.txt --editable '.[test]'
	@touch $@

.venv-newest/.test: $(NEEDS)
	@$(NEWEST) -m venv --clear .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[test]'
	@touch $@
