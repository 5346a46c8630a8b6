"""Proofs: each field that is supported changes the answer, and without it the proof fails.

A test marked `@proves("chat.stop", "completions.stop")` runs for each of these fields, unary and streamed, and each
time twice: as it is, and with that field dropped from every request on its way to the server, when its assertion must
fail. Fields are named as the support tables name them; a query parameter is `response.query.stream`.
"""

import pytest

proves = pytest.mark.proves
"""`on` names the fixture of the server, `ways` leaves out "unary" or "streamed" where one shows nothing."""


def everywhere(*names: str) -> tuple[str, ...]:
    """The fields that have these names on chat, completions and responses."""
    return tuple(f"{endpoint}.{name}" for endpoint in ("chat", "completions", "responses") for name in names)
