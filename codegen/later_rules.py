"""The rules of an older version of a system: those of the newest one, without what they say of later fields."""

from collections.abc import Callable
from typing import Any

from specvino.document.operations import Schema
from specvino.document.system_fields import SystemFields

# Whether a field of a body came later.
Later = Callable[[str], bool]


def drop_later(
    rules: dict[str, list[Schema]], described: SystemFields, newest: SystemFields
) -> dict[str, list[Schema]]:
    """Returns the rules by endpoint, without conditions on, and requirements of, fields of the body that the sources of
    the newest version have and those of this version don't: it ignores them, like any unknown field."""
    result = {}
    for endpoint, listed in rules.items():

        def later(name: str, endpoint: str = endpoint) -> bool:
            return described.has(endpoint, "request", name) is False and newest.has(endpoint, "request", name) is True

        left = [kept for rule in listed if (kept := _without(rule, later))]
        if left:
            result[endpoint] = left
    return result


def _without(rule: Schema, later: Later) -> Schema:
    """Returns a rule as it is for a body without the later fields; empty if it is nothing then."""
    condition = rule.get("if", {})
    if any(later(name) for name in condition.get("required", ())):
        return _without(rule.get("else", {}), later)
    kept: dict[str, Any] = {}
    for keyword, value in rule.items():
        if keyword == "properties":
            value = {name: schema for name, schema in value.items() if not later(name)}
        elif keyword == "allOf":
            value = [left for part in value if (left := _without(part, later))]
        elif keyword in ("if", "then", "else"):
            value = _without(value, later)
        if value or keyword == "if":
            kept[keyword] = value
    return kept if kept.keys() - {"if"} else {}
