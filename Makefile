# `make demo` and `make test` need Python 3.11 to 3.13 and a package index, nothing else.
.DEFAULT_GOAL := help
.PHONY: help setup demo check docs quick test clients scorers images images-check alerts chaos load clean
BIN := .venv/bin

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## make .venv; the second run takes about a second
	@scripts/setup

demo: setup ## run the whole service on a small model, and print the report
	@$(BIN)/gigavqa demo

check: setup docs ## lint, types, import contracts, docs, and whether the client that waits is what the other one makes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/sync_client.py --check

docs: setup ## build the site of docs/ into build/site; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

quick: setup ## the fast tests of one room: `make quick ROOM=service`; names those that are slow and not marked so
	$(BIN)/pytest tests/$(ROOM) -m "not slow and not engine" --durations 5

test: check ## check, then every test, on two cores: those with the real engine last, file by file
	$(BIN)/pytest -m "not engine" -n 2 --dist worksteal; apart=$$?; $(BIN)/pytest -m engine -n 2 --dist loadfile && exit $$apart

clients: setup ## install clients of OpenAI's API that others wrote, and try each for each feature: a table, an exit status
	@scripts/clients
	$(BIN)/python -m tests.clients $(CLIENTS)

scorers: setup ## work every number of four benchmarks out again from 50 seeded data sets each, by scorers of their own
	$(BIN)/python -m tests.scorers --seeds 50

images: ## build the images that need no GPU, with buildah; scripts/images has what can be said
	@scripts/images

images-check: ## start those images by compose.yaml, and play a job through them
	@scripts/images-check

alerts: setup ## fire every alert of a real Prometheus by its fault, in a real installation that may mount small disks
	GIGAVQA_EVERY_FAULT=1 $$(unshare -rm true 2>/dev/null && echo unshare -rm) $(BIN)/pytest tests/watching

chaos: setup ## hurt installations on this machine in every way that is known, and 10,000 steps of the queue's model
	$(BIN)/python -m loadtests.chaos
	GIGAVQA_QUEUE_STEPS=10000 $(BIN)/pytest --timeout 0 tests/store/test_queue_model.py

load: setup ## every shape of traffic against an installation of its own: CSV, HTML, a table, an exit status
	$(BIN)/python -m loadtests --folder build/loadtests

clean: ## delete .venv and caches; what the service keeps in GIGAVQA_HOME stays
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
