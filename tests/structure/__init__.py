"""The shape of the project, read from its own imports and tables, and what the documents say of it."""

ANEW = "draw it anew: PYTHONPATH=tests .venv/bin/python -m structure"
