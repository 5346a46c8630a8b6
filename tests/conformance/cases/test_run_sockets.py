"""What is told of servers without a WebSocket, and of one that doesn't answer on it."""

from collections.abc import Mapping
from typing import Any

import pytest
from reference_server.bench import judged, message_of, whole_plan
from reference_server.http import Call
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.sockets import Sockets

from specvino.conformance.verdict import Result, Verdict
from specvino.generated.errors import ErrorCode

CAPABILITY = "responses/capabilities/websocket"
CASES = {case.rule for case in whole_plan("openai").cases if case.rule.startswith("responses/websocket/")}


def by_openai(*parts: type[Part]) -> dict[str, Result]:
    return judged(*parts, OpenAIResponses, by="openai", only=CASES)


class HasNone(Sockets):
    """There is no WebSocket."""

    code = ErrorCode.NOT_FOUND

    def admit(self, call: Call) -> None:
        raise Refusal(self.code, "There is no WebSocket.")


class ForbidsAll(HasNone):
    """Frameworks on Starlette refuse WebSockets at unknown paths so."""

    code = ErrorCode.HOST_NOT_ALLOWED


@pytest.mark.parametrize("part", [HasNone, ForbidsAll])
def test_a_server_without_one_lacks_one_capability(part) -> None:
    results = by_openai(part)
    of_cases = {rule: result for rule, result in results.items() if "/rules/" not in rule}
    status = Refusal(part.code, "").status
    assert {of_cases[rule].verdict for rule in (*CASES, CAPABILITY)} == {Verdict.UNSUPPORTED}
    assert of_cases[CAPABILITY].because == f"the handshake of a WebSocket is answered with {status}"
    assert not [rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)]


class RefusesRequests(Sockets):
    """Each request is an error."""

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        raise Refusal(ErrorCode.INVALID_VALUE, "Not here.")


class DemandsAnotherKey(HasNone):
    """The key of other requests isn't enough."""

    code = ErrorCode.INVALID_API_KEY


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (RefusesRequests, "the answer is 400, not 200"),
        (DemandsAnotherKey, "the handshake is refused with 401, though its key is that of the other requests"),
    ],
)
def test_a_server_that_fails_on_it_fails_once(part, says) -> None:
    results = by_openai(part)
    failed = {rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)}
    assert failed == {CAPABILITY}
    assert message_of(results[CAPABILITY]).startswith(says)
    assert {results[rule].verdict for rule in CASES} == {Verdict.SKIP}


class OpensAndFails(Sockets):
    """The key is checked when the connection is open."""

    def admit(self, call: Call) -> None:
        self.__dict__["keyless"] = "authorization" not in call.headers

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if self.__dict__["keyless"]:
            raise Refusal(ErrorCode.INVALID_API_KEY, "A key is needed.")
        return super().body(message)


def test_a_key_that_is_checked_late_is_advice() -> None:
    result = by_openai(OpensAndFails)["responses/websocket/without-key"]
    assert (result.verdict, message_of(result)) == (Verdict.FAIL, "without the right key the connection opens")
    assert result.advice is not None


class EndsByErrors(Sockets):
    """An error ends the connection."""

    def ends_by(self, refusal: Refusal) -> bool:
        return True


class EndsAtBytesSomehow(Sockets):
    """A binary message ends the connection with a code that doesn't say why."""

    def closing_code(self, message: Any) -> int | None:
        return 1008 if message.get("bytes") else None


@pytest.mark.parametrize(
    ("part", "rule"),
    [(EndsByErrors, "responses/websocket/not-json"), (EndsAtBytesSomehow, "responses/websocket/binary")],
)
def test_a_connection_that_ends_early_is_advice(part, rule) -> None:
    """Of OpenAI's contract; this project's document says that it stays open."""
    result = by_openai(part)[rule]
    assert result.verdict is Verdict.FAIL
    assert result.advice is not None


def test_a_fault_at_a_binary_message_is_no_advice() -> None:
    class BreaksAtBytes(Sockets):
        def closing_code(self, message: Any) -> int | None:
            return 1011 if message.get("bytes") else None

    result = by_openai(BreaksAtBytes)["responses/websocket/binary"]
    assert (result.verdict, result.advice) == (Verdict.FAIL, None)
