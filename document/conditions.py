"""Conditions between the fields of a request, and between a field and a fact about the server.

`openapi/conditions.yaml` defines them and `openapi/README.md` their vocabulary; codegen writes the conditions of each
endpoint that no schema states to `generated/conditions.json`. A server rejects a request that meets one of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.document.validator import Validator

Lookup = Callable[[str], Any]
"""Returns the value at a dotted path of a body, None if it is absent or null."""

Schema = Mapping[str, Any]

# The last step of a path that only selects the type of its field's value.
_KIND = re.compile(r"\.(type|mode|name)$")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The error for a request that meets a condition: `param` is the path of the field at fault,
    and `reason` a finer code for clients that act on it."""

    condition: str
    code: str
    message: str
    param: str
    reason: str | None = None


class Group:
    """Fields, one of which must have a value that fits its schema. `paths` are the fields, in order."""

    def __init__(self, fields: Mapping[str, Schema]) -> None:
        self.paths = tuple(fields)
        self._fields = [
            (path, shown(path), Validator(schema).fits if schema else None) for path, schema in fields.items()
        ]

    def matches(self, value: Lookup) -> Iterator[str]:
        """Yields the fields that fit, by their names in errors."""
        for path, field, fits in self._fields:
            actual = value(path)
            if actual is not None and (fits is None or fits(actual)):
                yield field


class Condition:
    """A condition of one endpoint."""

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        self.name = name
        self.code: str = entry.get("code", "invalid_value")
        self._message: str = entry["message"]
        self._param: str | None = entry.get("param")
        self._reason: str | None = entry.get("reason")
        self._facts = {fact: Validator(schema).fits for fact, schema in entry.get("facts", {}).items()}
        self.like_schema: bool = entry.get("like_schema", False)
        self._entry = entry
        self.fields = fields_of(entry)
        """The top-level fields that it refers to."""
        self._evaluate = _evaluator(entry)

    def refusal(self, value: Lookup, facts: Mapping[str, Any]) -> Refusal | None:
        """Returns the refusal of a body that meets the condition on a server with these facts, else None.

        A condition whose facts are unknown isn't met.
        """
        if not self._holds(facts):
            return None
        names = self._evaluate(value, facts)
        if names is None:
            return None
        param = self._param or names["field"]
        return Refusal(self.name, self.code, self._message.format_map(names), param, self._reason)

    def bounds(self, facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Returns the consequences for single fields on a server with these facts, regardless of other fields: schemas
        that their values must fit, by path.
        """
        if not self._holds(facts):
            return {}
        if exceeds := self._entry.get("exceeds"):
            limit = facts.get(exceeds.get("fact"))
            bound = "exclusiveMaximum" if exceeds.get("inclusive") else "maximum"
            return {} if limit is None else {path: {bound: limit} for path in exceeds["fields"]}
        if "both" not in self._entry:
            return {}
        first, *others = self._entry["both"]
        return {} if others or "requires" in self._entry else {path: complement(first[path]) for path in first}

    def _holds(self, facts: Mapping[str, Any]) -> bool:
        return all(fact in facts and fits(facts[fact]) for fact, fits in self._facts.items())


class Conditions:
    """The conditions of one endpoint, in the order in which a server checks them."""

    def __init__(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        every = [Condition(name, entry) for name, entry in entries.items()]
        self.like_schema = [condition for condition in every if condition.like_schema]
        """The conditions that other endpoints have in their schemas, which are therefore checked as early as a
        schema.
        """
        self.others = [condition for condition in every if not condition.like_schema]

    def __iter__(self) -> Iterator[Condition]:
        return iter((*self.like_schema, *self.others))

    def refusals(self, value: Lookup, facts: Mapping[str, Any]) -> Iterator[Refusal]:
        """Yields the refusals of a body, in order."""
        for condition in self:
            if refusal := condition.refusal(value, facts):
                yield refusal


def value_at(body: Any, path: str) -> Any:
    """Returns the value at a dotted path of a JSON object, None if it is absent."""
    for name in path.split("."):
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body


def shown(path: str) -> str:
    """Returns the field that errors name for a path: `tool_choice` for `tool_choice.type`."""
    return _KIND.sub("", path)


def fields_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the top-level fields of a condition, in order."""
    paths = [path for fields in entry.get("both", ()) for path in fields]
    paths += [*entry.get("more_than_one", ()), *entry.get("members", ())]
    paths += [*entry.get("exceeds", {}).get("fields", ()), *entry.get("exceeds", {}).get("than", ())]
    return tuple(dict.fromkeys(path.partition(".")[0] for path in paths))


def complement(schema: Schema) -> dict[str, Any]:
    """Returns the complement of a condition's schema; null and absent values never fit."""
    match dict(schema):
        case {"type": "integer", "minimum": least, **rest} if not rest:
            return {"maximum": least - 1}
        case {"const": bool(value), **rest} if not rest:
            return {"enum": [not value, None]}
        case {"not": {"const": value, **rest}} if not rest:
            return {"enum": [value, None]}
        case {"not": {"enum": values, **rest}} if not rest:
            return {"enum": [*values, None]}
        case {"minItems": int(least), **rest} if not rest:
            return {"maxItems": least - 1}
        case {"type": str(), **rest} if not rest:
            return {"type": "null"}
        case {**rest} if not rest:
            return {"type": "null"}
    return {"anyOf": [{"type": "null"}, {"not": dict(schema)}]}


_Placeholders = dict[str, Any] | None


def _evaluator(entry: Mapping[str, Any]) -> Callable[[Lookup, Mapping[str, Any]], _Placeholders]:
    """Returns the function that evaluates the condition and returns the placeholders of its message if it is met."""
    if "exceeds" in entry:
        return _exceeds(**entry["exceeds"])
    if "members" in entry:
        return _members(entry["members"])
    if "more_than_one" in entry:
        return _more_than_one(Group(entry["more_than_one"]))
    return _both([Group(fields) for fields in entry["both"]], Group(entry.get("requires", {})))


def _both(groups: list[Group], required: Group) -> Callable[[Lookup, Mapping[str, Any]], _Placeholders]:
    def evaluate(value: Lookup, facts: Mapping[str, Any]) -> _Placeholders:
        matched = []
        for fields in groups:
            field = next(fields.matches(value), None)
            if field is None:
                return None
            matched.append(field)
        if any(required.matches(value)):
            return None
        return dict(zip(("field", "other"), matched, strict=False))

    return evaluate


def _exceeds(
    fields: Iterable[str], than: Iterable[str] = (), fact: str | None = None, inclusive: bool = False
) -> Callable[[Lookup, Mapping[str, Any]], _Placeholders]:
    def evaluate(value: Lookup, facts: Mapping[str, Any]) -> _Placeholders:
        limits = [(fact, facts.get(fact))] if fact else [(path, value(path)) for path in than]
        for path in fields:
            numbers = _numbers(value(path))
            number = max(numbers) if numbers else None
            for other, limit in limits:
                if number is None or limit is None:
                    continue
                if number > limit or (inclusive and number == limit):
                    return {"field": path, "other": other, "value": number, "limit": limit}
        return None

    return evaluate


def _numbers(actual: Any) -> list[int | float]:
    """Returns the numbers of a field: its value, those in its list (of lists), or the keys of its object."""
    if isinstance(actual, Mapping):
        return [int(key) for key in actual if key.isdecimal()]
    values = actual if isinstance(actual, list) else [actual]
    elements = (inner for value in values for inner in (value if isinstance(value, list) else (value,)))
    return [element for element in elements if type(element) in (int, float)]  # true and false are none


def _members(members: Mapping[str, Iterable[str]]) -> Callable[[Lookup, Mapping[str, Any]], _Placeholders]:
    def evaluate(value: Lookup, facts: Mapping[str, Any]) -> _Placeholders:
        for path, names in members.items():
            actual = value(path) or {}
            for name in names:
                if name in actual:
                    return {"field": f"{path}.{name}"}
        return None

    return evaluate


def _more_than_one(fields: Group) -> Callable[[Lookup, Mapping[str, Any]], _Placeholders]:
    def evaluate(value: Lookup, facts: Mapping[str, Any]) -> _Placeholders:
        matched = list(fields.matches(value))
        return {"field": matched[0], "other": matched[1]} if len(matched) > 1 else None

    return evaluate
