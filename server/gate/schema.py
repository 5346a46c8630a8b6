"""The document's schemas, compiled once: the only judges of validity."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.gate.explain import explain


@cache
def document() -> dict[str, Any]:
    """The OpenAPI 3.2 document."""
    loaded: dict[str, Any] = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))
    return loaded


class Judge:
    """Judges values by one component schema."""

    def __init__(self, component: str) -> None:
        schema = {"$ref": f"#/components/schemas/{component}", "components": document()["components"]}
        self._validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)

    def require(self, value: Any) -> None:
        """Raises ApiError for a value that breaks the schema, naming the field, the value and what is accepted."""
        try:
            if self._validator.is_valid(value):
                return
            error = next(iter(self._validator.iter_errors(value)))
        except ValueError:  # jsonschema-rs goes 255 levels down
            raise ApiError(ErrorCode.INVALID_JSON, "The request body is not valid: it is nested too deeply.") from None
        raise explain(error, document())
