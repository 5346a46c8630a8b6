"""Does the engine leave out keywords of JSON Schemas, without a word to the caller?"""

import json
from typing import Any

from grammar_probe import Probe
from verdict import report

A = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
B = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
WRONG: list[tuple[str, Any]] = [
    ("true", {"allOf": [A, B]}),
    ("[1, 1]", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
    ('"aaaaa"', {"type": "string", "pattern": "^a*$", "maxLength": 3}),
    ('"a\tb"', {"type": "string", "maxLength": 5}),
    ("[]", {"type": "array", "contains": {"type": "integer"}}),
    ('"a"', {"not": {"type": "string"}}),
]
probe = Probe()
allowed = [text for text, schema in WRONG if probe.allows(text, json_schema=json.dumps(schema))]
report(bool(allowed), f"of {len(WRONG)} invalid texts it allows {len(allowed)}: {', '.join(map(repr, allowed))}")
