"""Drops failures that are no findings where a server is tested against another vendor's document.

It isn't known what the served model can't do, and such a document lists no refusals; so a proper refusal of a valid
request is only counted. Its limits may be ours alone; so only invalid requests that break the structure must be
refused."""

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
from specvino.conformance.fuzz.checks import OWN_LIMITS
from specvino.conformance.fuzz.exchanges import endpoint_of
from specvino.conformance.fuzz.report import FuzzReport
from specvino.conformance.http.client import RETRIED
from specvino.document.validator import Validator, Validators

OF_BUSY = (ServerError, RejectedPositiveData, UndefinedStatusCode)

OF_MISTAKES = (ServerError, AcceptedNegativeData, RejectedPositiveData)


def _is_busy(response: Response) -> bool:
    """Returns whether the server asks to retry later; being busy is no fault."""
    return response.status_code in RETRIED and "retry-after" in response.headers


def _sent(response: Response) -> Any:
    """Returns the JSON of the request. Raises ValueError for other content, and RecursionError for JSON that is nested
    too deeply."""
    return json.loads(cast("bytes | str", response.request.body or b""))


def _sends_json(response: Response) -> bool:
    try:
        _sent(response)
    except (ValueError, RecursionError):
        return False
    return True


class OtherVendorFilter:
    """A hook `filter_failure` that drops failures which are no findings here. `models` are the names of the served
    models."""

    def __init__(self, dialect: Dialect, report: FuzzReport, models: Collection[str]) -> None:
        self._dialect = dialect
        self._models = models
        self._report = report
        self._structures: dict[str, Validator | None] = {}
        self._validators = Validators({"components": {"schemas": _each(dialect.document["components"]["schemas"])}})

    def __call__(self, context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        if isinstance(failure, OF_BUSY) and _is_busy(response):
            return False
        if isinstance(failure, OF_MISTAKES) and self._is_known_refusal(case, response):
            return False
        if isinstance(failure, RejectedPositiveData):
            return not self._is_refusal(case, response)
        if isinstance(failure, AcceptedNegativeData):
            return self._breaks_structure(case, response)
        if isinstance(failure, UndefinedStatusCode):
            return response.status_code not in OWN_LIMITS
        if isinstance(failure, UnsupportedMethodResponse):  # it may have more methods than the document
            known = self._dialect.statuses("method", endpoint_of(case))
            return known is not None and 400 <= response.status_code < 500 and response.status_code not in known
        if isinstance(failure, AllowHeaderMismatch):
            return bool(failure.missing_methods)
        return True

    def _is_known_refusal(self, case: Case[Any], response: Response) -> bool:
        """Returns whether a client error got the system's known status: some have a 500 for a body that isn't JSON, or
        for a path with another model."""
        endpoint, named = endpoint_of(case), (case.path_parameters or {}).get("model")
        kind: Kind | None = None
        if named is not None and unquote(str(named)) not in self._models:
            kind = "unknown_model"
        elif self._dialect.operations[endpoint].body is not None and not _sends_json(response):
            kind = "json"
        return kind is not None and response.status_code in (self._dialect.statuses(kind, endpoint) or ())

    def _is_refusal(self, case: Case[Any], response: Response) -> bool:
        if self._is_invalid(case, response):
            return True  # it breaks a rule that wasn't used for generation
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
        """Returns whether the system's document rejects the request, even if it was generated as valid."""
        return _sends_json(response) and self._dialect.takes(endpoint_of(case), _sent(response)) is False

    def _breaks_structure(self, case: Case[Any], response: Response) -> bool:
        """Returns whether the body breaks the structure; parameters have only bounds."""
        endpoint = endpoint_of(case)
        if endpoint not in self._structures:
            self._structures[endpoint] = self._structure(endpoint)
        shape = self._structures[endpoint]
        if shape is None:
            return False
        try:
            return not shape.fits(_sent(response))
        except (ValueError, RecursionError):
            return True

    def _structure(self, endpoint: str) -> Validator | None:
        schema = self._dialect.operations[endpoint].body
        return None if schema is None else self._validators.of(structure(schema))


def structure(schema: Any) -> Any:
    """Returns the schema without bounds, formats and rules between fields: types, values and required fields.

    Null may stand for an absent optional field: many clients send it, and most servers accept it.
    """
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
            for name, property_schema in _each(schema["properties"]).items()
        }
    return kept


def _each(schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {name: structure(subschema) for name, subschema in schemas.items()}
