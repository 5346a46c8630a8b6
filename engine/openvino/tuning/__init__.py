"""Measures pipelines against each other, in one process and without a server, to find the fastest options."""
