"""The words of x-stream, as JSON Schemas: a key that nobody reads would say nothing."""

from typing import Any

import jsonschema_rs

Shape = dict[str, Any]


def misfits(shape: Shape, value: Any) -> list[str]:
    """What is misspelt, missing or surplus; empty when nothing."""
    return [
        f"{'.'.join(map(str, error.instance_path))}: {error.message}".removeprefix(": ")
        for error in jsonschema_rs.Draft202012Validator(shape).iter_errors(value)
    ]


def closed(required: dict[str, Shape], optional: dict[str, Shape] | None = None) -> Shape:
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(of: Shape) -> Shape:
    return {"type": "array", "items": of, "minItems": 1, "uniqueItems": True}


NAME: Shape = {"type": "string", "minLength": 1}
# A path through objects, such as `response.id`.
PATH: Shape = {"type": "string", "pattern": r"^[^.\[\]]+(\.[^.\[\]]+)*$"}
NAMES, PATHS = _list(NAME), _list(PATH)

TABLE = closed(
    {
        "framing": {"enum": ["data", "event"]},
        "terminator": {"type": ["string", "null"]},
        "classify": {"type": ["string", "array"], "minItems": 1, "minLength": 1},
        "machines": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object"}},
        "laws": {"type": "array", "uniqueItems": True, "items": {"type": ["string", "object"]}},
    }
)

RULE = {
    **closed({"fact": NAME, "at": PATH}, {"each": PATH, "key": PATH}),
    "dependentRequired": {"each": ["key"], "key": ["each"]},
}

OUTERMOST = {
    **closed({"end": NAMES}, {"open": NAME, "body": NAMES, "fail": NAMES, "abort": NAMES}),
    "dependentRequired": {"abort": ["open"]},
}
INNER = closed({"in": NAME, "key": PATH, "close": NAME}, {"open": NAME, "body": NAMES})

# What each law has beside its name. Each means what its class in streams.py.jinja says.
LAWS: dict[str, Shape] = {
    "keys dense": closed({}),
    "children close first": closed({}),
    "constant": closed({"fields": PATHS}),
    "one fact": closed({"of": NAME}),
    "consecutive": closed({"field": PATH, "from": {"type": "integer"}}),
    "one id": closed({"of": NAME, "fields": PATHS}),
    "joined deltas": closed({"texts": _list(closed({"delta": NAME, "done": NAME, "as": PATH, "whole": PATH}))}),
    "whole equals pieces": closed({"of": NAME, "piece": PATH, "whole": PATH}),
}
