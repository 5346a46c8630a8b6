"""Short descriptions of a field."""

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import component_name
from specvino.document.unions import values as listed_values
from specvino.portal.pages import html
from specvino.portal.source import Field
from specvino.portal.variants import NAMED, Variant, remarks, variants
from specvino.portal.words import values

HANDLING = {
    "supported": "supported",
    "accepted": "no effect, by nature",
    "unsupported": "not supported here",
    "refused": "always rejected here",
}

# How the values are named that are supported, where others aren't.
SUPPORTED_VALUES = {"supported": " for", "unsupported": ", except", "refused": ", except"}

# Values that are shown by name.
MANY = 12


def description(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """Returns the description of a schema, and what applies to this server."""
    return " ".join(filter(None, [schema.get("description", ""), *remarks(schema, schemas)]))


def handled(field: Field, schema: Schema) -> str:
    """Returns how this server handles a field; for fields of answers, when they are present."""
    handling = field.handling(schema)
    if field.part != "request":
        return {"never": "not sent", "null": "always null"}.get(handling, f"sent {handling}")
    supported_values = (
        f"{SUPPORTED_VALUES[handling]} {values(schema['x-supported-values'])}"
        if "x-supported-values" in schema and handling in SUPPORTED_VALUES
        else ""
    )
    return HANDLING[handling] + supported_values


def by_owner(field: Field, say: Callable[[Schema], str]) -> str:
    """Returns a text about a field as HTML: once if it is the same for all its owners, else for each."""
    texts = dict.fromkeys(say(owner.schema) for owner in field.owners)
    if len(texts) == 1:
        return html(*texts)
    return "<br>".join(f"{names(variant)}: {html(say(variant.schema))}" for variant in variants(field.owners, say))


def names(variant: Variant) -> str:
    """Returns the owners of a variant as HTML: by their values if they are few, else by name."""
    kinds = listed_values(variant.schema) or []
    return html(_listed(kinds)) if 0 < len(kinds) <= NAMED else variant.named


def kind(schema: Mapping[str, Any], schemas: Mapping[str, Schema]) -> str:
    """Returns a schema in a few words: `number, 0 to 2`. Objects and long lists of values have names."""
    if "$ref" in schema:
        target = schemas[component_name(schema["$ref"])]
        named = "properties" in target or len(target.get("enum", ())) > MANY
        return component_name(schema["$ref"]) if named else kind(target, schemas)
    if (listed := listed_values(schema)) is not None:
        return _listed(listed)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(kind(branch, schemas) for branch in schema[union]))
    types = schema.get("type", "any")
    types = [types] if isinstance(types, str) else list(types)
    if "array" in types and isinstance(schema.get("items"), dict):
        inner = kind(schema["items"], schemas)
        types[types.index("array")] = f"list of ({inner})" if " or " in inner else f"list of {inner}"
    text = " or ".join(types)
    low, high = schema.get("minimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is not None and high is not None:
        text += f", {low} to {'below ' if 'maximum' not in schema else ''}{high}"
    if schema.get("default") is not None:
        text += f", default {_listed([schema['default']])}"
    return text


def chip(level: str, address: str = "") -> str:
    """Returns a level of support as HTML, as a link to an address if there is one."""
    if address:
        return f'<a class="level {level}" href="{escape(address, quote=True)}">{level}</a>'
    return f'<span class="level {level}">{level}</span>'


def _listed(values: list[Any]) -> str:
    return ", ".join(f"`{json.dumps(value, ensure_ascii=False)}`" for value in values)
