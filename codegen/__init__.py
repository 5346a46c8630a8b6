"""Turns openapi/ into generated/: bundle, merge, lint, lower, emit.

Runs as `python -m specvino.codegen` when generated/ is absent or broken, so it imports nothing else of this project.
"""
