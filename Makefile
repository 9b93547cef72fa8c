# Two commands do everything: `make demo` (the main job, no key) and `make test` (all checks).
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo demo-local test bench clean

$(BIN)/tox: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q tox
	touch $@

test: $(BIN)/tox
	$(BIN)/tox run $(TOXARGS)

clean:
	rm -rf $(VENV) .tox .mypy_cache .ruff_cache .pytest_cache dist build
