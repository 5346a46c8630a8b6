"""What is tolerated of a server that is judged by another system's document, and what never is."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from schemathesis import HookContext
from schemathesis.core.failures import AcceptedNegativeData, ServerError
from schemathesis.openapi.checks import (
    AllowHeaderMismatch,
    RejectedPositiveData,
    UndefinedStatusCode,
    UnsupportedMethodResponse,
)

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.other_vendor_filter import OtherVendorFilter, structure
from specvino.conformance.fuzz.report import FuzzReport
from specvino.document.validator import Validator

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
ENVELOPE = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}


def judged(failure, status, answer=None, sent=CHAT, endpoint="chat", headers=None, dialect="openai", path=None):
    """Whether it stays a finding, and the report. `sent` is a JSON value, or the bytes of a body."""
    report = FuzzReport()
    definition: Any = SimpleNamespace(raw={"x-endpoint": endpoint})
    operation = SimpleNamespace(definition=definition, label="POST /chat/completions")
    case: Any = SimpleNamespace(operation=operation, path_parameters=path)
    content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    request = SimpleNamespace(body=sent if isinstance(sent, bytes) else json.dumps(sent).encode())
    response: Any = SimpleNamespace(status_code=status, content=content, request=request, headers=headers or {})
    return OtherVendorFilter(Dialect(dialect), report, ("org/m",))(HookContext(), failure, case, response), report


def rejected(status):
    return RejectedPositiveData(operation="", message="", status_code=status, allowed_statuses=[])


ACCEPTED = AcceptedNegativeData(operation="", message="", status_code=200, expected_statuses=[])


def test_a_proper_refusal_of_a_valid_request_is_counted() -> None:
    stays, report = judged(rejected(400), 400, ENVELOPE)
    assert not stays
    assert report.excused == {("POST /chat/completions", "400"): 1}


def test_a_request_that_the_document_refuses_is_none_of_those() -> None:
    """Not all rules are drawn by."""
    stays, report = judged(rejected(400), 400, b"no", CHAT | {"stream_options": {"include_usage": True}})
    assert not stays
    assert not report.excused


@pytest.mark.parametrize(("status", "answer"), [(500, ENVELOPE), (302, ENVELOPE), (400, b"no"), (400, {"error": "no"})])
def test_another_refusal_is_a_finding(status, answer) -> None:
    stays, report = judged(rejected(status), status, answer)
    assert stays
    assert not report.excused


@pytest.mark.parametrize(
    "change",
    [
        {"messages": "Hi"},
        {"messages": [{"role": "user", "content": 5}]},
        {"messages": [{"role": "poet", "content": "Hi"}]},
        {"messages": None},
        {"temperature": "hot"},
        {"max_completion_tokens": 1.5},
        {"tools": [{"type": "function"}]},
    ],
)
def test_what_breaks_the_structure_must_be_refused(change) -> None:
    assert judged(ACCEPTED, 200, {}, CHAT | change)[0]


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 9},
        {"max_completion_tokens": 0},
        {"messages": []},
        {"stop": ["a", "b", "c", "d", "e"]},
        {"temperature": None},
        {"tools": None},
        {"stream_options": {"include_usage": True}},
        {"new_field": 1},
    ],
)
def test_a_bound_may_be_ours(change) -> None:
    assert not judged(ACCEPTED, 200, {}, CHAT | change)[0]


def test_parameters_have_only_bounds() -> None:
    assert not judged(ACCEPTED, 200, {}, None, endpoint="models")[0]


@pytest.mark.parametrize(("status", "stays"), [(413, False), (429, False), (418, True), (500, True)])
def test_limits_of_a_server_have_statuses_of_their_own(status, stays) -> None:
    failure = UndefinedStatusCode(
        operation="", status_code=status, defined_status_codes=[], allowed_status_codes=[], message=""
    )
    assert judged(failure, status)[0] is stays


@pytest.mark.parametrize(("status", "headers", "stays"), [(503, {"retry-after": ["1"]}, False), (503, {}, True)])
def test_a_busy_server_is_not_broken(status, headers, stays) -> None:
    crash = ServerError(operation="", status_code=status)
    undefined = UndefinedStatusCode(
        operation="", status_code=status, defined_status_codes=[], allowed_status_codes=[], message=""
    )
    for failure in (crash, undefined, rejected(status)):
        assert judged(failure, status, ENVELOPE, headers=headers)[0] is stays
    assert judged(ServerError(operation="", status_code=500), 500, ENVELOPE, headers={"retry-after": ["1"]})[0]


@pytest.mark.parametrize(
    ("dialect", "endpoint", "sent", "status", "stays"),
    [
        ("fastdeploy", "chat", b"\0", 500, False),
        ("fastdeploy", "chat", b"", 500, False),
        ("fastdeploy", "chat", b"\0", 502, True),
        ("fastdeploy", "chat", CHAT, 500, True),
        ("fastdeploy", "models", b"", 500, True),
        ("openai", "chat", b"\0", 500, True),
    ],
)
def test_what_is_no_json_may_get_the_status_that_the_system_has_for_it(dialect, endpoint, sent, status, stays) -> None:
    crash = ServerError(operation="", status_code=status)
    assert judged(crash, status, {}, sent, endpoint, dialect=dialect)[0] is stays


@pytest.mark.parametrize(
    ("dialect", "model", "stays"), [("ovms", "other", False), ("ovms", "org%2Fm", True), ("openai", "other", True)]
)
def test_so_may_a_path_that_names_another_model(dialect, model, stays) -> None:
    for failure in (ServerError(operation="", status_code=500), rejected(500)):
        assert judged(failure, 500, {}, b"", "model", dialect=dialect, path={"model": model})[0] is stays


@pytest.mark.parametrize(("status", "stays"), [(500, False), (200, True)])
def test_that_status_says_that_it_was_refused(status, stays) -> None:
    assert judged(ACCEPTED, status, {}, b"\0", dialect="fastdeploy")[0] is stays


@pytest.mark.parametrize(("status", "stays"), [(405, False), (200, False), (400, True)])
def test_a_server_may_have_more_methods(status, stays) -> None:
    failure = UnsupportedMethodResponse(
        operation="", method="PUT", status_code=status, failure_reason="wrong_status", message=""
    )
    assert judged(failure, status)[0] is stays


@pytest.mark.parametrize("missing", [[], ["POST"]])
def test_more_methods_may_be_allowed_but_none_less(missing) -> None:
    failure = AllowHeaderMismatch(
        operation="", allow_header="", missing_methods=missing, undocumented_methods=["PUT"], message=""
    )
    assert judged(failure, 405)[0] is bool(missing)


def test_several_branches_may_fit_without_their_bounds() -> None:
    schema = {"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 4}]}
    shape = Validator(structure(schema))
    assert shape.fits("abc")
    assert not shape.fits(1)
