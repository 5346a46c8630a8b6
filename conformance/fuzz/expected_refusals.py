"""Decides whether the refusal of a valid request is justified."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from schemathesis import Case, HookContext, Response
from schemathesis.core.failures import Failure
from schemathesis.openapi.checks import RejectedPositiveData

from specvino.conformance.fuzz.document import Object, path_parameters, refusal_codes
from specvino.conformance.fuzz.refusals.justification import is_justified, known_codes
from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.report import FuzzReport
from specvino.conformance.fuzz.server import BadStatus, NoAnswer, Server
from specvino.conformance.http.exchange import error_of
from specvino.document.operations import operations


class ExpectedRefusals:
    """A hook `filter_failure`, which drops and counts failures of valid requests whose refusal is listed and
    justified."""

    def __init__(self, server: Server, report: FuzzReport) -> None:
        self._server = server
        self._report = report

    def __call__(self, context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        if not isinstance(failure, RejectedPositiveData):
            return True
        refused = refusal_of(case, response)
        listed = refusal_codes(case.operation.definition.raw)
        if refused is None or refused.code not in listed:
            return True
        try:
            if not is_justified(refused, self._server):
                return True
        except NoAnswer as error:  # a finding of its own
            self._report.unanswered.append((case.operation.label, str(error)))
            return False
        except BadStatus:
            return True
        self._report.excused[case.operation.label, refused.code] += 1
        return False


def refusal_of(case: Case[Any], response: Response) -> RefusedRequest | None:
    """Returns the refused request; None if the answer has no error envelope."""
    try:
        error = error_of(json.loads(response.content))
        code, param = error["code"], error["param"]
    except (ValueError, TypeError, KeyError):
        return None
    body = case.body if isinstance(case.body, Mapping) else None
    url = str(response.request.url)
    query = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    endpoint = case.operation.definition.raw["x-endpoint"]
    return RefusedRequest(endpoint, path_parameters(case.path, urlsplit(url).path), body, str(code), param, query)


def unknown_codes(document: Object) -> set[str]:
    """Returns the codes under x-refusals that can't be verified."""
    return {code for operation in operations(document) for code in refusal_codes(operation.definition)} - known_codes()
