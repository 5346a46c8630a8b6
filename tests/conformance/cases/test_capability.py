"""What a server may be without, and how that is seen."""

import asyncio
import json
from typing import Any, cast

import pytest
from support.reports import exchange

from specvino.conformance.case_checks import all_checks
from specvino.conformance.cases.capability import all_capabilities, probe
from specvino.conformance.cases.case import all_cases
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised, Refused
from specvino.document.loading import whole
from specvino.document.pointers import at


class Answered:
    """A session in which each request is answered so."""

    def __init__(self, dialect: str, answer: Exchange) -> None:
        self.dialect = Dialect(dialect)
        self._answer = answer

    async def send(self, *_: Any) -> Exchange:
        return self._answer


def asked(name: str, dialect: str, status: int, content: bytes) -> None:
    session = cast("Any", Answered(dialect, exchange(status=status, content=content)))
    asyncio.run(probe(session, all_capabilities()[name]))


IN_TEXT = json.dumps(json.dumps({"object": "error", "message": "n must be 1", "code": 400})).encode()


@pytest.mark.parametrize(("dialect", "status", "content"), [
    ("openai", 400, b'{"error": {"message": "n must be 1"}}'),
    ("openai", 404, b'{"detail": "Not Found"}'),
    ("mlc-llm", 400, IN_TEXT),
    ("sglang", 404, b"404: Not Found"),
])  # fmt: skip
def test_a_refusal_in_the_dialects_form_is_a_proper_one(dialect: str, status: int, content: bytes) -> None:
    with pytest.raises(Refused):
        asked("chat.n", dialect, status, content)


@pytest.mark.parametrize(("dialect", "status", "content"), [
    ("openai", 400, IN_TEXT),
    ("openai", 404, b"404: Not Found"),
    ("mlc-llm", 400, b"no"),
    ("sglang", 404, b""),
])  # fmt: skip
def test_a_refusal_that_says_nothing_is_none(dialect: str, status: int, content: bytes) -> None:
    with pytest.raises(Failed, match="without an error object"):
        asked("chat.n", dialect, status, content)


def test_a_request_without_a_complete_answer_was_not_refused() -> None:
    slow = exchange(status=None, content=b"", ended="too slow", problem="the answer wasn't complete after 180 s")
    with pytest.raises(Failed, match="the request isn't answered: the answer wasn't complete after 180 s"):
        asyncio.run(probe(cast("Any", Answered("openai", slow)), all_capabilities()["chat.n"]))


def test_what_the_systems_document_refuses_is_not_asked() -> None:
    with pytest.raises(NotExercised, match="the request isn't valid by the document of mlc-llm"):
        asked("completions.prompts", "mlc-llm", 400, b"{}")


def test_each_capability_has_its_place_and_its_check() -> None:
    capabilities = all_capabilities()
    for capability in capabilities.values():
        at(whole(), capability.spec)
        assert capability.check is None or capability.check in all_checks()
    needed = {name for case in all_cases() for name in case.needs}
    assert needed <= capabilities.keys()


@pytest.mark.parametrize(
    ("name", "answer", "holds"),
    [
        ("chat.json_object", {"choices": [{"message": {"content": ' {"a'}}]}, True),
        ("chat.json_object", {"choices": [{"message": {"content": "no"}}]}, False),
        ("chat.json_schema", {"choices": [{"message": {"content": '{"color": "red"}'}}]}, True),
        ("chat.json_schema", {"choices": [{"message": {"content": '{"color'}}]}, False),
    ],
)
def test_what_shows_a_capability(name: str, answer: dict[str, Any], holds: bool) -> None:
    if holds:
        asked(name, "openai", 200, json.dumps(answer).encode())
    else:
        with pytest.raises(Failed, match=r"choices\.0\.message\.content is"):
            asked(name, "openai", 200, json.dumps(answer).encode())
