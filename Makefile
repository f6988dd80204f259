# One job a target; `make help` lists them from the comments behind each target.
SHELL := /bin/bash
# An activated environment that has this kit is used as it is; else .venv is built. `make VENV=…` names another.
ACTIVE := $(patsubst %/bin/rmq-kit,%,$(firstword $(wildcard $(addsuffix /bin/rmq-kit,$(VIRTUAL_ENV) $(CONDA_PREFIX)))))
IS_OURS := import kit, pathlib as p; at = p.Path(kit.__file__).parent; print(at == p.Path("$(CURDIR)/kit").resolve() or "site-packages" in at.parts)
ifeq ($(and $(filter-out $(CURDIR)/.venv,$(ACTIVE)),$(shell cd / && $(ACTIVE)/bin/python -c '$(IS_OURS)' 2>/dev/null)),True)
VENV ?= $(ACTIVE)
endif
VENV ?= .venv
AS_IT_IS := $(if $(filter $(ACTIVE),$(VENV)),$(filter-out $(CURDIR)/.venv,$(ACTIVE)))
STAMP := $(VENV)/$(if $(AS_IT_IS),share/rmq-kit/ready,.ready)
PY := $(VENV)/bin/python
PYTHON ?= python3
NB := notebooks
SAMPLE ?= sample_data/half-topic-blowup.tar.zst
OUT ?= out/demo
# `make demo ENGINE=spark`: Apache Spark on this machine's cores, and nothing of what the embedded engine kept.
ENGINE ?= embedded
ON_SPARK := $(filter spark,$(ENGINE))

# Without compiled modules every process of the tests and every kernel of a notebook compiles the kit again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help env demo test tests quick lint docs notebooks recordings slow browser bench spark-test spark-recordings cluster-test lab-test bundle locks clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-13s %s\n", $$1, $$2}'
	@echo "Environment: $(VENV)$(if $(AS_IT_IS), (activated; used as it is))"

env: $(STAMP) ## build .venv (or take the activated environment that has the kit), compile the kernels
	@echo "Environment: $(VENV)$(if $(AS_IT_IS), (activated; used as it is))"

$(STAMP): pyproject.toml requirements.lock
	@for python in $(if $(AS_IT_IS),$(PY),$(PYTHON) python3.13 python3.12 python3.11); do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && exec $$python tools/environment.py $(VENV) $(if $(AS_IT_IS),--as-it-is); \
	done; echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1 | head -n 1)" >&2; exit 2
	@mkdir -p $(@D) && touch $@

DEV := $(STAMP)-dev
$(DEV): $(STAMP) requirements-dev.lock
	@$(PY) tools/environment.py $(VENV) --dev
	@touch $@

SPARK := $(STAMP)-spark
$(SPARK): $(STAMP) requirements-spark.lock
	@$(PY) tools/environment.py $(VENV) --spark
	@touch $@

demo: env $(if $(ON_SPARK),$(SPARK)) ## the main job on the sample: what it found, and where the report is; OPEN=1 opens it in the browser, ENGINE=spark runs Apache Spark
	@$(PY) -m kit report $(SAMPLE) --out $(OUT) $(if $(ON_SPARK),--master 'local[*]' --workspace out/workspace-spark)
	@$(if $(OPEN),$(PY) -m webbrowser -t "file://$(abspath $(OUT))/report.html")

lint: env $(DEV) ## formatter, ruff, mypy, import contracts, lines of each room, stripped notebooks
	@$(PY) -m ruff format --check -q kit tests benchmarks tools
	@$(PY) -m ruff check -q kit tests benchmarks tools $(NB)
	@$(VENV)/bin/lint-imports --no-cache
	@$(PY) tools/rooms.py --check
	@$(PY) -m mypy
	@$(VENV)/bin/nbstripout --verify $(NB)/*.ipynb

test: env $(DEV) ## lint, types, unit tests, small recordings, notebooks; all of it at the same time
	@$(MAKE) --no-print-directory -j 2 lint tests

# Two workers, each with whole files, in the order of tests/conftest.py.
tests: env $(DEV)
	@$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not recordings and not browser and not slow and not cluster and not lab and not apache"

quick: env $(DEV) ## the tests that need no Spark and take no second each, on two workers: the loop while writing
	@$(PY) -m pytest --no-spark -n 2 -m "not spark and not seconds and not recordings and not browser and not slow and not cluster and not lab and not apache"

docs: env $(DEV) ## the documentation site into site/, offline
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build -q --strict -d site

notebooks: env $(DEV) ## run every notebook headless
	@$(PY) -m pytest tests/notebook

recordings: env $(DEV) ## every check on the whole recordings; ONLY=tests/golden: their findings alone
	@if ls sample_data/*.tar.zst >/dev/null 2>&1; then $(PY) -m pytest -m "recordings and not slow and not apache" $(ONLY); else echo "no recordings here, nothing to check"; fi

slow: env $(DEV) ## more recordings with one kind of evidence taken away at a time
	@$(PY) -m pytest -m slow

browser: env $(DEV) ## the report and JupyterLab in a real Chromium; ONLY=tests/browser/test_report_page.py: the report alone
	@$(PY) -m pytest -m browser $(ONLY)

lab-test: env $(DEV) ## every scenario of the live lab on real brokers (needs Maven, some ten minutes)
	@$(PY) -m pytest -m lab

bench: env $(DEV) $(SPARK) ## speed beside RocketMQ's decoder, DuckDB, polars, Spark; growth, memory
	@$(PY) -c 'import duckdb, polars' 2>/dev/null || uv pip install -q --python $(PY) duckdb polars 2>/dev/null || $(PY) -m pip install -q duckdb polars || true
	@for each in explain decode logs triage growth; do echo "== $$each"; $(PY) -m benchmarks.$$each; done

spark-test: env $(DEV) $(SPARK) ## what both engines have to answer alike, on Apache Spark (installs it, and a Java where there is none)
	@$(PY) -m pytest -m "apache and not recordings"

spark-recordings: env $(DEV) $(SPARK) ## eight whole recordings on Apache Spark, minutes long
	@$(PY) -m pytest -m "apache and recordings"

cluster-test: env $(DEV) $(SPARK) ## the same findings from a Spark standalone cluster and from object storage
	@$(PY) -c 'import moto.server' 2>/dev/null || uv pip install -q --python $(PY) 'moto[server]' 2>/dev/null || $(PY) -m pip install -q 'moto[server]'
	@$(PY) -m pytest -m cluster tests/spark/test_cluster.py

bundle: env ## everything for a host without a network: out/rmq-kit-bundle.tar; ENGINE=spark adds Apache Spark and a Java
	@rm -rf out/bundle && mkdir -p out/bundle/rmq-kit/wheels
	@$(PY) -m pip --version >/dev/null 2>&1 || uv pip install -q --python $(PY) pip
	@$(PY) -m pip wheel -q -w out/bundle/rmq-kit/wheels -r requirements.lock $(if $(ON_SPARK),-r requirements-spark.lock)
	@$(PY) -m pip wheel -q --no-deps -w out/bundle/rmq-kit/wheels .
	@$(PY) -c 'import platform as p, sysconfig as s; print("Python", p.python_version(), s.get_platform())' > out/bundle/rmq-kit/PLATFORM.txt
	@cp -r bundle/. README.md docs notebooks sample_data out/bundle/rmq-kit/
	@tar -cf out/rmq-kit-bundle.tar -C out/bundle rmq-kit && rm -rf out/bundle
	@ls -l out/rmq-kit-bundle.tar

COMPILE := uv pip compile -q pyproject.toml --universal --generate-hashes --no-header --no-annotate
# What requirements.lock has not, and PySpark's client, which has to be of PySpark's release.
BESIDES := NR == FNR { if (/^[a-z]/) have[$$1]; next } /^[a-z]/ { new = !($$1 in have) || /^pyspark-client==/ } new
locks: ## pin anew what pyproject.toml asks for (needs uv); what still fits stays as it is, but for WITH='--upgrade-package numba'
	@$(COMPILE) $(WITH) -o requirements.lock
	@$(COMPILE) $(WITH) -c requirements.lock --extra dev -o requirements-dev.lock
	@mkdir -p out && cat requirements.lock requirements-spark.lock > out/spark.lock && $(COMPILE) --extra spark -o out/spark.lock
	@sed -n '1p' requirements-spark.lock > out/head.lock && awk '$(BESIDES)' requirements.lock out/spark.lock | cat out/head.lock - > requirements-spark.lock
	@rm out/spark.lock out/head.lock

clean: ## remove what the targets built
	@rm -rf out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis $(VENV)
