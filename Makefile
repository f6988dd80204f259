# One job a target; `make help` lists them from the comments behind each target.
SHELL := /bin/bash
VENV ?= .venv
PY := $(VENV)/bin/python
PYTHON ?= python3
NB := notebooks
SAMPLE ?= sample_data/half-topic-blowup.tar.zst
OUT ?= out/demo
WARM := $(wildcard sample_data/transaction-consistency.tar.zst)
STAMP := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help env demo test lint notebooks recordings slow browser bench cluster-test lab-test bundle clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-13s %s\n", $$1, $$2}'

env: $(STAMP) ## build .venv and compile the kernels

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing --python $(PYTHON) $(VENV) && uv pip install -q --python $(PY) -r requirements.lock && uv pip install -q --python $(PY) --no-deps -e .; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(PY) -m pip install -q -r requirements.lock && $(PY) -m pip install -q --no-deps -e .; \
	fi
	@$(PY) -m kit.spark.warm $(WARM)
	@touch $(STAMP)

demo: env ## the main job on the sample: says where the report is
	@$(PY) -m kit report $(SAMPLE) --out $(OUT)

lint: env ## ruff, mypy, stripped notebooks
	@$(PY) -m ruff check kit tests benchmarks $(NB)
	@$(PY) -m mypy --cache-dir=/dev/null
	@$(VENV)/bin/nbstripout --verify $(NB)/*.ipynb

test: env lint ## lint, types, unit tests, small recordings, notebooks
	@$(PY) -m pytest -m "not recordings and not browser and not slow and not cluster and not lab"

notebooks: env ## run every notebook headless
	@$(PY) -m pytest tests/notebook

recordings: env ## every check on the whole recordings
	@if ls sample_data/*.tar.zst >/dev/null 2>&1; then $(PY) -m pytest -m "recordings and not slow"; else echo "no recordings here, nothing to check"; fi

slow: env ## more recordings with one kind of evidence taken away at a time
	@$(PY) -m pytest -m slow

browser: env ## the report and JupyterLab in a real Chromium
	@$(PY) -m pytest -m browser

lab-test: env ## every scenario of the live lab on real brokers (needs Maven, some ten minutes)
	@$(PY) -m pytest -m lab

bench: env ## speed beside RocketMQ's decoder, DuckDB, polars, Spark; growth, memory
	@$(PY) -c 'import duckdb, polars' 2>/dev/null || uv pip install -q --python $(PY) duckdb polars 2>/dev/null || $(PY) -m pip install -q duckdb polars || true
	@for each in decode logs triage growth; do echo "== $$each"; $(PY) -m benchmarks.$$each; done

cluster-test: env ## the same findings from a Spark standalone cluster and from object storage
	@$(PY) -c 'import moto.server' 2>/dev/null || uv pip install -q --python $(PY) 'moto[server]' 2>/dev/null || $(PY) -m pip install -q 'moto[server]'
	@$(PY) -m pytest -m cluster tests/spark/test_cluster.py

bundle: env ## everything for a host without a network: out/rmq-kit-bundle.tar
	@rm -rf out/bundle && mkdir -p out/bundle/rmq-kit/wheels
	@$(PY) -m pip --version >/dev/null 2>&1 || uv pip install -q --python $(PY) pip
	@$(PY) -m pip wheel -q -w out/bundle/rmq-kit/wheels -c requirements.lock .
	@$(PY) -c 'import platform as p, sysconfig as s; print("Python", p.python_version(), s.get_platform())' > out/bundle/rmq-kit/PLATFORM.txt
	@cp -r bundle/. README.md docs notebooks sample_data out/bundle/rmq-kit/
	@tar -cf out/rmq-kit-bundle.tar -C out/bundle rmq-kit && rm -rf out/bundle
	@ls -l out/rmq-kit-bundle.tar

clean: ## remove what the targets built
	@rm -rf out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis $(VENV)
