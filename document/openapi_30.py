"""A document as OpenAPI 3.0, for tools that can't read 3.1.

It accepts every value that the original accepts. Schemas of 3.0 are an older JSON Schema: keywords that it lacks keep
their value under `x-`, such as `x-if`, and `x-lost` of `info` lists where they were.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import escape
from specvino.document.unions import type_names, values
from specvino.document.walk import followed

VERSION = "3.0.3"
"""Defines that `nullable` only adds null to a `type` beside it."""

# fmt: off
KEPT = frozenset((
    "additionalProperties", "allOf", "anyOf", "default", "deprecated", "description", "discriminator", "enum",
    "example", "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties",
    "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable", "oneOf",
    "pattern", "properties", "readOnly", "required", "title", "type", "uniqueItems", "writeOnly",
))
# fmt: on
"""The keywords of a schema in OpenAPI 3.0 that our documents may have."""

ANNOTATIONS = frozenset(("contentEncoding", "contentMediaType", "contentSchema", "examples"))
"""Keywords that 3.0 lacks, but that don't decide whether a value is valid."""

DECIDING = frozenset(("enum", "const", "not", "allOf", "anyOf", "oneOf", "$ref"))
"""Keywords with which a branch that has a type may still reject null."""

NULL: Schema = {"type": "string", "nullable": True, "enum": [None]}
"""The schema of null alone: `nullable` requires a type."""

EVERY_TYPE = frozenset(("string", "number", "boolean", "array", "object", "null"))


def to_30(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document of OpenAPI 3.1 as 3.0. `x-lost` of its `info` has the JSON pointers of the keywords, in the
    original, that 3.0 lacks, by keyword.
    """
    lowering = _Lowering(document)
    lowered = {key: lowering.part(value, f"/{key}") for key, value in document.items() if key != "components"}
    components = {
        kind: {
            name: (lowering.schema if kind == "schemas" else lowering.part)(part, f"/components/{kind}/{escape(name)}")
            for name, part in parts.items()
        }
        for kind, parts in document["components"].items()
    }
    info = lowering.renamed(lowered["info"], "/info", ("summary",))
    info["license"] = lowering.renamed(info["license"], "/info/license", ("identifier",))
    return {
        **lowered,
        "openapi": VERSION,
        "info": {**info, "x-lost": {keyword: lowering.lost[keyword] for keyword in sorted(lowering.lost)}},
        "components": components,
    }


class _Lowering:
    """Lowers parts of one document, and collects what is lost."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self.lost: dict[str, list[str]] = {}

    def part(self, node: Any, at: str) -> Any:
        """Returns a part of the document that isn't a schema, with its schemas lowered."""
        if isinstance(node, list):
            return [self.part(child, f"{at}/{index}") for index, child in enumerate(node)]
        if not isinstance(node, dict):
            return node
        return {key: self._child(key, child, f"{at}/{escape(key)}") for key, child in node.items()}

    def _child(self, key: str, child: Any, at: str) -> Any:
        if key in ("schema", "x-itemSchema"):
            return self.schema(child, at)
        if key in ("example", "examples", "links") or key.startswith("x-"):
            return child
        return self.part(child, at)

    def renamed(self, node: Mapping[str, Any], at: str, keywords: tuple[str, ...]) -> dict[str, Any]:
        """Returns an object with these of its keywords under `x-`, and lists them as lost."""
        for keyword in keywords:
            if keyword in node:
                self.lost.setdefault(keyword, []).append(f"{at}/{keyword}")
        return {f"x-{key}" if key in keywords else key: value for key, value in node.items()}

    def schema(self, schema: Schema | bool, at: str) -> Schema:
        """Returns a schema and everything inside it lowered."""
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        example = {"example": schema["examples"][0]} if "examples" in schema else {}
        schema = self.renamed(schema, at, tuple(self._lacking(schema))) | example
        for keyword in ("items", "not", "additionalProperties"):
            if keyword in schema and not (keyword == "additionalProperties" and isinstance(schema[keyword], bool)):
                schema[keyword] = self.schema(schema[keyword], f"{at}/{keyword}")
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in schema:
                schema[keyword] = [
                    self.schema(branch, f"{at}/{keyword}/{index}") for index, branch in enumerate(schema[keyword])
                ]
        if "properties" in schema:
            schema["properties"] = {
                name: self.schema(child, f"{at}/properties/{escape(name)}")
                for name, child in schema["properties"].items()
            }
        return _null_in_branch(_typed(_reference(_bounded(_listed(schema)))))

    def _lacking(self, schema: Schema) -> Iterator[str]:
        """Yields the keywords of a schema that 3.0 lacks and that can't be expressed by others.

        Without them a schema accepts more. So `not` and `oneOf`, which would then accept less, go as a whole if there
        are any inside. A discriminator separates the branches of `oneOf` by constants, which stay.
        """
        for keyword in schema:
            if keyword in ("not", "oneOf"):
                if "discriminator" not in schema and self._loses(schema[keyword]):
                    yield keyword
            elif keyword not in KEPT | {"$ref", "const"} and not keyword.startswith("x-"):
                yield keyword
        if "patternProperties" in schema and "additionalProperties" in schema:
            yield "additionalProperties"  # it would apply to the properties that the patterns match
        if "prefixItems" in schema and "items" in schema:
            yield "items"

    def _loses(self, node: Any) -> bool:
        return any(
            not keyword.startswith("x-") and keyword not in KEPT | ANNOTATIONS | {"$ref", "const"}
            for _, schema in followed(self._document, node)
            for keyword in schema
        )


def _listed(schema: Schema) -> Schema:
    """Returns a schema with `enum` instead of `const`."""
    if "const" in schema:
        schema = {("enum" if key == "const" else key): value for key, value in schema.items() if key != "enum"}
        schema["enum"] = values({"const": schema["enum"]})
    return schema


def _bounded(schema: Schema) -> Schema:
    """Returns a schema with `exclusiveMinimum` and `exclusiveMaximum` as 3.0 has them: true, beside the bound."""
    for bound, exclusive, stricter in (("minimum", "exclusiveMinimum", max), ("maximum", "exclusiveMaximum", min)):
        if exclusive in schema:
            limit = schema.pop(exclusive)
            both = stricter(limit, schema.get(bound, limit))
            schema |= {bound: both} | ({exclusive: True} if both == limit else {})
    return schema


def _reference(schema: Schema) -> Schema:
    """Returns a schema whose reference is within `allOf` if it isn't alone: 3.0 ignores what is beside it."""
    if "$ref" not in schema or len(schema) == 1:
        return schema
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return {**rest, "allOf": [{"$ref": schema["$ref"]}, *rest.get("allOf", ())]}


def _typed(schema: Schema) -> Schema:
    """Returns a schema with at most one type, `nullable` if null is another one."""
    types = type_names(schema)
    if not types:
        return {**schema, **NULL} if schema.get("enum") == [None] else schema
    rest = {key: value for key, value in schema.items() if key != "type"}
    others = [name for name in types if name != "null"]
    if not others:
        return {**rest, **NULL}
    if set(types) >= EVERY_TYPE:
        return rest
    nullable = {"nullable": True} if "null" in types else {}
    if len(others) == 1:
        return {"type": others[0], **nullable, **({"items": {}} if others == ["array"] else {}), **rest}
    items = {"items": rest.pop("items", {})} if "array" in others else {}
    union = [{"type": name, **nullable, **(items if name == "array" else {})} for name in others]
    if "anyOf" not in rest:
        return {**rest, "anyOf": union}
    return {**rest, "allOf": [*rest.get("allOf", ()), {"anyOf": union}]}


def _null_in_branch(schema: Schema) -> Schema:
    """Returns a union without a branch of null alone: another branch is nullable instead, if one has a type."""
    for keyword in ("anyOf", "oneOf"):
        branches = [branch for branch in schema.get(keyword, ()) if branch != NULL]
        if len(branches) == len(schema.get(keyword, ())):
            continue
        index = next((n for n, branch in enumerate(branches) if "type" in branch and DECIDING.isdisjoint(branch)), None)
        if index is None:
            continue
        branches[index] = {**branches[index], "nullable": True}
        rest = {key: value for key, value in schema.items() if key != keyword}
        only = branches[0]
        if len(branches) == 1 and not rest.keys() & only.keys() - {"title", "description"}:
            return {**only, **rest}
        schema = {**schema, keyword: branches}
    return schema
