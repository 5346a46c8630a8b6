"""openapi-core judges JSON answers, and only those."""

import json

import pytest

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.second_validator import MOST_ALIKE, SecondValidator
from specvino.conformance.http.exchange import Exchange, Request

MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "specvino"}]}


@pytest.fixture(params=["specvino", "openai"])
def judge(request):
    return SecondValidator(Dialect(request.param))


def violations(judge, answer, *, path="/models", status=200, media="application/json"):
    content = json.dumps(answer).encode()
    headers = {"content-type": media, "x-request-id": "req_1"}
    request = Request(None, "GET", path, {}, None)
    return judge.violations(path, Exchange(1, request, status, headers, content, "complete", 0.0))


def test_a_sound_answer(judge) -> None:
    assert violations(judge, MODELS) == []
    assert violations(judge, MODELS["data"][0], path="/models/{model}") == []


def test_a_broken_one_with_what_is_wrong(judge) -> None:
    (violation,) = violations(judge, MODELS | {"object": "lost"})
    assert "'list' was expected" in violation


@pytest.mark.parametrize("other", [{"media": "text/plain"}, {"status": 299}, {"path": "/elsewhere"}])
def test_the_rest_is_for_others(judge, other) -> None:
    assert violations(judge, {}, **other) is None


def test_what_is_at_the_root_of_a_server() -> None:
    sound = {"status": "ok"}
    judge = SecondValidator(Dialect("specvino"))
    assert violations(judge, sound, path="/health") == []
    assert violations(judge, {"status": 1}, path="/health")


def test_of_many_answers_of_one_form_some_are_judged() -> None:
    judge = SecondValidator(Dialect("specvino"))
    messages = [violations(judge, {"status": number}, path="/health") for number in range(MOST_ALIKE + 1)]
    assert all(messages[:-1])
    assert messages[-1] is None
    assert violations(judge, {"status": "ok"}, path="/health") == []
