"""Reports of a run, for people and for programs.

A run becomes records (`records.py`): a header, a result for each rule, a footer. Every report is made from these. So a
file of them (`ndjson.py`) gives the same reports later, and everything in a report has passed through `redact.py`."""
