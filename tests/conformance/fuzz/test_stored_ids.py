"""A link to a response that was not to be stored proves nothing; to any other it does."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from schemathesis.openapi.checks import EnsureResourceAvailability, RejectedPositiveData

from specvino.conformance.fuzz.stored_ids import NotStored

CONTEXT: Any = None
MISSING: Any = EnsureResourceAvailability.__new__(EnsureResourceAvailability)
REFUSED: Any = RejectedPositiveData.__new__(RejectedPositiveData)


def created(body: Any, content: bytes) -> NotStored:
    not_stored = NotStored()
    case: Any = SimpleNamespace(body=body)
    response: Any = SimpleNamespace(content=content)
    not_stored.after_call(CONTEXT, case, response)
    return not_stored


def stays(not_stored: NotStored, failure: Any, id: str) -> bool:
    case: Any = SimpleNamespace(path_parameters={"response_id": id})
    return not_stored.filter_failure(CONTEXT, failure, case, CONTEXT)


ANSWER = json.dumps({"id": "resp_1"}).encode()


def test_what_was_not_to_be_stored_may_be_missing() -> None:
    not_stored = created({"store": False}, ANSWER)
    assert not stays(not_stored, MISSING, "resp_1")
    assert stays(not_stored, MISSING, "resp_2")
    assert stays(not_stored, REFUSED, "resp_1")


@pytest.mark.parametrize("body", [{}, {"store": True}, {"store": None}, None, []])
def test_whatever_else_was_made_must_be_there(body) -> None:
    assert stays(created(body, ANSWER), MISSING, "resp_1")


@pytest.mark.parametrize("content", [b"", b"event: a\n\n", b"[]", b"{}"])
def test_an_answer_without_an_id_is_no_matter(content) -> None:
    assert stays(created({"store": False}, content), MISSING, "resp_1")
