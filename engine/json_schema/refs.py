"""Where a `$ref` leads."""

from collections.abc import Mapping
from typing import Any


def resolve(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follows references within the tool's schema. What can't be followed admits anything."""
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = root
        for step in reference.removeprefix("#").split("/")[1:]:
            schema = schema.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(schema, Mapping) else None
    return {}
