"""Conversions of a document: to OpenAPI 3.1, to 3.2, or with rules between fields in a form for Schemathesis."""

import itertools
import pickle
from collections.abc import Mapping
from typing import Any

from specvino.document.operations import EVENTS, LINES, METHODS
from specvino.document.pointers import schema_reference
from specvino.document.unions import type_names
from specvino.document.walk import all_schemas, descend, objects

Object = Mapping[str, Any]

STREAM = {
    EVENTS: "Server-sent events; x-itemSchema describes one.",
    LINES: "Lines of JSON; x-itemSchema describes one.",
}
"""The description of the text that a stream is in OpenAPI 3.1, by its media type."""


RENAMED = {"ResponseError": "ErrorOfResponse"}
"""New names of components that have the name of a class in the runtime of a generator."""

Scalar = str | int | float | bool
COMPOSED = frozenset(("anyOf", "oneOf", "$ref", "enum"))
EVERY_TYPE = frozenset(("string", "number", "boolean", "array", "object", "null"))


# The maximum number of rules between fields of a body that Schemathesis 4.32 solves. With more it generates random
# bodies until one satisfies all rules: for completions, this takes a minute before the first case.
MOST_FOLDED = 3


def copied(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy that shares nothing that can be changed with the document. `copy.deepcopy` takes six times as
    long."""
    copy: dict[str, Any] = pickle.loads(pickle.dumps(document, pickle.HIGHEST_PROTOCOL))
    return copy


def to_31(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document of OpenAPI 3.2 as 3.1, for SDK generators and portals.

    The schemas of events move to `x-itemSchema`, the titles of tags to `x-displayName`. The result shares everything
    else with the document.
    """
    return {
        **document,
        "openapi": "3.1.1",
        "servers": [_without(server, "name") for server in document["servers"]],
        "tags": [{**_without(tag, "summary", "kind"), "x-displayName": tag["summary"]} for tag in document["tags"]],
        "paths": {path: _lowered_item(item) for path, item in document["paths"].items()},
    }


def _lowered_item(item: dict[str, Any]) -> dict[str, Any]:
    return {
        key: {
            **value,
            "responses": {status: _lowered_response(response) for status, response in value["responses"].items()},
        }
        if key in METHODS
        else value
        for key, value in item.items()
    }


def _lowered_response(response: dict[str, Any]) -> dict[str, Any]:
    if "content" not in response:
        return response
    return {**response, "content": {name: _lowered_media(name, media) for name, media in response["content"].items()}}


def _lowered_media(name: str, media: dict[str, Any]) -> dict[str, Any]:
    if "itemSchema" not in media:
        return media
    schema = {"type": "string", "description": STREAM[name]}
    return {**_without(media, "itemSchema"), "x-itemSchema": media["itemSchema"], "schema": schema}


def for_generators(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document of OpenAPI 3.1 in a form that code generators and linters read, with the same meaning. The
    versions are those of docs/generators.md, `tox run -e generators` shows which of these are still needed.

    - Links with a body move to `x-links`: swagger-parser, on which openapi-generator is based, only accepts strings as
      bodies. Schemathesis reads these links.
    - Arrays have `items`, which `spectral:oas` requires, even in `x-support` and in conditions of `x-dialect`.
    - A property that is always null is a `const`, and rules between fields, which no generator reads, are the `then`
      of an `if` that always holds. Otherwise openapi-generator's `python` ends with the exception "Codegen Property not
      yet supported in getPydanticType": for `type: null` outside a union, and for null among three branches of a
      property beside `allOf`.
    - Several types are a union: otherwise `typescript-axios` ends with an exception, and `typescript-fetch` writes the
      type `boolean<string>`.
    - Lists of texts have a type, and only scalars have a `default`, all others an `x-default`: otherwise the code of
      `go` doesn't compile.
    - No component has the name of a class of `typescript-fetch`.
    """
    changed = copied(document)
    for item in changed["paths"].values():
        for method in item.keys() & METHODS:
            for response in item[method]["responses"].values():
                _move_links(response)
    for _, schema in all_schemas(changed):
        _type_of_values(schema)
        _one_type(schema)
        _add_items(schema)
        for levels in schema.get("x-support", {}).values():
            for support in levels.values():
                for _, theirs in descend(support["schema"], "") if "schema" in support else ():
                    _add_items(theirs)
        if "default" in schema and not (COMPOSED.isdisjoint(schema) and isinstance(schema["default"], Scalar)):
            schema["x-default"] = schema.pop("default")
        for name, child in schema.get("properties", {}).items():
            if type_names(child) == ["null"]:
                schema["properties"][name] = {**_without(child, "type"), "const": None}
        _move_rules(schema)
    for entry in itertools.chain.from_iterable(changed.get("x-dialect", {}).get("unread", {}).values()):
        for _, condition in descend(entry["if"], ""):
            _add_items(condition)
    _rename_components(changed)
    return changed


def _add_items(schema: dict[str, Any]) -> None:
    if "array" in type_names(schema):
        schema.setdefault("items", {})


def _type_of_values(schema: dict[str, Any]) -> None:
    """Adds the type to a schema that lists texts."""
    listed = schema.get("enum", ())
    if "type" not in schema and listed and all(value is None or isinstance(value, str) for value in listed):
        null = any(value is None for value in listed)
        if len(listed) > null:
            schema["type"] = ["string", "null"] if null else "string"


def _one_type(schema: dict[str, Any]) -> None:
    """Splits a schema of several types, apart from null, into a union."""
    types = type_names(schema)
    if set(types) >= EVERY_TYPE:
        del schema["type"]
        return
    others = [name for name in types if name != "null"]
    if len(others) < 2 or "anyOf" in schema:
        return
    del schema["type"]
    items = {"items": schema.pop("items", {})} if "array" in others else {}
    names = [*others, "null"] if "null" in types else others
    schema["anyOf"] = [{"type": name, **(items if name == "array" else {})} for name in names]


def _move_rules(schema: dict[str, Any]) -> None:
    parts = schema.get("allOf", ())
    if "properties" in schema and "if" not in schema and any(part.keys() & {"if", "allOf"} for part in parts):
        schema |= {"if": {}, "then": {"allOf": schema.pop("allOf")}}


def _move_links(response: dict[str, Any]) -> None:
    links = response.get("links", {})
    with_body = {name: link for name, link in links.items() if isinstance(link.get("requestBody"), dict)}
    if not with_body:
        return
    rest = _without(response.pop("links"), *with_body)
    response |= {"x-links": with_body} | ({"links": rest} if rest else {})


def _rename_components(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    document["components"]["schemas"] = {RENAMED.get(name, name): schema for name, schema in schemas.items()}
    references = {schema_reference(old): schema_reference(new) for old, new in RENAMED.items()}
    for _, node in objects(document):
        if node.get("$ref") in references:
            node["$ref"] = references[node["$ref"]]


def served_at(path: str, document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document with its servers relative to the path at which a server has it, such as `/v1/openapi.json`.

    OpenAPI resolves `./v1` against the address of the document, so that a path that a proxy adds in front stays. The
    result shares everything else with the document.
    """
    up = "../" * (path.count("/") - 1) or "./"
    paths = {
        path: {
            key: {**value, "servers": _below(up, value["servers"])} if key in METHODS and "servers" in value else value
            for key, value in item.items()
        }
        for path, item in document["paths"].items()
    }
    return {**document, "servers": _below(up, document["servers"]), "paths": paths}


def _below(up: str, servers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**server, "url": up + server["url"].removeprefix("/")} for server in servers]


def to_32(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document that `to_31` made, or one of OpenAPI 3.2, as OpenAPI 3.2."""
    raised: dict[str, Any] = _raised(document)
    tags = [_renamed(tag, "x-displayName", "summary") for tag in raised.get("tags", ())]
    return {**raised, "openapi": "3.2.0", "tags": tags}


def _raised(node: Any) -> Any:
    if isinstance(node, list):
        return [_raised(child) for child in node]
    if not isinstance(node, dict):
        return node
    if "x-itemSchema" in node:  # the sibling schema only describes a stream as text
        node = _renamed(_without(node, "schema"), "x-itemSchema", "itemSchema")
    return {key: _raised(child) for key, child in node.items()}


def _without(node: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in keys}


def _renamed(node: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in node.items()}


def folded(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the same document with the rules of each component as one `not`.

    Schemathesis 4.32 merges `allOf` into the enclosing schema but can't merge two conditionals: it skips the operation,
    or generates one valid body instead of hundreds (decision 064). "If A then B" for all rules is equivalent to "not
    any (A and not B)". Other keys of a rule are kept. Too many rules move to `dependentSchemas` of a required field,
    which Schemathesis applies only to finished bodies.
    """
    schemas = {name: _folded(schema) for name, schema in document["components"]["schemas"].items()}
    return {**document, "components": {**document["components"], "schemas": schemas}}


def _folded(schema: Object) -> Object:
    rules = [part for part in schema.get("allOf", ()) if "if" in part]
    if len(rules) < 2 or "not" in schema or any("else" in rule for rule in rules):
        return schema
    rest = [part for part in schema["allOf"] if "if" not in part]
    kept = {key: value for key, value in schema.items() if key != "allOf"} | ({"allOf": rest} if rest else {})
    none_broken: Object = {"not": {"anyOf": [_broken(rule) for rule in rules]}}
    if len(rules) > MOST_FOLDED and schema.get("required"):
        return {**kept, "dependentSchemas": {schema["required"][0]: none_broken}}
    return {**kept, **none_broken}


def _broken(rule: Object) -> dict[str, Any]:
    """Returns the schema of values that break a rule."""
    rest = {key: value for key, value in rule.items() if key not in ("if", "then")}
    return {**rest, "allOf": [rule["if"], {"not": rule["then"]}]}
