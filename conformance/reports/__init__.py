"""Reports of a run, for people and programs.

A run becomes records (`records.py`), from which all reports are made: a file of records (`ndjson.py`) gives the same
reports later. All text has passed `redact.py`, which hides keys, and `inert.py`.
"""
