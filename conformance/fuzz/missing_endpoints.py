"""The endpoints of a dialect's document that a server hasn't: nothing can be generated for those."""

from typing import Any
from urllib.parse import quote

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.document import body_fields
from specvino.conformance.fuzz.refusals.prompts import TOKEN_LIMITS
from specvino.conformance.fuzz.request_limits import SMALL
from specvino.conformance.fuzz.server import Server
from specvino.document.operations import Operation
from specvino.document.pointers import resolved

MISSING = (404, 405, 501)


def missing(server: Server, dialect: Dialect, model: str) -> dict[str, str]:
    """Says by endpoint why it is left out. Raises OSError for a server that doesn't answer."""
    found: dict[str, str] = {}
    for endpoint, operation in dialect.operations.items():
        path = operation.path.replace("{model}", quote(model, safe=""))
        if operation.is_only_at_root:
            found[endpoint] = "it is not under the base URL"
            continue
        if "{response_id}" in path:
            kept = _kept(server, model)  # of its own: the one before may have been deleted
            if kept is None:
                found[endpoint] = "the server keeps no responses"
                continue
            path = path.replace("{response_id}", quote(kept, safe=""))
        status = server.status(operation.method, path, _example(dialect, operation, model))
        if status in MISSING:
            found[endpoint] = f"the server answers {status}: it has no {operation.method} {operation.path}"
    return found


def heeds_keys(server: Server, dialect: Dialect, model: str) -> bool:
    """Tells whether the server refuses a wrong key anywhere; else it was started without one."""
    return any(
        server.status(each.method, each.path, _example(dialect, each, model), key="wrong") in (401, 403)
        for each in dialect.operations.values()
        if "{" not in each.path and each.definition.get("security") != []
    )


def _kept(server: Server, model: str) -> str | None:
    try:
        return server.new_response(model, background=False)
    except (OSError, LookupError, TypeError, ValueError):  # it has something else under that name, or nothing
        return None


def _example(dialect: Dialect, operation: Operation, model: str) -> dict[str, Any] | None:
    """Returns a small valid request; None for an operation that takes no body."""
    body = resolved(dialect.document, operation.definition.get("requestBody", {}))
    examples = body.get("content", {}).get("application/json", {}).get("examples", {})
    for example in examples.values():
        value = {name: each for name, each in example["value"].items() if not name.startswith("stream")}
        known = body_fields(operation)
        limit = next(({name: SMALL} for name in TOKEN_LIMITS if name in known), {})
        return {name: each for name, each in value.items() if name not in TOKEN_LIMITS} | limit | {"model": model}
    return None
