# Everything a newcomer or a build server needs, from Python 3.11 and make alone.
#
#   make demo    the main job on a sample store: dry run, conversion, diff, check, and back
#   make test    the whole test-suite         (make test ARGS='-k cli' for a part of it)
#   make lint    ruff, mypy --strict, pyright
#   make bench   reading and start-up, as ratios to the bare thing
#   make docs    the generated parts of docs/
#   make dist    sdist and, from it, the wheel
#
# The environment is .venv; it is made again only when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
ARGS ?=

.PHONY: demo test lint bench docs dist clean

demo: $(VENV)/.installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demo/run.sh

test: $(VENV)/.test
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.installed
	$(BIN)/python bench/ratios.py

docs: $(VENV)/.installed
	$(BIN)/python -m interop.cli.reference docs/cli.md

dist: $(VENV)/.test
	$(BIN)/python -m build --no-isolation --outdir dist .

clean:
	rm -rf $(VENV) .peers .artifacts dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("interop needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.installed
	$(PIP) install --editable '.[test]'
	@touch $@
