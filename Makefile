# Everything works in folders of this one: a virtual environment, Node and its modules, a VS Code for the
# browser. A CPU build of torch is asked for by name; where the package indexes have none, the plain wheel is
# installed. The newest torch comes with its CUDA packages, of several gigabytes, for previews alone.
PYTHON ?= python3
TORCH ?= torch==2.13.0+cpu
TORCH_LATEST ?= torch==2.15.0
SOURCES = compiler server scripts tests benchmarks
# Tests wait for processes a good part of the time: four at a time on two cores.
PYTEST = -m pytest -n 4 --dist loadgroup
SLOW = and not slow
# Programs of the corpora: all but some proofs without stored runs, or all of them anew.
CORPORA = drawn
CODE_SERVER = .cache/code-server/node_modules/.bin/code-server

export PATH := $(CURDIR)/.cache/node/node_modules/.bin:$(PATH)
# Hundreds of processes import the same files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test test-all test-latest quick lint lint-python lint-client unit pytest truth preview e2e vsix demo bench setup clean

# VS Code leaves a core idle most of the time. What runs beside something else is printed at its end.
test: lint vsix unit pytest
	$(MAKE) --no-print-directory --output-sync=target -j2 SLOW="$(SLOW)" preview e2e

# Slow tests, too, and new runs of all programs of the corpora, for some hours.
test-all: SLOW =
test-all: CORPORA = anew
test-all: .venv/truth test

# Lint, and what needs neither torch nor an editor: for every change.
quick: lint unit build/fullgraph.vsix
	.venv/bin/python $(PYTEST) tests/server

# Checks of Python and of TypeScript side by side.
lint: .venv/ready node_modules/ready
	$(MAKE) --no-print-directory -j2 lint-python lint-client

lint-python: .venv/ready
	.venv/bin/ruff check $(SOURCES)
	.venv/bin/ruff format --check $(SOURCES)
	.venv/bin/mypy

lint-client: node_modules/ready
	npm run --silent check

unit: node_modules/ready
	npm test --silent

pytest: .venv/ready build/fullgraph.vsix .cache/editors
	.venv/bin/python $(PYTEST) -m "not gpu and not preview $(SLOW)" --corpora=$(CORPORA) $(PYTEST_ARGS)

# Reports beside torch's own logs: each program runs twice, once with TorchInductor.
truth: .venv/truth
	.venv/bin/python $(PYTEST) -m "not gpu and not preview" --tb=no -q tests/e2e/corpora/test_truth.py $(PYTEST_ARGS)

# Kernels for a GPU that is not there need a torch that is built for CUDA, as the newest one is.
preview: .venv/ready .venv-latest/ready
	.venv-latest/bin/python $(PYTEST) -m "preview $(SLOW)" tests/compiler tests/e2e

e2e: .venv/ready .venv-latest/ready build/fullgraph.vsix .cache/code-server/ready .cache/chromium
	SLOW="$(SLOW)" npm run --silent e2e

test-latest: .venv-latest/ready build/fullgraph.vsix .cache/editors
	.venv-latest/bin/python $(PYTEST) $(PYTEST_ARGS)

vsix: build/fullgraph.vsix

demo: .venv/ready build/fullgraph.vsix .cache/code-server/ready
	@scripts/demo.sh build/fullgraph.vsix $(CODE_SERVER)

bench: .venv/ready build/fullgraph.vsix .cache/code-server/ready .cache/chromium
	.venv/bin/python benchmarks/check_toy.py
	.venv/bin/python benchmarks/observing.py
	.venv/bin/python benchmarks/pytest_plugin.py
	.venv/bin/python benchmarks/hover.py
	.venv/bin/python benchmarks/kernels.py
	.venv/bin/python benchmarks/trace.py
	.venv/bin/python benchmarks/trace_ranks.py
	.venv/bin/python benchmarks/dry_run.py
	.venv/bin/python benchmarks/latency.py
	.venv/bin/python benchmarks/notebooks.py
	.venv/bin/python benchmarks/soak.py
	.venv/bin/python benchmarks/minifier.py
	npm run --silent bench

setup: .venv/ready node_modules/ready .cache/code-server/ready .cache/chromium .cache/editors

# The extension

# A release names the repository, so that the marketplace can follow the links of the README.
LINKS ?= --no-rewrite-relative-links
PACKED = $(shell find extension server compiler -type f -not -path '*/__pycache__/*')

build/fullgraph.vsix: package.json package.nls.json CHANGELOG.md LICENSE scripts/vsix.sh $(PACKED) node_modules/ready bundled/ready
	npm run --silent build
	scripts/vsix.sh $@ $(LINKS)

bundled/ready: server/requirements.txt .venv/ready
	scripts/bundle_libs.sh .venv/bin/python
	touch $@

# What is needed for it

.venv/ready: pyproject.toml scripts/setup.sh scripts/install_torch.sh
	scripts/setup.sh .venv $(PYTHON) "$(TORCH)"

.venv/truth: .venv/ready scripts/install_truth.sh
	scripts/install_truth.sh .venv/bin/python
	touch $@

.venv-latest/ready: pyproject.toml scripts/setup.sh scripts/install_torch.sh
	scripts/setup.sh .venv-latest $(PYTHON) "$(TORCH_LATEST)"

.cache/node/ready: scripts/node.sh
	scripts/node.sh .cache/node

node_modules/ready: package-lock.json .cache/node/ready
	npm ci
	touch $@

.cache/code-server/ready: scripts/code_server.sh .cache/node/ready
	scripts/code_server.sh $(CURDIR)/.cache/code-server $(CURDIR)/.cache/node/headers

.cache/chromium:
	command -v chromium >/dev/null || scripts/packages.sh chromium fonts-dejavu-core
	touch $@

# Eglot is part of Emacs 29 and newer.
.cache/editors:
	command -v nvim >/dev/null || scripts/packages.sh neovim
	command -v emacs >/dev/null || scripts/packages.sh emacs-nox
	emacs --batch --load eglot 2>/dev/null || scripts/packages.sh elpa-eglot
	mkdir -p .cache && touch $@

clean:
	rm -rf .venv .venv-latest .cache .mypy_cache .pytest_cache .ruff_cache build bundled dist node_modules
