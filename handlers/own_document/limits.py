"""The limits of the server and of its model, as bounds of requests."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import operations
from specvino.document.pointers import resolved
from specvino.document.unions import type_names
from specvino.document.walk import descend, reached
from specvino.handlers.limits import DRAFTING, TOKEN_LIMITS
from specvino.handlers.own_document.facts import Facts
from specvino.handlers.own_document.links import links

# Tokens of the model: prompts, and those that are shown or barred.
_TOKEN_IDS = {
    *("prompt_token_ids", "input_ids", "tokens", "content"),
    *("logprob_token_ids", "allowed_token_ids", "bad_words_token_ids"),
}

# What of a property stays where nothing but null is accepted.
_TOLD = ("description",)


def bound(document: dict[str, Any], facts: Facts) -> None:
    """Says what no request may ask for here, whatever else it asks."""
    for operation in operations(document):
        if operation.body is None:
            continue
        properties = resolved(document, operation.body)["properties"]
        _tokens(properties, facts)
        _search(properties, facts)
        if facts.model is not None:
            for name in _TOKEN_IDS & properties.keys():
                _token_ids(properties[name], facts.model.vocabulary_size - 1)
        if "chat_template" in properties and not facts.limits.trust_request_chat_template:
            properties["chat_template"] = _only_null(properties["chat_template"])
        if facts.model is not None and "best_of" in properties:
            for name, kinds in DRAFTING.items():
                if facts.model.drafting not in kinds:
                    properties[name] = _only_null(properties[name])
            _without_vacuous_rules(resolved(document, operation.body))
    if facts.model is not None:
        _token_ids(document["components"]["schemas"]["Prompt"], facts.model.vocabulary_size - 1)
    _sizes(document, facts)
    _links(document, facts)


def _tokens(properties: dict[str, Any], facts: Facts) -> None:
    most = most_tokens(facts)
    for name in TOKEN_LIMITS:
        if name in properties and most is not None:
            _at_most(properties[name], "maximum", most)


def most_tokens(facts: Facts) -> int | None:
    """Returns the most tokens that an answer may have: behind the shortest prompt, or by the operator's limit."""
    most = [] if facts.model is None else [facts.model.context_length - 1]
    if facts.limits.max_tokens is not None:
        most.append(facts.limits.max_tokens)
    return min(most, default=None)


def _search(properties: dict[str, Any], facts: Facts) -> None:
    if "best_of" not in properties:
        return
    model = facts.model
    drafts = model is not None and model.drafting is not None
    _at_most(properties["best_of"], "maximum", 1 if drafts else facts.limits.best_of)
    if drafts and model is not None and not model.full_logits:
        _at_most(properties["min_tokens"], "maximum", 0)


def _without_vacuous_rules(body: dict[str, Any]) -> None:
    """Takes out the rules for what a field says that can say nothing here: generators get lost in rules."""
    silent = {name for name, schema in body["properties"].items() if schema.get("type") == "null"}

    def never(rule: dict[str, Any]) -> bool:
        asked = rule.get("if", {}).get("properties", {})
        needed = silent & set(rule.get("if", {}).get("required", ()))
        return any("null" not in asked.get(name, {}).get("type", "null") for name in needed)

    body["allOf"] = [rule for rule in body["allOf"] if not never(rule)]


def _only_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "null"} | {key: each for key, each in schema.items() if key in _TOLD or key.startswith("x-")}


def _token_ids(prompt: dict[str, Any], last: int) -> None:
    for _, schema in descend(prompt, "Prompt"):
        if "integer" in type_names(schema):
            _at_most(schema, "maximum", last)


def _sizes(document: dict[str, Any], facts: Facts) -> None:
    """No text is longer than the body, which has a byte or more for each character, and no list has more elements."""
    for schema in _of_requests(document):
        for keyword, most in (("maxLength", facts.door.max_body), ("maxItems", facts.door.max_items)):
            if keyword in schema and most is not None:
                _at_most(schema, keyword, most)


def _of_requests(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the schemas that requests have and answers haven't."""
    found = list(operations(document))
    answers = _components(document, [list(each.definition["responses"].values()) for each in found])
    for name in _components(document, [each.body for each in found if each.body]) - answers:
        for _, schema in descend(document["components"]["schemas"][name], name):
            yield schema


def _components(document: dict[str, Any], nodes: list[Any]) -> set[str]:
    return {name for node in nodes for name in reached(document, node)}


def _links(document: dict[str, Any], facts: Facts) -> None:
    """Keeps the bodies of links within the limit of tokens."""
    most = most_tokens(facts)
    for link in links(document):
        body = link.get("requestBody", {})
        for name in TOKEN_LIMITS:
            if name in body and most is not None:
                body[name] = min(body[name], most)


def _at_most(schema: dict[str, Any], keyword: str, most: int) -> None:
    schema[keyword] = min(schema[keyword], most)
