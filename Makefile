# Everything a newcomer or a build server needs, from Python 3.11 and make alone.
#
#   make demo    the main job on a sample store: dry run, conversion, diff, check, and back
#   make test    the whole test-suite         (make test ARGS='-k cli' for a part of it)
#   make lint    ruff, mypy --strict, pyright
#   make lowest  the main tests once more, with the lowest versions of all that is depended on
#   make bench   what it costs, as ratios   (make bench ARGS='reading --size 1000')
#   make fuzz    look for inputs that break a reader, with atheris   (make fuzz SECONDS=3600)
#   make docs    the generated parts of docs/
#   make dist    sdist and, from it, the wheel
#
# The environment is .venv; it is made again only when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
ARGS ?=
LOWEST := .venv-lowest
FOUNDATIONS := tests/test_contract.py tests/test_golden_convert.py tests/test_cli.py \
	tests/test_export.py tests/test_diff.py tests/test_disk_apply.py

FUZZ := .venv-fuzz
SECONDS ?= 600

.PHONY: demo test lint lowest bench fuzz docs dist clean

demo: $(VENV)/.installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demo/run.sh

test: $(VENV)/.test
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -q $(FOUNDATIONS)

bench: $(VENV)/.test
	$(BIN)/python -m bench.ratios $(ARGS)

fuzz: $(FUZZ)/.installed
	$(FUZZ)/bin/python -m fuzz --seconds $(SECONDS) $(ARGS)

docs: $(VENV)/.installed
	$(BIN)/python -m interop.cli.reference docs/cli.md
	$(BIN)/interop formats --loss > docs/loss-matrix.md

dist: $(VENV)/.test
	$(BIN)/python -m build --no-isolation --outdir dist .

clean:
	rm -rf $(VENV) $(LOWEST) $(FUZZ) .peers .artifacts dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("interop needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.installed
	$(PIP) install --editable '.[test]'
	@touch $@

$(LOWEST)/.installed: pyproject.toml $(VENV)/.test
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(BIN)/python -m tests.bounds > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip --quiet --disable-pip-version-check install --editable '.[mcp]' \
		pytest hypothesis jsonschema packaging --constraint $(LOWEST)/constraints.txt
	@touch $@

# atheris has wheels for Linux alone, and is not needed by anything else
$(FUZZ)/.installed: pyproject.toml
	@test -x $(FUZZ)/bin/python || $(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip --quiet --disable-pip-version-check install --editable . 'atheris>=3,<4'
	@touch $@
