"""The rules between fields, in the one form that Schemathesis can make valid values of."""

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]

# Rules between fields of one body that Schemathesis 4.32 works out. With more it draws whole bodies by chance until one
# keeps them all: for completions a minute before the first case.
MOST_FOLDED = 3


def folded(document: Object) -> dict[str, Any]:
    """Returns the same document with the rules of each component as one `not`.

    Schemathesis 4.32 folds `allOf` into the schema around it, but can't fold two conditionals: it gives up on the
    operation, or makes a single valid body where there should be hundreds (decision 064). "If A then B" for all
    rules is "not any (A and not B)". The other keys of a rule stay with it. Where the rules are too many for it, they
    stand where it only looks when it has a body: for bodies with a field that every body must have.
    """
    schemas = {name: _folded(schema) for name, schema in document["components"]["schemas"].items()}
    return {**document, "components": {**document["components"], "schemas": schemas}}


def _folded(schema: Object) -> Object:
    rules = [part for part in schema.get("allOf", ()) if "if" in part]
    if len(rules) < 2 or "not" in schema or any("else" in rule for rule in rules):
        return schema
    rest = [part for part in schema["allOf"] if "if" not in part]
    kept = {key: value for key, value in schema.items() if key != "allOf"} | ({"allOf": rest} if rest else {})
    kept_to: Object = {"not": {"anyOf": [_broken(rule) for rule in rules]}}
    if len(rules) > MOST_FOLDED and schema.get("required"):
        return {**kept, "dependentSchemas": {schema["required"][0]: kept_to}}
    return {**kept, **kept_to}


def _broken(rule: Object) -> dict[str, Any]:
    """Returns what breaks a rule."""
    told = {key: value for key, value in rule.items() if key not in ("if", "then")}
    return {**told, "allOf": [rule["if"], {"not": rule["then"]}]}
