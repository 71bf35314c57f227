# Every target sets up what it needs: Python >= 3.11 and make are enough.
#   make demo    train a small network on handwritten digits
#   make test    run the tests, and those of Keras's own that need no other backend
#   make test-keras   run Keras's own tests on gradtape (installs what they use under .keras-suite/)
#   make lint    formatting, lint rules, types
#   make docs    write docs/ops.md and docs/coverage.md anew
#   make answers record anew what TensorFlow and Keras answer (.tensorflow/ and .keras-suite/)
#   make bench   compare with other libraries (installs them under .bench/)
#   make wheel   build the wheel and the sdist into dist/
#   make clean   remove everything these targets made

PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEVELOPMENT := $(VENV)/.development-installed
TENSORFLOW := .tensorflow/.installed
KERAS_SUITE := .keras-suite/.installed
MAX_WHEEL_BYTES := 1000000

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-keras lint types format docs answers bench wheel clean

help:
	@sed -n 's/^#   //p' Makefile

demo: $(RUNTIME)
	@$(BIN)/python -m gradtape run examples/digits.py

test: $(DEVELOPMENT)
	@$(BIN)/python -m pytest -n auto
	@$(BIN)/python tests/keras_suite/run.py -n auto @tests/keras_suite/subset.txt

test-keras: $(KERAS_SUITE)
	@.keras-suite/bin/python tests/keras_suite/run.py -n auto

lint: $(DEVELOPMENT)
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(MAKE) --no-print-directory types

types: $(DEVELOPMENT)
	@$(BIN)/pyright --pythonpath $(BIN)/python

format: $(DEVELOPMENT)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

docs: $(DEVELOPMENT)
	@$(BIN)/python docs/make_ops_page.py
	@$(BIN)/python docs/make_coverage_page.py

answers: $(TENSORFLOW) $(KERAS_SUITE)
	@.tensorflow/bin/python tests/data/make_tensorflow_raw_ops.py
	@.tensorflow/bin/python tests/data/make_tensorflow_signatures.py
	@PYTHONPATH=src:tests .tensorflow/bin/python tests/data/make_tensorflow_answers.py
	@PYTHONPATH=tests .tensorflow/bin/python tests/data/make_tensorflow_pipelines.py
	@PYTHONPATH=src:tests .keras-suite/bin/python tests/keras_answers/record.py

bench: $(RUNTIME)
	@$(BIN)/python benchmarks/run.py

wheel: $(DEVELOPMENT)
	@rm -rf dist
	@$(BIN)/python -m build
	@for wheel in dist/*.whl; do \
		bytes=$$(wc -c < "$$wheel"); \
		case "$$wheel" in *-py3-none-any.whl) ;; *) echo "not a pure wheel: $$wheel" >&2; exit 1;; esac; \
		test "$$bytes" -le $(MAX_WHEEL_BYTES) || { echo "wheel too large: $$bytes bytes" >&2; exit 1; }; \
		echo "$$wheel: $$bytes bytes"; \
	done

clean:
	@rm -rf $(VENV) .bench .keras-suite .tensorflow build dist .pytest_cache .ruff_cache .hypothesis
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Stamps: the environment is made anew only when what it is made from changes.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "gradtape needs Python >= 3.11; try: make PYTHON=python3.12 <target>" >&2; exit 1; }
	@echo "creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): pyproject.toml src/gradtape/_version.py | $(BIN)/python
	@echo "installing gradtape into $(VENV)"
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEVELOPMENT): $(RUNTIME)
	@echo "installing the development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(TENSORFLOW): pyproject.toml
	@echo "installing TensorFlow into .tensorflow"
	@$(PYTHON) -m venv .tensorflow
	@.tensorflow/bin/python -m pip install --quiet tensorflow-cpu==2.21.0 hypothesis pytest scipy
	@touch $@

$(KERAS_SUITE): tests/keras_suite/requirements.txt
	@echo "installing Keras and what its tests use into .keras-suite"
	@$(PYTHON) -m venv .keras-suite
	@.keras-suite/bin/python -m pip install --quiet --requirement $<
	@touch $@
