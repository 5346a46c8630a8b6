"""Turns openapi/ into generated/: bundle, merge, lint, lower, emit.

`python -m specvino.codegen` has to run when generated/ is missing or broken. So it imports only `document`, and of that
not `loading`, which reads generated/.
"""
