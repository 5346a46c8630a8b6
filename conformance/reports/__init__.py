"""Reports of what a run found, for people and for programs.

A run becomes records (`records.py`): a header, a result for each rule, a footer. Every report is made of these. So a
file of them (`ndjson.py`) gives the same reports later, and nothing gets into one that `redact.py` hasn't seen.
"""
