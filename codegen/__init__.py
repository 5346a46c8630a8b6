"""Turns openapi/ into generated/: bundle, merge, lint, lower, emit.

Runs as `python -m specvino.codegen` when generated/ is absent or broken, so of this project it imports `document` only,
and of that not `loading`, which reads generated/.
"""
