# `make serve` and `make test` do all the set-up on a fresh machine that has Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
TOX := $(VENV)/bin/tox

.PHONY: serve test quick dev codegen clean

# Arguments for the server go into ARGS: make serve ARGS="--port 9000"
serve: $(VENV)/serve.done
	$(VENV)/bin/specvino serve $(ARGS)

test: $(TOX)
	$(TOX) run-parallel --parallel 2 --parallel-no-spinner -e lint,types,imports,spec,sdk
	$(TOX) run -e py

# The part of it that takes 1 min 40 s on 2 cores; tests/README.md says what is left out.
quick: $(TOX)
	$(TOX) run -e quick

# Everything in .venv, from the folders as they are, for single commands.
dev: $(TOX)
	$(VENV)/bin/python -m pip install --quiet --quiet --constraint constraints.txt \
	    --group test --group lint --group types --editable ".[serve,fuzz,codegen,docs,sdk]"

codegen: $(TOX)
	$(TOX) run -e codegen

clean:
	rm -rf $(VENV) .tox .dev build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Specvino needs Python 3.11 or newer; this is ' + sys.version.split()[0])"
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"

$(TOX): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --group dev
	touch $@

$(VENV)/serve.done: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --quiet --editable ".[serve]"
	touch $@
