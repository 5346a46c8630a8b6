"""Decides whether the refusal of a valid request is justified.

Conditions between fields come from openapi/conditions.yaml, with the facts of the server's own document. Each other
code (images, prompts, schemas, …) has a predicate, which inspects the request and trusts the server as little as
possible.
"""

from collections.abc import Callable, Mapping
from functools import partial

from specvino.conformance.fuzz.refusals.images import (
    failed_to_download_image,
    invalid_image,
    invalid_image_url,
    unsupported_content,
)
from specvino.conformance.fuzz.refusals.prompts import (
    chat_template_error,
    context_length_exceeded,
    empty_prompt,
    insufficient_memory,
    invalid_prompt,
    text_too_long,
)
from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.refusals.stored_responses import (
    conversation_not_found,
    invalid_encrypted_content,
    item_not_found,
    not_found,
    response_in_conversation,
    response_not_cancellable,
    response_not_finished,
    response_not_found,
    store_unavailable,
    stored_items_too_large,
)
from specvino.conformance.fuzz.refusals.structured_outputs import invalid_schema, unsupported_schema
from specvino.conformance.fuzz.refusals.tools import invalid_value, unknown_tool, unsupported_tool
from specvino.conformance.fuzz.server import Server
from specvino.document.conditions import value_at
from specvino.document.loading import CONDITIONS, conditions_of, load


def is_justified(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the reason of a refusal applies to the request. Raises NoAnswer and BadStatus if the server must
    be queried and fails."""
    predicate = REFUSALS.get(refused.code)
    if predicate is not None and predicate(refused, server):
        return True
    conditions = conditions_of(refused.endpoint)
    refusals = conditions.refusals(partial(value_at, refused.body or {}), server.facts)
    return any((refusal.code, refusal.param) == (refused.code, refused.param) for refusal in refusals)


def known_codes() -> set[str]:
    """Returns the codes of all refusals that can be verified."""
    entries = [entry for endpoint in load(CONDITIONS)["endpoints"].values() for entry in endpoint.values()]
    return REFUSALS.keys() | {entry["code"] for entry in entries}


def model_not_found(refused: RefusedRequest, server: Server) -> bool:
    name = refused.path_parameters.get("model") or refused.value("model")
    return isinstance(name, str) and name not in server.models


REFUSALS: Mapping[str, Callable[[RefusedRequest, Server], bool]] = {
    predicate.__name__: predicate
    for predicate in (
        chat_template_error,
        context_length_exceeded,
        conversation_not_found,
        empty_prompt,
        failed_to_download_image,
        insufficient_memory,
        invalid_encrypted_content,
        invalid_image,
        invalid_image_url,
        invalid_prompt,
        invalid_schema,
        invalid_value,
        item_not_found,
        model_not_found,
        not_found,
        response_in_conversation,
        response_not_cancellable,
        response_not_finished,
        response_not_found,
        store_unavailable,
        stored_items_too_large,
        text_too_long,
        unknown_tool,
        unsupported_content,
        unsupported_schema,
        unsupported_tool,
    )
} | {"previous_response_not_found": response_not_found}
