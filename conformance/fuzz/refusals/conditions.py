"""The conditions that make a refusal true: what the document names as a reason really holds for the request.

A valid request may be refused only for a reason that its operation lists under `x-refusals`. Each code has a
predicate, which takes the server's word for as little as possible: mostly it looks at the request; what only the
server can know, like its limits and what it was started with, it must say the same each time.
"""

from collections.abc import Callable, Mapping

from specvino.conformance.fuzz.refusals.images import (
    failed_to_download_image,
    invalid_image,
    invalid_image_url,
    unsupported_content,
)
from specvino.conformance.fuzz.refusals.prompts import context_length_exceeded, invalid_prompt
from specvino.conformance.fuzz.refusals.refused import Refused
from specvino.conformance.fuzz.refusals.stored_responses import (
    invalid_encrypted_content,
    item_not_found,
    response_not_cancellable,
    response_not_finished,
    response_not_found,
    store_unavailable,
)
from specvino.conformance.fuzz.refusals.structured_outputs import invalid_schema, unsupported_schema
from specvino.conformance.fuzz.refusals.tools import unknown_tool, unsupported_tool
from specvino.conformance.fuzz.refusals.values import (
    integer_above_max_value,
    invalid_type,
    invalid_value,
    unsupported_parameter,
)
from specvino.conformance.fuzz.server import Server


def model_not_found(refused: Refused, server: Server) -> bool:
    name = refused.path_parameters.get("model") or refused.value("model")
    return isinstance(name, str) and name not in server.models


REFUSALS: Mapping[str, Callable[[Refused, Server], bool]] = {
    predicate.__name__: predicate
    for predicate in (
        context_length_exceeded,
        failed_to_download_image,
        integer_above_max_value,
        invalid_encrypted_content,
        invalid_image,
        invalid_image_url,
        invalid_prompt,
        invalid_schema,
        invalid_type,
        invalid_value,
        item_not_found,
        model_not_found,
        response_not_cancellable,
        response_not_finished,
        response_not_found,
        store_unavailable,
        unknown_tool,
        unsupported_content,
        unsupported_parameter,
        unsupported_schema,
        unsupported_tool,
    )
}
