"""Whether a text satisfies a schema: jsonschema-rs decides."""

import copy
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import jsonschema_rs

from specvino.engine.grammar import Path

# Annotations since draft 2019-09, which jsonschema-rs enforces in draft 7.
_ANNOTATIONS = ("contentEncoding", "contentMediaType")


def judge(schema: Any, unenforced: Iterable[Path] = ()) -> Callable[[str], bool]:
    """Returns a function of a JSON text. Formats count, and numbers are exact. The keywords of `unenforced` don't; of
    `oneOf` there several may be satisfied. Like the conversion, it ignores a meta-schema that isn't JSON Schema's own,
    and takes a schema that is invalid without one for one of draft 7.
    """
    schema = _without_annotations(_without(schema, unenforced))
    if isinstance(schema, dict) and not str(schema.get("$schema")).startswith(("http://json-sch", "https://json-sch")):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    if isinstance(schema, dict) and "$schema" not in schema and not jsonschema_rs.meta.is_valid(schema):
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    is_valid = jsonschema_rs.validator_for(schema, validate_formats=True).is_valid
    return lambda text: is_valid(json.loads(text, parse_float=Decimal))


def _without(schema: Any, unenforced: Iterable[Path]) -> Any:
    schema = copy.deepcopy(schema)
    # The longest first: a keyword may be within another one.
    for *owner, keyword in sorted(unenforced, key=len, reverse=True):
        parent = place = schema
        for key in owner:
            parent, place = place, place[key]
        if keyword == "oneOf":
            place["allOf"] = [*place.get("allOf", ()), {"anyOf": place["oneOf"]}]
        if owner[-1:] == ["patternProperties"]:
            parent.pop("additionalProperties", None)  # which names it is about isn't known either
        del place[keyword]
    return schema


def _without_annotations(value: Any) -> Any:
    match value:
        case dict():
            kept = {k: each for k, each in value.items() if k not in _ANNOTATIONS or not isinstance(each, str)}
            return {key: _without_annotations(each) for key, each in kept.items()}
        case list():
            return [_without_annotations(each) for each in value]
    return value
