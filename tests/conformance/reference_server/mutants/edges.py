"""What is at the edge of the document, and beyond."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from reference_server.refusal import Refusal
from reference_server.requests import Requests
from specvino.generated.errors import ErrorCode


class TakesTooMuch(Requests):
    """No bound, and no rule between two fields, holds."""

    breaks = {"chat/edges/refused", "completions/edges/refused", "responses/edges/refused", "tokenize/edges/refused"}
    faults = 2

    def violations(self, component: str, body: Any) -> Iterator[jsonschema_rs.ValidationError]:
        structural = ("type", "required", "anyOf", "oneOf")
        for error in super().violations(component, body):
            if error.schema_path[-1] in structural and "allOf" not in error.schema_path:
                yield error


class RefusesTheRare(Requests):
    """Fields that few clients send are refused, though the document has them."""

    breaks = {"chat/edges/taken", "completions/edges/taken", "responses/edges/taken"}

    def unsupported(self, body: Any, component: str) -> list[str]:
        for name in ("verbosity", "logit_bias", "metadata"):
            if body.get(name):
                raise Refusal(ErrorCode.UNKNOWN_PARAMETER, f"{name} is unknown.", name)
        return super().unsupported(body, component)
