# The one way to build, test and try spark-zorder. Everything made lies under target/ and python/dist.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# Python that makes the virtual environments, 3.11 or newer
PYTHON ?= python3
# a Spark or a package path of the caller must not get into builds and tests
unexport SPARK_HOME PYTHONPATH

VERSION := $(shell cat VERSION)
SOURCES := VERSION LICENSE NOTICE build.sbt $(shell find project jvm -type f -not -path '*/target/*' -not -path 'project/project/*')
PACKAGE := LICENSE NOTICE python/pyproject.toml $(shell find python/src -type f -not -name '*.pyc')
WHEEL := python/dist/spark_zorder-$(VERSION)-py3-none-any.whl
DEV_WHEEL := target/dev-wheel/spark_zorder-$(VERSION)-py3-none-any.whl
TOOLS := target/venv/tools/bin
LINTED := python tests tools examples $(wildcard benchmarks)

.PHONY: help prerequisites demo test test-all suite jars wheel release release-check build-facts public-api notebook lint \
  lint-python lint-jvm fmt docs cluster-test comet-test fault-test readers-test store-test hostile-test random-test mutants clean venv-3.5 venv-4.1 \
  venv-4.3 venv-tools venv-docs venv-readers venv-release venv-dbt

help: ## shows this list
	@sed -n 's/^\([a-z][a-z0-9.-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 18
	@echo '  bench-help      the measurements, each a target of its own'

prerequisites:
	@tools/prerequisites.sh $(PYTHON)

demo: $(DEV_WHEEL) ## the main job on real data, from nothing: look-ups before and after ZORDER TABLE
	tools/install_wheel.sh 4.3 target/dev-wheel
	target/venv/4.3/bin/python benchmarks/demo/demo.py

test: prerequisites venv-4.3 ## everything that CI runs: under half an hour on two cores
	@$(PYTHON) tools/run_tests.py

test-all: prerequisites venv-4.1 venv-4.3 venv-dbt ## all tests, before a release: nearly three hours on two cores
	@$(PYTHON) tools/run_tests.py --all

suite: prerequisites ## one suite of the JVM: make suite SUITE=LexerSuite [LINE=spark41_213]
	@project=$(LINE); where=$$(grep -rlw "class $(SUITE)" tests/jvm || true); \
	case "$$where" in \
	  '') echo "There is no suite $(SUITE) in tests/jvm." >&2; exit 1;; \
	  tests/jvm/curve/*) project=$${project:-curve_212};; \
	  tests/jvm/store/*) project=$${project:-store_212};; \
	  tests/jvm/hdfs/*) project=$${project:-hdfs_212};; \
	  *) project=$${project:-spark35_212};; \
	esac; \
	tools/sbt.sh "$$project/testOnly *.$(SUITE)"

jars: target/jars/.built ## one small jar for each Spark line, in target/jars

wheel: $(WHEEL) ## the wheel with all jars, in python/dist

release: prerequisites venv-4.3 venv-tools ## all that would be published, in target/release: a Maven repository, wheel and sdist, SBOM
	rm -rf target/release
	tools/sbt.sh exportSparkLines release
	$(TOOLS)/python tools/build_wheel.py --sdist --out target/release/pypi
	$(TOOLS)/python tools/release/sbom.py

release-check: prerequisites venv-4.3 venv-tools venv-release ## the same from a clean clone of HEAD, and looks at all of it: minutes
	target/venv/release/bin/python tools/release/check.py

build-facts: ## version and table of Spark lines into the docs, from VERSION and project/SparkLines.scala
	tools/sbt.sh exportSparkLines
	$(PYTHON) tools/build_facts.py

public-api: $(WHEEL) venv-4.3 ## docs/reference/public-api.txt and scala.md as they are now, after a change that is meant
	tools/install_wheel.sh 4.3 python/dist
	target/venv/4.3/bin/python tools/public_api.py
	target/venv/4.3/bin/python tools/scala_page.py

notebook: $(DEV_WHEEL) ## runs examples/slow_to_fast.ipynb and keeps what it shows
	tools/install_wheel.sh 4.3 target/dev-wheel
	target/venv/4.3/bin/python tools/notebook.py

lint: lint-python lint-jvm ## scalafmt, scalafix, ruff and mypy; changes nothing

lint-python: venv-4.3 venv-tools
	$(TOOLS)/ruff check --config python/pyproject.toml $(LINTED)
	$(TOOLS)/ruff format --check --config python/pyproject.toml $(LINTED)
	$(TOOLS)/mypy --config-file python/pyproject.toml --python-executable target/venv/4.3/bin/python \
	  --cache-dir target/mypy python/src/spark_zorder

lint-jvm: venv-4.3
	tools/sbt.sh lint

fmt: venv-4.3 venv-tools ## formats Scala and Python sources
	$(TOOLS)/ruff check --fix --config python/pyproject.toml $(LINTED)
	$(TOOLS)/ruff format --config python/pyproject.toml $(LINTED)
	tools/sbt.sh fmt

docs: venv-docs ## the documentation as a site in target/site, to be opened in a browser; asks no host for anything
	NO_MKDOCS_2_WARNING=1 target/venv/docs/bin/mkdocs build --strict --quiet
	@echo 'the site: target/site/index.html'

include benchmarks/Makefile

cluster-test: $(WHEEL) ## a standalone cluster on this machine, and five ways to bring spark-zorder to it: minutes
	tools/install_wheel.sh 4.3 python/dist
	target/venv/4.3/bin/python tests/cluster/run.py --wheel $(WHEEL) \
	  --jar target/jars/spark-zorder-spark4.3_2.13-$(VERSION).jar

comet-test: venv-4.1 $(WHEEL) ## queries on Spark 4.1 with DataFusion Comet: the same rows and the same files
	tools/install_wheel.sh 4.1 python/dist
	target/venv/4.1/bin/python tests/comet/run.py

fault-test: venv-3.5 venv-4.1 target/jars/.built-3.5 target/jars/.built-4.1 ## appends during runs, races with a writer that never stops, then 500 kills of drivers on every format, and 200 during exchanges, on the local disk and on HDFS: hours
	target/venv/3.5/bin/python tests/fault/crowd.py --runs 20 --result benchmarks/results/$$(date +%F)-crowd.md
	target/venv/3.5/bin/python tests/fault/rebase_race.py --runs 100 --result benchmarks/results/$$(date +%F)-races.md
	target/venv/4.1/bin/python tests/fault/rebase_race.py --runs 100 --result benchmarks/results/$$(date +%F)-races-4.1.md
	target/venv/3.5/bin/python tests/fault/run.py --kills 500 --result benchmarks/results/$$(date +%F)-faults.md
	target/venv/3.5/bin/python tests/fault/exchange.py --kills 100 --storage local --result benchmarks/results/$$(date +%F)-exchange.md
	target/venv/3.5/bin/python tests/fault/exchange.py --kills 100 --storage hdfs --result benchmarks/results/$$(date +%F)-exchange.md

readers-test: venv-3.5 venv-readers target/jars/.built-3.5 ## a liquid table that we, delta-rs and Delta's OPTIMIZE work on in turn: a minute
	target/venv/3.5/bin/python tests/fault/liquid_by_others.py

hostile-test: venv-3.5 target/jars/.built-3.5 ## odd tables, names, values and settings, each checked by an oracle: 3 minutes
	target/venv/3.5/bin/python -m pytest tests/hostile

random-test: prerequisites ## queries at random of Parquet, Delta and Iceberg tables, with our skipping and without, 20,000 of each: hours
	SPARK_ZORDER_RANDOM_QUERIES=$${SPARK_ZORDER_RANDOM_QUERIES:-20000} \
	  tools/sbt.sh '$(or $(LINE),spark35_212)/testOnly *AtRandomSuite'

mutants: prerequisites ## breaks the rules of skipping one by one: each time a suite must fail; more than an hour
	$(PYTHON) tests/mutants/run.py

store-test: prerequisites ## tables on an S3 server on loopback: all tests, and requests for each statement; needs Go
	tools/s3_server.sh
	tools/sbt.sh store_212/test
	cp target/store-requests.md benchmarks/results/$$(date +%F)-store.md

clean: ## removes all that was built, but not the virtual environments and tools
	rm -rf target/jars target/release target/release-clone target/site target/sbt target/wheel target/dev-wheel target/test-reports target/mypy target/class-archive-* \
	  target/spark-lines.json python/dist

venv-3.5 venv-4.1 venv-4.3 venv-tools venv-docs venv-readers venv-release venv-dbt: venv-%: prerequisites
	@tools/venv.sh $(PYTHON) $*

# stamps: the folder holds what these sources give
target/jars/.built: $(SOURCES) | prerequisites venv-4.3
	tools/sbt.sh exportSparkLines jars
	@touch target/jars/.built-3.5 target/jars/.built-4.1 target/jars/.built-4.3 $@

target/jars/.built-4.3: $(SOURCES) | prerequisites venv-4.3
	tools/sbt.sh exportSparkLines spark43_213/package
	@touch $@

target/jars/.built-4.1: $(SOURCES) | prerequisites
	tools/sbt.sh spark41_213/package
	@touch $@

target/jars/.built-3.5: $(SOURCES) | prerequisites
	tools/sbt.sh spark35_212/package
	@touch $@

$(WHEEL): target/jars/.built $(PACKAGE) tools/build_wheel.py | venv-tools
	$(TOOLS)/python tools/build_wheel.py --out python/dist

$(DEV_WHEEL): target/jars/.built-4.3 $(PACKAGE) tools/build_wheel.py | venv-tools
	$(TOOLS)/python tools/build_wheel.py --out target/dev-wheel --lines 4.3
