"""Whether a text satisfies a schema: jsonschema-rs decides."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import jsonschema_rs


def judge(schema: Any) -> Callable[[str], bool]:
    """Returns a function of a JSON text. Formats count, and numbers are exact. Like the conversion, it ignores a
    meta-schema that isn't JSON Schema's own.
    """
    if isinstance(schema, dict) and not str(schema.get("$schema")).startswith(("http://json-sch", "https://json-sch")):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    is_valid = jsonschema_rs.validator_for(schema, validate_formats=True).is_valid
    return lambda text: is_valid(json.loads(text, parse_float=Decimal))
