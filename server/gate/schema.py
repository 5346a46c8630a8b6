"""The document's schemas, compiled once: the only judges of validity."""

import json
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import jsonschema_rs

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.gate.explain import Explainer


@cache
def document() -> dict[str, Any]:
    """The OpenAPI 3.2 document."""
    loaded: dict[str, Any] = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))
    return loaded


class Judge:
    """Judges values by one schema, in which the document's components may be referred to."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = {**schema, "components": document()["components"]}
        self._validator = jsonschema_rs.Draft202012Validator(self._schema, validate_formats=True)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._schema)

    @classmethod
    def of_component(cls, name: str) -> "Judge":
        return cls({"$ref": f"#/components/schemas/{name}"})

    @classmethod
    def of_parameters(cls, path: str, method: str) -> "Judge":
        """Judges an operation's parameters, as an object of their values by name."""
        item = document()["paths"][path]
        parameters = (*item.get("parameters", ()), *item[method.lower()].get("parameters", ()))
        return cls({"type": "object", "properties": {each["name"]: each["schema"] for each in parameters}})

    def require(self, value: Any) -> None:
        """Raises ApiError for a value that breaks the schema, naming the field, the value and what is accepted."""
        try:
            if not self._validator.is_valid(value):
                raise self._explainer.explain(value)
        except ValueError:  # jsonschema-rs goes 255 levels down
            raise ApiError(ErrorCode.INVALID_JSON, "The request body is not valid: it is nested too deeply.") from None
