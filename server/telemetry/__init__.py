"""What is seen of the server from outside: the access log, Prometheus' metrics, OpenTelemetry's traces and metrics.

All of it is made of two records: of an HTTP exchange (`exchange.py`), and of a generation (`handlers/measuring.py`).
They hold counts, times and codes: no prompt, no answer, no key and no query can get into a log by them.
"""
