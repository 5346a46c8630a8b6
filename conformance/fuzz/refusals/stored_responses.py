"""Verifies refusals that concern stored responses, with further requests to the server."""

import re
from typing import Any

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server


def response_not_found(refused: RefusedRequest, server: Server) -> bool:
    id = _id(refused)
    return id is not None and server.response(id) is None


def response_not_finished(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the response is a background response; it may be finished by now."""
    return bool(_stored(refused, server).get("background"))


def response_not_cancellable(refused: RefusedRequest, server: Server) -> bool:
    return _stored(refused, server).get("background") is False


def item_not_found(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the response has no such item, or the item is a reference in the input: these aren't verified."""
    item = refused.value((refused.param or "").removesuffix(".id"))
    if isinstance(item, dict) and item.get("type") == "item_reference":
        return True
    id, after = refused.path_parameters.get("response_id"), refused.query.get("after")
    return id is not None and after is not None and after not in server.input_items(id)


def store_unavailable(refused: RefusedRequest, server: Server) -> bool:
    return _id(refused) is not None or refused.value("background") is True


def invalid_encrypted_content(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the item has encrypted reasoning: the server can't have encrypted generated content."""
    match = re.fullmatch(r"input\.(\d+)\.encrypted_content", refused.param or "")
    item = refused.value(f"input.{match[1]}") if match else None
    return isinstance(item, dict) and item.get("type") == "reasoning" and bool(item.get("encrypted_content"))


def _id(refused: RefusedRequest) -> str | None:
    return refused.path_parameters.get("response_id") or refused.value("previous_response_id")


def _stored(refused: RefusedRequest, server: Server) -> dict[str, Any]:
    id = _id(refused)
    return (server.response(id) if id else None) or {}
