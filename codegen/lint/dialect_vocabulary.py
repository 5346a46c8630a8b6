"""The words of a dialect file's head, as a JSON Schema: a key that nobody reads would say nothing."""

from specvino.codegen.lint.stream_vocabulary import NAME, NAMES, Shape, closed
from specvino.codegen.statuses import FORMS, KINDS

STATUS: Shape = {"type": "integer", "minimum": 400, "maximum": 599}
ANSWERED: Shape = {
    "anyOf": [
        STATUS,
        {"type": "array", "items": STATUS, "minItems": 2, "uniqueItems": True},
        {"enum": [None, "unknown"]},
    ]
}
FORM: Shape = {"enum": list(FORMS)}

STATUSES: dict[str, Shape] = {kind: ANSWERED for kinds in KINDS.values() for kind in kinds} | {
    # Of requests that no document has.
    "unknown_route": ANSWERED,
    "method": ANSWERED,
}

ERRORS = closed(
    {"envelope": FORM, "statuses": closed(STATUSES)},
    {
        # Where a status has another form.
        "envelopes": {
            "type": "object",
            "propertyNames": {"pattern": "^[45][0-9]{2}$"},
            "additionalProperties": FORM,
            "minProperties": 1,
        },
        # Where an endpoint has other statuses.
        "at": {"type": "object", "additionalProperties": closed({}, STATUSES), "minProperties": 1},
    },
)

# What of a stream's table need not hold.
BREAKS = ("choice.open", "stream.end", "one fact", "constant.created", "no silent event")

STREAM = closed(
    {
        "framing": {"enum": ["data", "event"]},
        "terminator": {"type": ["string", "null"], "minLength": 1},
        "error": {"enum": ["event", "none"]},
    },
    {
        "first": {"type": "integer"},
        "order": NAME,
        "breaks": {"type": "array", "items": {"enum": list(BREAKS)}, "minItems": 1, "uniqueItems": True},
    },
) | {"dependentRequired": {"breaks": ["order"]}}

DIALECT = closed(
    {
        "name": NAME,
        "base_paths": {"type": "array", "minItems": 1},
        "auth": closed({"header": NAME}, {"always": {"const": True}, "open": NAMES}),
        "headers": {"type": "array", "items": NAME, "uniqueItems": True},
        "errors": ERRORS,
        "stream": {"type": "object", "additionalProperties": STREAM},
        "unknown_fields": {"enum": ["ignored", "refused"]},
    },
    # `differences` has rules of its own, in differences.py.
    {
        "port": {"type": "integer"},
        "hosted": closed({"url": NAME, "key": NAME, "model": NAME}),
        "differences": {"type": "object"},
    },
)
