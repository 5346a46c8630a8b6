"""JSON Pointers (RFC 6901), and the references of a document, which are pointers after a `#`."""

from collections.abc import Mapping
from typing import Any


def escape(name: str) -> str:
    """Escapes a name as a step of a pointer: `/` becomes `~1`, and `~` becomes `~0`."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """Returns the unescaped name of a step of a pointer."""
    return step.replace("~1", "/").replace("~0", "~")


def at(document: Any, pointer: str) -> Any:
    """Returns the value at a pointer such as `/paths/~1models/get`; the empty pointer is the document itself.

    Raises KeyError if there is no such value.
    """
    node = document
    for step in pointer.split("/")[1:]:
        name = unescape(step)
        try:
            node = node[int(name)] if isinstance(node, list) else node[name]
        except (LookupError, TypeError, ValueError):
            raise KeyError(pointer) from None
    return node


def referred(document: Any, reference: str) -> Any:
    """Returns the target of a local reference such as `#/components/schemas/Model`. Raises KeyError."""
    return at(document, reference.removeprefix("#"))


def resolved(document: Any, node: Any) -> Any:
    """Returns the node itself or, for a reference, its final target. Raises KeyError."""
    while isinstance(node, Mapping) and "$ref" in node:
        node = referred(document, node["$ref"])
    return node


def component_name(reference: str) -> str:
    """Returns the last step of a reference: the name of the component."""
    return unescape(reference.rsplit("/", 1)[-1])


def schema_reference(name: str) -> str:
    """Returns the reference to the schema of that name among the components."""
    return f"#/components/schemas/{escape(name)}"
