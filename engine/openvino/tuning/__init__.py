"""Compares pipelines in one process, without a server, to find the fastest options."""
