"""Schemathesis against any server: generated requests, all checks, and refusals that must be true."""
