"""What can't be used of a body is left out, and named."""

from typing import Any

import pytest

from specvino.document.validator import Validators
from specvino.server.dialect.usable import Usable

TEXT = {
    "type": "object",
    "required": ["kind", "text"],
    "properties": {"kind": {"const": "text"}, "text": {"type": "string"}},
}
CALL = {
    "type": "object",
    "required": ["kind", "name"],
    "properties": {
        "kind": {"const": "call"},
        "name": {"type": "string", "minLength": 1},
        "arguments": {"type": ["string", "null"]},
    },
}
BODY = {
    "type": "object",
    "required": ["model"],
    "properties": {
        "model": {"type": "string", "minLength": 1},
        "words": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}}]},
        "heat": {"type": ["number", "null"], "minimum": 0, "maximum": 2},
        "least": {"type": "number", "exclusiveMaximum": 1},
        "most": {"type": "integer", "minimum": 1, "maximum": 9},
        "parts": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"oneOf": [TEXT, CALL]}},
        "bias": {"type": "object", "additionalProperties": {"type": "number", "maximum": 5}},
        "stream": {"type": "boolean"},
        "usage": {"type": "boolean"},
    },
    "allOf": [
        {
            "x-error": {"param": "usage", "message": "usage requires stream."},
            "if": {"required": ["usage"]},
            "then": {"required": ["stream"]},
        }
    ],
}
USABLE = Usable("Body", {"model": "default"}, Validators({"components": {"schemas": {"Body": BODY}}}))
MODEL = {"model": "m"}
SAID = {"kind": "text", "text": "Hi"}


@pytest.mark.parametrize(
    ("sent", "used", "names"),
    [
        ({"words": ""}, {}, ["words"]),
        ({"words": ["a", 5, "b"]}, {"words": ["a", "b"]}, ["words"]),
        ({"heat": 3}, {"heat": 2}, ["heat"]),
        ({"heat": -1}, {"heat": 0}, ["heat"]),
        ({"heat": True}, {}, ["heat"]),
        ({"least": 1}, {}, ["least"]),
        ({"most": 12}, {"most": 9}, ["most"]),
        ({"most": -1}, {}, ["most"]),
        ({"most": None}, {}, []),
        ({"usage": True}, {}, ["usage"]),
        ({"usage": True, "stream": 5}, {}, ["usage", "stream"]),
        ({"bias": {"1": 9, "2": "x", "3": 1}}, {"bias": {"1": 5, "3": 1}}, ["bias.1", "bias.2"]),
        ({"parts": [{"kind": "text"}]}, {"parts": [{**SAID, "text": ""}]}, []),
        ({"parts": [{"kind": "text", "text": 5}]}, {"parts": [{**SAID, "text": ""}]}, ["parts.0.text"]),
        ({"parts": [SAID, {"kind": "call"}]}, {"parts": [SAID]}, ["parts"]),
        ({"parts": [{"kind": "odd", "text": "Hi"}]}, {}, ["parts"]),
        (
            {"parts": [{"kind": "call", "name": "f", "arguments": {"a": 1}}]},
            {"parts": [{"kind": "call", "name": "f", "arguments": '{"a": 1}'}]},
            [],
        ),
        ({"more": {"odd": 1}, "most": 0}, {"more": {"odd": 1}}, ["most"]),
    ],
)
def test_the_smallest_invalid_part_is_left_out(sent: Any, used: Any, names: list[str]) -> None:
    assert USABLE.of({**MODEL, **sent}) == ({**MODEL, **used}, names)


def test_what_is_required_has_the_default_of_the_system() -> None:
    assert USABLE.of({"heat": 1}) == ({"model": "default", "heat": 1}, [])
    assert USABLE.of({"model": ""}) == ({"model": "default"}, ["model"])


@pytest.mark.parametrize("body", [5, [], {**MODEL, "parts": [SAID] * 4}], ids=str)
def test_a_body_without_a_usable_part_stays_as_it_is(body: Any) -> None:
    assert USABLE.of(body) == (body, [])
