"""Requests of a case, as an ordinary client sends them, and what is expected of the answers."""
