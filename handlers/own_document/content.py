"""The items and parts of a request that the server reads, and those that a text-only model reads."""

from collections.abc import Iterable
from typing import Any

from specvino.document.operations import operations
from specvino.document.pointers import component_name, schema_reference
from specvino.document.walk import reached
from specvino.handlers.responses.hosted_items import IMAGES, REFUSED

UNIONS = ("UserContentPart", "AssistantContentPart", "InputContentPart", "FunctionOutputPart")
"""The unions of the parts of a message, and of an item."""

TEXTS = frozenset(
    ("TextPart", "RefusalPart", "ChatInputTextPart", "ChatOutputTextPart", "InputTextContent", "InputOutputTextContent")
)
"""The parts that every model reads; `chat/request.py` and `responses/request.py` reject others."""

SUFFIX = "OfRequests"


def read_items(document: dict[str, Any]) -> None:
    """Leaves out the items that the server always rejects."""
    _leave_out(document, REFUSED)


def read_text_only(document: dict[str, Any]) -> None:
    """Leaves only texts among the parts in requests, and no items with images. Stored items may have other parts, from
    an earlier model."""
    _leave_out(document, IMAGES)
    schemas = document["components"]["schemas"]
    for name in _apart(document):
        union = schemas[name]
        union["oneOf"] = [branch for branch in union["oneOf"] if component_name(branch["$ref"]) in TEXTS]
        mapping = union["discriminator"]["mapping"]
        union["discriminator"] = {
            **union["discriminator"],
            "mapping": {kind: target for kind, target in mapping.items() if component_name(target) in TEXTS},
        }


def _leave_out(document: dict[str, Any], kinds: Iterable[str]) -> None:
    kind = document["components"]["schemas"]["InputHostedToolItem"]["properties"]["type"]
    kind["enum"] = [name for name in kind["enum"] if name not in kinds]


def _apart(document: dict[str, Any]) -> list[str]:
    """Copies the components that lead to the unions if requests share them with answers; returns the names of the
    unions in requests.
    """
    schemas = document["components"]["schemas"]
    bodies = {
        name for operation in operations(document) if operation.body for name in reached(document, operation.body)
    }
    answers = {
        name
        for operation in operations(document)
        for name in reached(document, list(operation.definition["responses"].values()))
    }
    leading = {name for name in bodies & answers if name in UNIONS or reached(document, schemas[name]) & set(UNIONS)}
    for name in leading:
        schemas[name + SUFFIX] = _copy(schemas[name], leading)
    for name in bodies - answers:
        schemas[name] = _copy(schemas[name], leading)
    return [name + SUFFIX if name in leading else name for name in UNIONS]


def _copy(node: Any, leading: set[str]) -> Any:
    """Returns a copy with references to the requests' own components."""
    if isinstance(node, list):
        return [_copy(item, leading) for item in node]
    if isinstance(node, dict):
        return {key: _copy(value, leading) for key, value in node.items()}
    prefix = schema_reference("")
    if isinstance(node, str) and node.startswith(prefix) and component_name(node) in leading:
        return node + SUFFIX
    return node
