"""References within a schema: a JSON Pointer (RFC 6901) behind `#`, percent-encoded as in a URI (RFC 3986)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from specvino.document.pointers import escape, unescape
from specvino.engine.json_schema.errors import Path

# A chain of references longer than this is taken for one without end.
_MOST_FOLLOWED = 8


class UnresolvableReference(ValueError):
    """A reference leads nowhere, or out of the schema; `str()` says why."""


def target(root: Any, reference: str) -> tuple[Any, Path]:
    """Returns the subschema that a reference leads to, and its path. Raises UnresolvableReference."""
    if not reference.startswith("#"):
        raise UnresolvableReference(
            f"{reference!r} leads out of the schema; only references that begin with # are followed"
        )
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        raise UnresolvableReference(
            f"{reference!r} names an anchor; only references by path, like #/$defs/name, are followed"
        )
    keys: list[str | int] = []
    value = root
    for part in pointer.split("/")[1:]:
        key: str | int = unescape(part)
        if isinstance(value, list) and part.isdecimal() and len(part) < 6:
            key = int(part)
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise UnresolvableReference(f"{reference!r} leads to nothing") from None
        keys.append(key)
    if not isinstance(value, Mapping | bool):
        raise UnresolvableReference(f"{reference!r} leads to what is no schema")
    return value, tuple(keys)


def resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema behind all references, of a schema that has not been validated.

    What can't be followed, and what is no object, is returned as the empty schema, which admits anything.
    """
    for _ in range(_MOST_FOLLOWED):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        try:
            schema, _path = target(root, reference)
        except UnresolvableReference:
            return {}
    return {}


def reference_to(path: Path) -> str:
    """Returns the reference that leads to a path."""
    return "#" + "".join("/" + quote(escape(str(key)), safe="~$") for key in path)
