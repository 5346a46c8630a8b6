"""Verifies refusals that concern stored responses, with further requests to the server."""

from typing import Any

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server

# The fields with encrypted contents, or with what a signature is for, by the type of an item or block.
_ENCRYPTED = {
    "reasoning": ("encrypted_content",),
    "compaction": ("encrypted_content",),
    "thinking": ("signature", "thinking"),
    "redacted_thinking": ("data",),
}


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
    """Returns whether the item or block has encrypted or signed reasoning: the server can't have encrypted generated
    content."""
    place, _, field = (refused.param or "").rpartition(".")
    item = refused.value(place)
    if not isinstance(item, dict) or field not in _ENCRYPTED.get(item.get("type", ""), ()):
        return False
    return bool(item.get(field))


def _id(refused: RefusedRequest) -> str | None:
    return refused.path_parameters.get("response_id") or refused.value("previous_response_id")


def _stored(refused: RefusedRequest, server: Server) -> dict[str, Any]:
    id = _id(refused)
    return (server.response(id) if id else None) or {}
