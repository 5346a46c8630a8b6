"""Telemetry: the access log, Prometheus metrics, and OpenTelemetry traces and metrics.

All of it is based on two records: of an HTTP exchange (`server/operations/exchange.py`), and of a generation
(`handlers/measuring.py`). They contain counts, times and codes, so no prompt, response, key or query gets into logs.
"""
