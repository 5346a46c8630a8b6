"""Reports of a run, for people and programs.

A run becomes records (`records.py`), from which all reports are made: a file of records (`ndjson.py`) gives the same
reports later, and all text has passed `redact.py`.
"""
