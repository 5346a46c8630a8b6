"""The tools of all conversations with calls, described in such a way that all templates can show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    name: str
    parameters: Mapping[str, Any]


def _function(name: str, **properties: dict[str, Any]) -> Function:
    """Returns a function; its first argument must be given."""
    described = {name: {"description": f"the {name}", **schema} for name, schema in properties.items()}
    parameters: dict[str, Any] = {"type": "object", "properties": described}
    if properties:
        parameters["required"] = [*properties][:1]
    return Function(name, parameters)


_STRING = {"type": "string"}
_STRINGS = {"type": "array", "items": _STRING}

FUNCTIONS = (
    _function("now"),
    _function(
        "get_weather",
        city=_STRING,
        days={"type": "integer"},
        factor={"type": "number"},
        detailed={"type": "boolean"},
        # Lists of types, and objects without further keywords, send some templates' macros into a recursion.
        region={"anyOf": [_STRING, {"type": "null"}]},
        options={"type": "object", "additionalProperties": True},
        tags=_STRINGS,
    ),
    _function("note", text=_STRING, title=_STRING, lines=_STRINGS),
    _function("keep", value={}, other={}),  # of no type
)

# As a request has them.
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": function.name,
            "description": f"Does {function.name}.",
            "parameters": dict(function.parameters),
        },
    }
    for function in FUNCTIONS
]
