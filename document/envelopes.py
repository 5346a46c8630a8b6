"""Which form an error of a system has, as the head of its dialect says."""

from typing import Any


def envelope_of(errors: dict[str, Any], endpoint: str | None, status: int | str) -> str:
    """Returns the name of the envelope of a status: the one of the endpoint's own errors, else of the status, else the
    one that errors have elsewhere."""
    own: dict[str, str] = errors.get("envelopes_at", {}).get(endpoint, {})
    found: str = own.get(str(status)) or errors.get("envelopes", {}).get(str(status), errors["envelope"])
    return found
