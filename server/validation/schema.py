"""The document's schemas, compiled once: nothing else decides whether a request is valid."""

from functools import cache, cached_property
from typing import Any

from specvino.document.loading import whole
from specvino.document.operations import Schema, operations
from specvino.document.pointers import schema_reference
from specvino.document.validator import Validators
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.validation.validation_errors import Explainer


@cache
def _validators() -> Validators:
    return Validators(whole())


class SchemaCheck:
    """Refuses the values that break one schema, in which the components of a document may be referred to: of ours, or
    of another."""

    def __init__(self, schema: Schema, document: Schema | None = None) -> None:
        self._schema = schema
        self._document = document or whole()
        self._is_valid = (Validators(document) if document else _validators()).of(schema).is_valid

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer({**self._schema, "components": self._document["components"]})

    @classmethod
    def of_component(cls, name: str) -> "SchemaCheck":
        """Returns the check of the component schema of that name."""
        return cls({"$ref": schema_reference(name)})

    @classmethod
    def of_parameters(cls, operation_id: str) -> "SchemaCheck":
        """Returns the check of an operation's parameters, as an object of their values by name."""
        operation = next(each for each in operations(whole()) if each.id == operation_id)
        return cls({"type": "object", "properties": {each["name"]: each["schema"] for each in operation.parameters}})

    def require(self, value: Any) -> None:
        """Raises ApiError for a value that breaks the schema, naming the field, the value and what is accepted."""
        try:
            if not self._is_valid(value):
                raise self._explainer.explain(value)
        except ValueError:  # jsonschema-rs goes 255 levels down
            raise ApiError(ErrorCode.INVALID_JSON, "The request body is not valid: it is nested too deeply.") from None
