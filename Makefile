# Everything works in a virtual environment of this folder. A CPU build of torch is asked for by name, so
# that no gigabytes of CUDA packages come unasked; `make test TORCH=torch==2.13.0` takes what your index has.
PYTHON ?= python3
TORCH ?= torch==2.13.0+cpu
TORCH_LATEST ?= torch==2.15.0
SOURCES = compiler server tests benchmarks

.PHONY: test test-latest lint demo bench setup clean

test: lint
	.venv/bin/python -m pytest $(PYTEST_ARGS)

test-latest: .venv-latest/ready
	.venv-latest/bin/python -m pytest $(PYTEST_ARGS)

lint: .venv/ready
	.venv/bin/ruff check $(SOURCES)
	.venv/bin/ruff format --check $(SOURCES)
	.venv/bin/mypy

demo: .venv/ready
	.venv/bin/fullgraph check examples/toy.py examples/block.py --fail-on never

bench: .venv/ready
	.venv/bin/python benchmarks/check_toy.py
	.venv/bin/python benchmarks/observing.py
	.venv/bin/python benchmarks/hover.py

setup: .venv/ready

.venv/ready: pyproject.toml scripts/setup.sh
	scripts/setup.sh .venv $(PYTHON) "$(TORCH)"

.venv-latest/ready: pyproject.toml scripts/setup.sh
	scripts/setup.sh .venv-latest $(PYTHON) "$(TORCH_LATEST)"

clean:
	rm -rf .venv .venv-latest .cache .mypy_cache .pytest_cache .ruff_cache
