"""Whether a text satisfies a schema: jsonschema-rs decides."""

import copy
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from specvino.engine.grammar import Path

# Annotations since draft 2019-09, which jsonschema-rs enforces in draft 7.
_ANNOTATIONS = ("contentEncoding", "contentMediaType")


def judge(schema: Any, unenforced: Iterable[Path] = ()) -> Callable[[str], bool]:
    """Returns a function of a text. Formats count, and numbers are exact. The keywords of `unenforced` don't count, but
    one of the schemas of `oneOf` has to be satisfied. Like the conversion, it ignores a meta-schema that isn't JSON
    Schema's own, and takes a schema that is invalid without one for one of draft 7.
    """
    schema = _readable(_without(schema, unenforced))
    if isinstance(schema, dict) and not str(schema.get("$schema")).startswith(("http://json-sch", "https://json-sch")):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    if isinstance(schema, dict) and "$schema" not in schema and not jsonschema_rs.meta.is_valid(schema):
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    # Nothing is fetched: a reference out of the schema that no text gets to is allowed.
    is_valid = jsonschema_rs.validator_for(schema, validate_formats=True, retriever=lambda _: True).is_valid

    def judged(text: str) -> bool:
        try:
            return is_valid(json.loads(text, parse_float=Decimal))
        except ValueError:
            return False

    return judged


def _without(schema: Any, unenforced: Iterable[Path]) -> Any:
    schema = copy.deepcopy(schema)
    # The longest first: a keyword may be within another one. The root is none.
    for *owner, keyword in sorted(filter(None, unenforced), key=len, reverse=True):
        parent = node = schema
        for key in owner:
            parent, node = node, node[key]
        if keyword == "oneOf":
            node["allOf"] = [*node.get("allOf", ()), {"anyOf": node["oneOf"]}]
        if owner[-1:] == ["patternProperties"]:
            parent.pop("additionalProperties", None)  # which names it is about isn't known either
        del node[keyword]
    return schema


def _readable(value: Any) -> Any:
    """Returns a schema without annotations that jsonschema-rs enforces, and with references encoded, as it demands."""
    match value:
        case {"$ref": str(reference), **rest} if reference.startswith("#"):
            return {"$ref": quote(reference, safe="#/%~$"), **_readable(rest)}
        case dict():
            kept = {key: inner for key, inner in value.items() if key not in _ANNOTATIONS or not isinstance(inner, str)}
            return {key: _readable(inner) for key, inner in kept.items()}
        case list():
            return [_readable(element) for element in value]
    return value
