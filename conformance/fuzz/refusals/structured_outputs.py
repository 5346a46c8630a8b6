"""Verifies refusals of schemas and structural tags, and detects structured outputs in requests."""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import jsonschema_rs

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.refusals.tools import forces
from specvino.conformance.fuzz.server import Server
from specvino.document.conditions import value_at
from specvino.document.loading import group

# Keywords that aren't enforced by the document, in addition to those starting with `dependen` and `unevaluated`.
UNENFORCED = ("not", "if", "contains", "uniqueItems", "additionalItems")

# Keywords that are enforced as far as a grammar can express them.
IN_PART = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "then", "else", "$ref", "$dynamicRef", "$recursiveRef", "enum", "const"),
        *("pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("patternProperties", "propertyNames", "additionalProperties", "minProperties", "maxProperties"),
    }
)

_FIELDS = re.compile(
    r"(response_format\.json_schema\.schema|response_format\.json_schema|response_format|text\.format\.schema"
    r"|(?:input\.\d+\.)?(?:tools\.\d+\.){1,2}(?:function\.)?parameters|functions\.\d+\.parameters"
    r"|tools\.\d+\.input_schema|output_config\.format\.schema|output_format\.schema|format)(\.|$)"
)

# The grammar of a custom tool, in each of its places.
_GRAMMAR = re.compile(r"(?:input\.\d+\.)?(?:tools\.\d+\.){1,2}(?:custom\.format\.grammar|format)\.definition")

# Structured output fields of other systems: with a JSON Schema, and with a text or tag whose validity the document
# can't express.
WITH_SCHEMA = ("guided_json", "json_schema", "structured_outputs.json")
WITH_TEXT = (
    *("guided_regex", "guided_grammar", "structural_tag", "grammar", "regex", "ebnf"),
    *("structured_outputs.regex", "structured_outputs.grammar", "structured_outputs.structural_tag"),
)

TOOLS = ("tools", "functions", "input")

_VALUES: tuple[Any, ...] = (None, True, False, 0, 1, -1, 0.5, "", "a", "0", [], [0], {}, {"a": 0})


def constrains(body: Mapping[str, Any]) -> bool:
    """Returns whether a body requests a structured output."""
    return any(group("structured_output").matches(partial(value_at, body)))


def invalid_schema(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the value isn't a schema, or no sample value satisfies it. Structural tags and grammars can't be
    verified."""
    param = refused.param or ""
    if any(param == name or param.startswith(f"{name}.") for name in WITH_TEXT) or _GRAMMAR.fullmatch(param):
        return True
    for name in WITH_SCHEMA:
        if param == name or param.startswith(f"{name}."):
            return _is_unsatisfiable(refused.value(name))
    located = _schema(refused)
    if located is None:
        return False
    field, schema = located
    if field == "response_format":
        return isinstance(schema, Mapping) and schema.get("type") not in ("text", "json_object", "any_text")
    if not _is_schema(schema):
        return True
    objects = field.startswith(TOOLS)
    if objects and schema.get("type", "object") != "object":
        return True
    if not _keywords(schema):
        return False
    return not any(_satisfies(value, schema) for value in ([{}] if objects else _VALUES))


def _is_unsatisfiable(value: Any) -> bool:
    """Returns whether a value, or the JSON in a string, isn't a schema, or no sample value satisfies it."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return True
    if not _is_schema(value):
        return True
    return bool(_keywords(value)) and not any(_satisfies(sample, value) for sample in _VALUES)


def unsupported_schema(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a strict schema has the keyword in `param`, and support of the keyword is restricted; or whether
    `param` is the grammar of a custom tool, which can't be verified."""
    if _GRAMMAR.fullmatch(refused.param or ""):
        return True
    located = _schema(refused)
    if located is None or not _is_strict(refused, located[0]):
        return False
    *_, keyword = (refused.param or "").split(".")
    # Property names may contain dots, so the path doesn't identify the keyword's position.
    is_restricted = keyword in UNENFORCED or keyword in IN_PART or keyword.startswith(("dependen", "unevaluated"))
    return is_restricted and keyword in _keys(located[1])


def _schema(refused: RefusedRequest) -> tuple[str, Any] | None:
    """Returns the field and value of the enforced schema that contains `param`; None without one."""
    field = _FIELDS.match(refused.param or "")
    body = refused.body or {}
    if field is None:
        return None
    name = field[1]
    if name.startswith(TOOLS) and not forces(body) and not constrains(body):
        return None
    schema = refused.value(name)
    if name == "response_format.json_schema.schema" and schema is None:  # a property of that name, or no schema
        name, schema = "response_format.json_schema", refused.value("response_format.json_schema")
    return None if schema is None else (name, schema)


def _is_strict(refused: RefusedRequest, field: str) -> bool:
    if field.startswith("output_"):  # of the messages API, whose outputs are always strict
        return True
    if field.startswith("response_format"):
        return _any_strict(refused.value("response_format"))
    return bool(refused.value(f"{field.rpartition('.')[0]}.strict"))


def _any_strict(value: Any) -> bool:
    """Returns whether a value contains a strict schema; a structural tag may have one at any depth."""
    if isinstance(value, Mapping):
        return value.get("strict") is True or any(map(_any_strict, value.values()))
    return isinstance(value, list) and any(map(_any_strict, value))


def _is_schema(schema: Any) -> bool:
    try:
        return jsonschema_rs.meta.is_valid(_plain(schema))
    except (ValueError, RecursionError):  # an unknown draft, or too deeply nested
        return False


def _satisfies(value: Any, schema: Any) -> bool:
    """Returns whether the schema certainly allows the value. A schema without a type may not apply to it."""
    if "type" not in schema:
        return False
    try:
        return jsonschema_rs.is_valid(_plain(schema), value)
    except (ValueError, RecursionError):  # an invalid pattern or reference
        return False


def _plain(schema: Any) -> Any:
    """Returns the schema without $schema, which a validator might try to fetch."""
    return {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, Mapping) else schema


def _keywords(schema: Any) -> set[str]:
    notes = {"title", "description", "default", "examples", "$comment", "$schema", "$id", "deprecated"}
    return _keys(schema) - notes


def _keys(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()
