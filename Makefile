# Everything runs from python3 alone: .venv is made here, uv is installed into it, and uv installs what the
# committed lock files say, by hash. Nothing is installed outside this folder.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY  := $(VENV)/.ready
UV     := UV_CACHE_DIR=$(abspath $(VENV))/uv-cache UV_NO_PROGRESS=1 UV_COMPILE_BYTECODE=1 $(BIN)/uv
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test deep lint types docs docs-write crash crash-short security bench bench-recall bench-context bench-tree bench-digest house hosts picture check lock changelog clean bench-capture

help: ## what each command does
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(READY): pyproject.toml requirements/uv.lock requirements/dev.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Commonplace needs Python 3.11 or newer; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.lock
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements/uv.lock requirements/dev.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

run: $(READY) ## set up, then a short guided tour: memories stored, found, corrected, and their files
	@$(BIN)/commonplace tour

test: $(READY) ## the tests (about four minutes on two cores)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not deep"

deep: $(READY) ## the tests that take long, and every property test with more examples (COMMONPLACE_DEEP=1: many more)
	COMMONPLACE_DEEP=$${COMMONPLACE_DEEP:-short} $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "deep or hypothesis"

lint: $(READY) ## style, the layer rule, the changelog fragments
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tools/check_changelog.py

types: $(READY) ## strict type checking, as Linux, Windows and macOS see it
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 src
	$(BIN)/mypy --platform darwin src

docs: $(READY) ## every example in the docs is run, every link followed
	$(BIN)/python -m pytest -q tests/docs

docs-write: $(READY) ## write the generated documents anew: docs/cli.md, docs/cli-schemas.json, docs/errors.md and more
	$(BIN)/python -m tools.make_docs

crash: $(READY) ## crash points on a simulated disk, real power cuts on ext4 (root), kill -9, injected faults
	$(BIN)/python -m tests.crash
	COMMONPLACE_DEEP=1 $(BIN)/python -m pytest -q tests/stateful

crash-short: $(READY) ## the same in under two minutes, for CI
	$(BIN)/python -m tests.crash --short

security: $(READY) ## path escapes, forged structure, fences
	$(BIN)/python -m pytest -q tests/security

bench: $(READY) ## speed as ratios to a floor measured in the same run
	$(BIN)/python -m tests.bench

bench-recall: $(READY) ## how well recall finds, on every set that is here; DATA=FILE: one set, as JSON; ARGS=--ablate
	@$(BIN)/python -m tests.bench.recall $(if $(DATA),--json --data "$(DATA)") $(if $(DATA_DIR),--data-dir "$(DATA_DIR)") $(ARGS)

bench-tree: $(READY) ## how well the tree finds what was said in mail and chat, and by whom; ARGS=--misses, DATA_DIR=FOLDER
	@$(BIN)/python -m tests.bench.tree_quality $(if $(DATA_DIR),--data-dir "$(DATA_DIR)") $(ARGS)

bench-digest: $(READY) ## how well digests, topics and summaries tell what happened; DATA_DIR=FOLDER: chats too; ARGS=--misses
	@$(BIN)/python -m tests.bench.digest_quality $(if $(DATA_DIR),--data-dir "$(DATA_DIR)") $(ARGS)

bench-context: $(READY) ## what agents are told unasked: standing preferences, what helps at a prompt, noise; ARGS=--gate
	@$(BIN)/python -m tests.bench.context $(ARGS)

bench-capture: $(READY) ## how much of what users say for good capture proposes, on forty transcripts
	@$(BIN)/python -m tests.bench.capture

house: $(READY) ## structure figures: tokens, files, imports inside functions, cycles, rooms crossed by a store
	$(BIN)/python -m tools.house

picture: $(READY) ## draw docs/terminal.svg anew: a real terminal session in a scratch book (not on Windows)
	$(BIN)/python -m tools.picture

hosts: $(READY) ## the real agent programs, from npm, connect, load and run what we generate (a big download)
	$(BIN)/python -m tests.hosts
	$(BIN)/python -m tests.hosts.connected

check: lint types docs test deep security crash-short ## all of the above that needs no big download

lock: ## renew the lock files from pyproject.toml and requirements/*.in
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" requirements/uv.in -o requirements/uv.lock
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" pyproject.toml --group dev requirements/build.in -o requirements/dev.lock

changelog: $(READY) ## show what the next release notes will say
	$(BIN)/towncrier build --draft --version next

clean: ## remove what make made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
