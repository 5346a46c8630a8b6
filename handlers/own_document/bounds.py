"""The limits of the server and of its model, as bounds of requests."""

from collections.abc import Iterator
from typing import Any

from specvino.document.loading import conditions_of, group
from specvino.document.operations import operations
from specvino.document.pointers import resolved
from specvino.document.unions import type_names
from specvino.document.walk import descend, reached
from specvino.handlers.own_document.facts import Facts
from specvino.handlers.own_document.operations import links


def bound(document: dict[str, Any], facts: Facts) -> None:
    """Adds the limits that apply to all requests as bounds."""
    known = document["x-facts"] = facts.of_conditions()
    for operation in operations(document):
        if operation.body is None:
            continue
        body = resolved(document, operation.body)
        properties = body["properties"]
        for condition in conditions_of(operation.endpoint):
            for path, allowed in condition.bounds(known).items():
                if path in properties:
                    properties[path] = _narrowed(properties[path], allowed)
        if facts.model is not None:
            for name in group("token_limits").paths:
                if name in properties:
                    _at_most(properties[name], "maximum", facts.model.context_length - 1)
            _without_vacuous_rules(body)
    if facts.model is not None:
        schemas = document["components"]["schemas"]
        _integers_at_most(schemas["Prompt"], known["last_token_id"])
        schemas["LogitBias"]["propertyNames"] = {"pattern": _up_to(known["last_token_id"])}
    _sizes(document, facts)
    _links(document, facts)


def _narrowed(schema: dict[str, Any], allowed: dict[str, Any]) -> dict[str, Any]:
    """Returns a property's schema with only the values that also fit what a condition allows."""
    if allowed == {"type": "null"}:
        return allowed | {key: value for key, value in schema.items() if key == "description" or key.startswith("x-")}
    if "maximum" in allowed:
        _integers_at_most(schema, allowed["maximum"])
        return schema
    return {**schema, **allowed} if allowed.keys() & {"enum", "maxItems"} else schema


def _without_vacuous_rules(body: dict[str, Any]) -> None:
    """Removes rules about fields that can only be null on this server, since generators of requests are slow with many
    rules.
    """
    null = {name for name, schema in body["properties"].items() if schema.get("type") == "null"}

    def never(rule: dict[str, Any]) -> bool:
        conditions = rule.get("if", {}).get("properties", {})
        required = null & set(rule.get("if", {}).get("required", ()))
        return any("null" not in conditions.get(name, {}).get("type", "null") for name in required)

    if "allOf" in body:
        body["allOf"] = [rule for rule in body["allOf"] if not never(rule)]


def _integers_at_most(schema: dict[str, Any], most: int) -> None:
    for _, inner in descend(schema, ""):
        if "integer" in type_names(inner):
            _at_most(inner, "maximum", most)


def _up_to(most: int) -> str:
    """Returns a regular expression for the integers from 0 to `most` with up to 10 digits, zeros in front included."""
    digits = str(most)
    smaller = [
        f"{digits[:index]}[0-{int(digit) - 1}][0-9]{{{len(digits) - index - 1}}}"
        for index, digit in enumerate(digits)
        if digit != "0"
    ]
    shorter = [f"[0-9]{{1,{len(digits) - 1}}}"] if len(digits) > 1 else []
    return f"^0{{0,{10 - len(digits)}}}(?:{'|'.join([*shorter, *smaller, digits])})$"


def _sizes(document: dict[str, Any], facts: Facts) -> None:
    """Limits texts to the size of the body, which has at least a byte per character, and lists to its maximum number of
    elements.
    """
    for schema in _of_requests(document):
        for keyword, most in (("maxLength", facts.door.max_body), ("maxItems", facts.door.max_items)):
            if keyword in schema and most is not None:
                _at_most(schema, keyword, most)


def _of_requests(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the schemas that occur in requests, but not in answers."""
    every = list(operations(document))
    answers = _components(document, [list(operation.definition["responses"].values()) for operation in every])
    for name in _components(document, [operation.body for operation in every if operation.body]) - answers:
        for _, schema in descend(document["components"]["schemas"][name], name):
            yield schema


def _components(document: dict[str, Any], nodes: list[Any]) -> set[str]:
    return {name for node in nodes for name in reached(document, node)}


def _links(document: dict[str, Any], facts: Facts) -> None:
    """Keeps the bodies of links within the token limit."""
    limits = [facts.limits.max_tokens, facts.model and facts.model.context_length - 1]
    known = [limit for limit in limits if limit is not None]
    for link in links(document):
        body = link.get("requestBody", {})
        for name in group("token_limits").paths:
            if name in body and known:
                body[name] = min(body[name], *known)


def _at_most(schema: dict[str, Any], keyword: str, most: int) -> None:
    schema[keyword] = min(schema.get(keyword, most), most)
