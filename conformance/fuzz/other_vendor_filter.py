"""Drops failures that aren't findings for another vendor's server.

Its document lists no refusals, and the model's features are unknown: a proper refusal of a valid request is only
counted. Some limits may only be ours: only invalid requests that break the structure must be refused.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, cast
from urllib.parse import unquote

from schemathesis import Case, HookContext, Response
from schemathesis.core.failures import AcceptedNegativeData, Failure, ServerError
from schemathesis.openapi.checks import (
    AllowHeaderMismatch,
    RejectedPositiveData,
    UndefinedStatusCode,
    UnsupportedMethodResponse,
)

from specvino.conformance.dialect import Dialect, Kind
from specvino.conformance.fuzz.answer_checks import OWN_LIMITS
from specvino.conformance.fuzz.exchanges import endpoint_of
from specvino.conformance.fuzz.report import FuzzReport
from specvino.conformance.http.client import RETRIED
from specvino.document.validator import Validator, Validators

BUSY_FAILURES = (ServerError, RejectedPositiveData, UndefinedStatusCode)

REFUSAL_FAILURES = (ServerError, AcceptedNegativeData, RejectedPositiveData)


def _is_busy(response: Response) -> bool:
    """Returns whether the server is busy and asks to retry later."""
    return response.status_code in RETRIED and "retry-after" in response.headers


def _request_json(response: Response) -> Any:
    """Returns the JSON of the request. Raises ValueError for other content, RecursionError for too deeply nested
    JSON."""
    return json.loads(cast("bytes | str", response.request.body or b""))


def _sends_json(response: Response) -> bool:
    try:
        _request_json(response)
    except (ValueError, RecursionError):
        return False
    return True


class OtherVendorFilter:
    """A hook `filter_failure`, which returns whether to keep a failure. `models` are the names of the served models."""

    def __init__(self, dialect: Dialect, report: FuzzReport, models: Collection[str]) -> None:
        self._dialect = dialect
        self._models = models
        self._report = report
        self._structures: dict[str, Validator | None] = {}
        self._validators = Validators(
            {"components": {"schemas": _structures_of(dialect.document["components"]["schemas"])}}
        )

    def __call__(self, context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        if isinstance(failure, BUSY_FAILURES) and _is_busy(response):
            return False
        if isinstance(failure, REFUSAL_FAILURES) and self._is_known_refusal(case, response):
            return False
        if isinstance(failure, RejectedPositiveData):
            return not self._is_refusal(case, response)
        if isinstance(failure, AcceptedNegativeData):
            return self._breaks_structure(case, response)
        if isinstance(failure, UndefinedStatusCode):
            return response.status_code not in OWN_LIMITS
        if isinstance(failure, UnsupportedMethodResponse):  # the server may have undocumented methods
            statuses = self._dialect.statuses("method", endpoint_of(case))
            return statuses is not None and 400 <= response.status_code < 500 and response.status_code not in statuses
        if isinstance(failure, AllowHeaderMismatch):
            return bool(failure.missing_methods)
        return True

    def _is_known_refusal(self, case: Case[Any], response: Response) -> bool:
        """Returns whether the status is the system's own for an invalid body or an unknown model: some systems use
        500."""
        endpoint, model = endpoint_of(case), (case.path_parameters or {}).get("model")
        kind: Kind | None = None
        if model is not None and unquote(str(model)) not in self._models:
            kind = "unknown_model"
        elif self._dialect.operations[endpoint].body is not None and not _sends_json(response):
            kind = "json"
        return kind is not None and response.status_code in (self._dialect.statuses(kind, endpoint) or ())

    def _is_refusal(self, case: Case[Any], response: Response) -> bool:
        if self._is_invalid(case, response):
            return True  # invalid by a rule that generation doesn't use
        if not 400 <= response.status_code < 500:
            return False
        shape = self._dialect.error(endpoint_of(case), response.status_code)
        try:
            proper = shape is None or shape.fits(json.loads(response.content))
        except (ValueError, RecursionError):
            return False
        if proper:
            self._report.excused[case.operation.label, str(response.status_code)] += 1
        return proper

    def _is_invalid(self, case: Case[Any], response: Response) -> bool:
        """Returns whether the request is invalid by the system's document, even if it was generated as valid."""
        return _sends_json(response) and self._dialect.accepts(endpoint_of(case), _request_json(response)) is False

    def _breaks_structure(self, case: Case[Any], response: Response) -> bool:
        """Returns whether the body breaks the structure of its schema. Parameters only have bounds."""
        endpoint = endpoint_of(case)
        if endpoint not in self._structures:
            self._structures[endpoint] = self._structure(endpoint)
        shape = self._structures[endpoint]
        if shape is None:
            return False
        try:
            return not shape.fits(_request_json(response))
        except (ValueError, RecursionError):
            return True

    def _structure(self, endpoint: str) -> Validator | None:
        schema = self._dialect.operations[endpoint].body
        return None if schema is None else self._validators.of(structure(schema))


def structure(schema: Any) -> Any:
    """Returns the schema without bounds, formats and rules between fields: types, values and required fields. Null may
    replace an optional field: many clients send it, and most servers accept it."""
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: schema[key] for key in ("type", "const", "enum", "required", "$ref") if key in schema}
    for key in ("allOf", "anyOf", "prefixItems"):
        if key in schema:
            kept[key] = [structure(branch) for branch in schema[key]]
    if "oneOf" in schema:  # without bounds, a value may fit several branches
        kept["allOf"] = [*kept.get("allOf", ()), {"anyOf": [structure(branch) for branch in schema["oneOf"]]}]
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            kept[key] = structure(schema[key])
    if "properties" in schema:
        required = schema.get("required", ())
        kept["properties"] = {
            name: property_schema if name in required else {"anyOf": [property_schema, {"type": "null"}]}
            for name, property_schema in _structures_of(schema["properties"]).items()
        }
    return kept


def _structures_of(schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {name: structure(subschema) for name, subschema in schemas.items()}
