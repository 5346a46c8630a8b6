"""Verifies refusals that concern stored responses and conversations, with further requests to the server."""

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


def conversation_not_found(refused: RefusedRequest, server: Server) -> bool:
    id = _conversation(refused)
    return id is not None and server.conversation(id) is None


def response_in_conversation(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the response, or one that it continues, was made in a conversation."""
    id = _id(refused)
    while id and (response := server.response(id)):
        if response.get("conversation"):
            return True
        id = response.get("previous_response_id")
    return False


def stored_items_too_large(refused: RefusedRequest, server: Server) -> bool:
    """Returns False: what generated requests store is far below the bounds."""
    return False


def response_not_finished(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the response is a background response; it may be finished by now."""
    return bool(_stored(refused, server).get("background"))


def response_not_cancellable(refused: RefusedRequest, server: Server) -> bool:
    return _stored(refused, server).get("background") is False


def item_not_found(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the response or conversation has no such item, or the item is a reference in the request: these
    aren't verified."""
    item = refused.value((refused.param or "").removesuffix(".id"))
    if isinstance(item, dict) and item.get("type") == "item_reference":
        return True
    named = refused.path_parameters.get("item_id") or refused.query.get("after")
    if named is None:
        return False
    if id := refused.path_parameters.get("conversation_id"):
        return named not in server.conversation_items(id)
    id = refused.path_parameters.get("response_id")
    return id is not None and named not in server.input_items(id)


def not_found(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the server stores no conversations."""
    return "conversation" in refused.endpoint and server.new_conversation() is None


def store_unavailable(refused: RefusedRequest, server: Server) -> bool:
    stored = (_id(refused), _conversation(refused))
    return stored != (None, None) or refused.value("background") is True or refused.endpoint == "conversations"


def invalid_encrypted_content(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the item or block has encrypted or signed reasoning: the server can't have encrypted generated
    content."""
    parent, _, field = (refused.param or "").rpartition(".")
    item = refused.value(parent)
    if not isinstance(item, dict) or field not in _ENCRYPTED.get(item.get("type", ""), ()):
        return False
    return bool(item.get(field))


def _id(refused: RefusedRequest) -> str | None:
    return refused.path_parameters.get("response_id") or refused.value("previous_response_id")


def _conversation(refused: RefusedRequest) -> str | None:
    named = refused.value("conversation.id") or refused.value("conversation")
    return refused.path_parameters.get("conversation_id") or named


def _stored(refused: RefusedRequest, server: Server) -> dict[str, Any]:
    id = _id(refused)
    return (server.response(id) if id else None) or {}
