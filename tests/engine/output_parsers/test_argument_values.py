import json
from typing import Any

import pytest

from specvino.engine.output_parsers.argument_values import typed_json

TEXT = {"type": "string"}
ROOT = {"$defs": {"unit": {"enum": ["c", "f"]}, "loop": {"$ref": "#/$defs/loop"}, "a/b": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("5", TEXT, "5"),
        (" 5 ", TEXT, " 5 "),
        ("null", TEXT, "null"),
        ('"x"', TEXT, '"x"'),
        ("5", {"type": "integer"}, 5),
        (" 5 ", {"type": "number"}, 5),
        ("five", {"type": "integer"}, "five"),
        ("True", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ("None", {"type": "null"}, None),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ("{'a': (1,)}", {"type": "object"}, {"a": [1]}),
        ("{'a': 1} x", {"type": "object"}, "{'a': 1} x"),
        ("{'a':", {"type": "object"}, "{'a':"),
        ("null", {"anyOf": [TEXT, {"type": "null"}]}, None),
        ("5", {"anyOf": [TEXT, {"type": "null"}]}, "5"),
        ("5", {"type": ["string", "integer"]}, 5),
        ("5", {"oneOf": [TEXT, {"type": "number"}]}, 5),
        ("x", {"type": ["string", "null"]}, "x"),
        ("5", {"enum": ["5", "6"]}, "5"),
        ("5", {"enum": [5, 6]}, 5),
        ("5", {"const": "5"}, "5"),
        ("true", {"$ref": "#/$defs/unit"}, "true"),
        ("5", {"$ref": "#/$defs/a~1b"}, 5),
        ("5", {"$ref": "#/$defs/loop"}, 5),
        ("5", {"$ref": "#/nowhere/at/all"}, 5),
        ("5", {"anyOf": [TEXT, {}]}, 5),
        ("5", None, 5),
        ("[" * 200 + "]" * 200, None, "[" * 200 + "]" * 200),
        ("x y", None, "x y"),
        ("", {"type": "integer"}, ""),
        ("5", True, 5),
        ("[1]", {"type": ["array", "string"]}, [1]),
        ('{"a": 1}', {"type": ["object", "string"]}, {"a": 1}),
        ("true", {"type": ["boolean", "string"]}, True),
        ('"x"', {"type": ["integer", "string"]}, "x"),
        ("null", {"enum": [None, "x"]}, None),
        ("[]", {"enum": [[], "x"]}, []),
        ("true", {"enum": [True, "x"]}, True),
        ("{}", {"enum": [{}, "x"]}, {}),
    ],
)
def test_an_argument_gets_its_schemas_type(text: str, schema: Any, value: Any) -> None:
    got = json.loads(typed_json(text, schema, ROOT))
    assert got == value
    assert type(got) is type(value)


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    assert typed_json(r"['\ud83c\udf89', '\ud83c']", {"type": "array"}, None) == r'["\ud83c\udf89", "\ud83c"]'
