"""Values beyond the bounds of a schema."""

from typing import Any

import pytest

from specvino.document.beyond_bounds import LARGEST, beyond_bounds
from specvino.document.loading import whole
from specvino.document.operations import Schema, by_endpoint
from specvino.document.pointers import resolved
from specvino.document.validator import Validators

DOCUMENT = {
    "components": {
        "schemas": {
            "Text": {"type": "string", "maxLength": 2},
            "Tree": {
                "type": "object",
                "properties": {
                    "children": {"type": "array", "maxItems": 1, "items": {"$ref": "#/components/schemas/Tree"}}
                },
            },
            "Endless": {
                "type": "object",
                "required": ["self"],
                "properties": {"self": {"$ref": "#/components/schemas/Endless"}, "name": {"maxLength": 1}},
            },
        }
    }
}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "integer", "maximum": 7}, [8]),
        ({"type": "number", "maximum": 1e308}, [1.0000000000000002e308]),
        ({"$ref": "#/components/schemas/Text"}, ["aaa"]),
        ({"anyOf": [{"$ref": "#/components/schemas/Text"}, {"type": "null"}]}, ["aaa"]),
        ({"type": "array", "maxItems": 1, "items": {"enum": ["x", "y"]}}, [["x", "x"]]),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Text"}}, [["aaa"]]),
        ({"type": "object", "maxProperties": 1}, [{"k0": "a", "k1": "a"}]),
        (
            {
                "type": "object",
                "propertyNames": {"maxLength": 1},
                "additionalProperties": {"maximum": 1, "type": "number"},
            },
            [{"kk": 1}, {"k": 2}],
        ),
        (
            {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"const": "t"}, "text": {"$ref": "#/components/schemas/Text"}},
            },
            [{"type": "t", "text": "aaa"}],
        ),
        ({"$ref": "#/components/schemas/Tree"}, [{"children": [{}, {}]}]),
        # What can't be written down can't be too large either.
        ({"$ref": "#/components/schemas/Endless"}, []),
        ({"type": "string", "maxLength": LARGEST + 1}, []),
        ({"type": "boolean"}, []),
        ({}, []),
    ],
)
def test_one_for_each_bound(schema: Schema, values: list[Any]) -> None:
    assert list(beyond_bounds(DOCUMENT, schema)) == values


@pytest.mark.parametrize(("endpoint", "least"), [("chat", 300), ("completions", 180), ("responses", 230)])
def test_the_document_refuses_them(endpoint: str, least: int) -> None:
    schema = resolved(whole(), by_endpoint(whole())[endpoint].body)
    known = {"properties": schema["properties"]}
    validator = Validators(whole()).of(known)
    values = list(beyond_bounds(whole(), known))
    allowed = [str(value)[:80] for value in values if validator.fits(value)]
    assert len(values) >= least
    assert allowed == []
