"""The id of an answer that isn't stored."""

import uuid


def answer_id(prefix: str, request_id: str | None) -> str:
    """Returns an id of its own, or the caller's behind the prefix, which it may have itself."""
    if not request_id:
        return f"{prefix}{uuid.uuid4().hex}"
    return request_id if request_id.startswith(prefix) else f"{prefix}{request_id}"
