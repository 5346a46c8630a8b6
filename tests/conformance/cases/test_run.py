"""What is told of answers that are wrong in one thing: each fault where it belongs, and by no other rule."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from reference_server.bench import judged, message_of, whole_plan
from reference_server.chat import Chat
from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Headers, Http, Stream
from reference_server.models import Models
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.server import ReferenceServer
from support.reports import exchange

from specvino.conformance.cases.plan import Plan
from specvino.conformance.cases.run import Run
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Request
from specvino.conformance.verdict import Result, Verdict
from specvino.generated.errors import ErrorCode


def by_openai(*parts: type[Part], only: set[str] | None = None) -> dict[str, Result]:
    return judged(*parts, OpenAIResponses, by="openai", only=only)


def cases_of(endpoint: str) -> set[str]:
    return {case.rule for case in whole_plan("openai").cases if case.endpoint == endpoint}


def failed(results: Mapping[str, Result]) -> dict[str, str]:
    return {rule: message_of(result) for rule, result in results.items() if result.verdict is Verdict.FAIL}


class PlainStreams(Http):
    """Its streams are right, but for their media type."""

    def stream_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"text/plain"), *super().stream_headers(call)[1:]]


PIECES = "chat/streaming/pieces"


def test_what_a_stream_of_another_type_lacks_follows_from_its_type() -> None:
    cases = {
        "chat/streaming/reason-is-null-before",
        "chat/streams/plain",
        "chat/usage/streamed-null-before",
        "chat/usage/streamed",
        PIECES,
        "transport/media/accept-json-streams",
    }
    results = by_openai(PlainStreams, only=cases)
    says = "stream is true, but the answer is text/plain"
    assert message_of(results["chat/rules/answer-shape"]) == says
    failures = failed(results)
    assert cases - failures.keys() == {"transport/media/accept-json-streams"}
    for rule in cases & failures.keys():
        assert (failures[rule], results[rule].follows) == (says, "chat/rules/answer-shape")
    assert results[PIECES].advice is None, "that a stream is declared so is no advice"
    assert results["transport/media/accept-json-streams"].verdict is Verdict.NOT_EXERCISED


class StreamsWhereAccepted(Http):
    """Streams come to those alone that accept them by name."""

    def stream_headers(self, call: Call) -> Headers:
        accepted = "json" not in call.headers.get("accept", "")
        return super().stream_headers(call) if accepted else [(b"content-type", b"text/plain")]


def test_a_header_that_ends_streams_is_told() -> None:
    case = "transport/media/accept-json-streams"
    assert failed(by_openai(StreamsWhereAccepted, only={case}))[case] == (
        "with {'accept': 'application/json'} the answer is text/plain"
    )


class TakesAnything(Requests):
    """Whatever the document forbids is answered, and repeated."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = call.body if isinstance(call.body, dict) else {}
        model, messages = body.get("model"), body.get("messages")
        right = [{"role": "user", "content": "Hi"}]
        return {
            "max_tokens": 2,
            **{name: value for name, value in body.items() if name in ("stream", "max_tokens") and value},
            "model": model,
            "messages": messages if isinstance(messages, list) and messages else right,
        }


def test_that_wrong_requests_are_answered_is_told_by_their_cases_alone() -> None:
    cases = {
        "chat/fields/null-model",
        "chat/types/model",
        "transport/connections/after-an-error",
        "transport/errors/declared",
    }
    results = by_openai(TakesAnything, only=cases)
    assert failed(results).keys() == {"chat/fields/null-model", "chat/types/model"}
    assert results["transport/connections/after-an-error"].verdict is Verdict.NOT_EXERCISED


class NothingOfOneModel(Models):
    """No model has a path of its own."""

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.NOT_FOUND, "There is nothing here.")


def test_where_no_model_has_a_path_none_is_unknown() -> None:
    cases = {
        f"models/one/{name}"
        for name in ("retrieved", "created", "unknown", "unknown-with-slash", "unknown-with-signs", "code")
    }
    results = by_openai(NothingOfOneModel, only=cases)
    assert failed(results).keys() == {"models/one/retrieved"}
    assert {results[rule].verdict for rule in cases - failed(results).keys()} == {Verdict.NOT_EXERCISED}


class CountsNoInput(OpenAIResponses):
    """Nothing of the input is counted."""

    def response_usage(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        usage = super().response_usage(*arguments, **named)
        return {**usage, "input_tokens": 0, "total_tokens": usage["output_tokens"]}


def test_what_counts_nothing_says_nothing_of_the_input() -> None:
    cases = {
        f"responses/input/{name}" for name in ("several-parts", "history", "output-goes-back-in", "null-is-absent")
    }
    names = "responses/basics/usage-names"
    results = by_openai(CountsNoInput, only={*cases, names})
    assert failed(results).keys() == {"responses/rules/usage-adds-up"}
    assert results[names].verdict is Verdict.PASS
    assert {results[rule].verdict for rule in cases} == {Verdict.NOT_EXERCISED}


class KeepsNoMetadata(OpenAIResponses):
    """The metadata of a request are lost."""

    def echoed_metadata(self, body: Mapping[str, Any]) -> dict[str, str]:
        return {}


def test_metadata_that_are_lost_are_not_those_of_another_response() -> None:
    concurrent = "responses/stored/at-the-same-time"
    results = by_openai(KeepsNoMetadata, only={"responses/echo/metadata", concurrent})
    assert failed(results).keys() == {"responses/echo/metadata"}
    assert results[concurrent].verdict is Verdict.PASS


class CutsStreams(Http):
    """A stream breaks off."""

    async def stream(self, call: Call, stream: Stream) -> None:
        await call.send({"type": "http.response.start", "status": 200, "headers": self.stream_headers(call)})
        await call.send({"type": "http.response.body", "body": b"data: ", "more_body": True})
        call.connection.close()


class DiesInAStream(CutsStreams):
    """It answers nothing after its first stream."""

    is_dead = False

    async def serve(self, call: Call) -> None:
        if self.is_dead:
            call.connection.close()
        else:
            await super().serve(call)

    async def stream(self, call: Call, stream: Stream) -> None:
        self.is_dead = True
        await super().stream(call, stream)


def test_what_a_dead_server_does_not_answer_is_not_exercised() -> None:
    stream, later = "chat/usage/streamed", {"chat/sampling/logit-bias", "chat/sampling/top-p"}
    cut = by_openai(CutsStreams, only={stream, *later})
    assert {stream, "chat/rules/stream-end"} <= failed(cut).keys()
    results = by_openai(DiesInAStream, only={stream, *later})
    assert not failed(results)
    for rule in (stream, *later):
        because = f"the server became unreachable during {stream}"
        assert (results[rule].verdict, results[rule].because) == (Verdict.NOT_EXERCISED, because)


class NamesAnotherModelInStreams(Chat):
    """Chunks name another model than other answers do."""

    def chunk_model(self, head: Mapping[str, Any]) -> str:
        return "another"


def test_another_model_in_streams_is_no_answer_to_another_request() -> None:
    at_once, parity = "transport/at_once/streams", "chat/streams/plain"
    results = by_openai(NamesAnotherModelInStreams, only={at_once, parity})
    assert failed(results).keys() == {parity}
    assert results[at_once].verdict is Verdict.PASS


class DiesBehindAProxy(Http):
    """From the third request on, a proxy answers for the server."""

    proxied = 502
    came = 0

    def answers_itself(self) -> bool:
        self.came += 1
        return self.came < 3

    async def serve(self, call: Call) -> None:
        if self.answers_itself():
            await super().serve(call)
        else:
            await self.respond(call, self.proxied, b"<h1>Bad Gateway</h1>", [(b"content-type", b"text/html")])


class IsLateOnce(DiesBehindAProxy):
    """A proxy answers the third request only."""

    def answers_itself(self) -> bool:
        return super().answers_itself() or self.came > 3


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_a_proxy_answers_for_a_dead_server_is_not_exercised(monkeypatch, status: int) -> None:
    monkeypatch.setattr(DiesBehindAProxy, "proxied", status)
    rules = {"chat/sampling/logit-bias", "chat/usage/streamed"}
    results = by_openai(DiesBehindAProxy, only=rules)
    assert not failed(results)
    assert "the server became unreachable during " in " ".join(results[rule].because for rule in rules)
    late = failed(by_openai(IsLateOnce, only=rules))
    assert late["chat/rules/no-server-error"].startswith(f"the status is {status}")


class DiesBesideAnAnswer(Http):
    """Of requests at once, that for three tokens gets a wrong count; then that for nine kills the server."""

    is_dead = False

    def __init__(self, server: ReferenceServer) -> None:
        super().__init__(server)
        self.sent_wrongly = asyncio.Event()

    async def serve(self, call: Call) -> None:
        if self.is_dead:
            call.connection.close()
        else:
            await super().serve(call)

    async def answer(self, call: Call, answer: Any) -> None:
        limit = call.body.get("max_tokens") if call.body else None
        if limit == 9:
            await self.sent_wrongly.wait()
            self.is_dead = True
            call.connection.close()
        elif limit == 3:
            await self.answer_wrongly(call, answer)
            self.sent_wrongly.set()
        else:
            await super().answer(call, answer)

    async def answer_wrongly(self, call: Call, answer: dict[str, Any]) -> None:
        usage = answer["usage"]
        counts = {name: usage[name] + 1 for name in ("prompt_tokens", "total_tokens")}
        await super().answer(call, {**answer, "usage": {**usage, **counts}})


class DiesBesideAText(DiesBesideAnAnswer):
    """The wrong answer isn't JSON."""

    async def answer_wrongly(self, call: Call, answer: dict[str, Any]) -> None:
        await self.respond(call, 200, b"Hello!", self.json_headers(call))


@pytest.mark.parametrize(
    ("server", "message"),
    [(DiesBesideAnAnswer, "concurrently its prompt has "), (DiesBesideAText, "the answer isn't JSON")],
)
def test_what_whole_answers_show_is_told_of_a_dead_server(server: type[Part], message: str) -> None:
    at_once, later = "transport/at_once/answers", "chat/sampling/top-p"
    results = by_openai(server, only={at_once, later})
    assert failed(results).keys() - {"chat/rules/answer-shape"} == {at_once}
    assert failed(results)[at_once].startswith(message)
    assert [exchange.ended for exchange in results[at_once].findings[0].exchanges] == ["complete"]
    because = f"the server became unreachable during {at_once}"
    assert (results[later].verdict, results[later].because) == (Verdict.NOT_EXERCISED, because)


class NumbersNothing(Http):
    """The events of a response have no numbers."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, {name: value for name, value in event.items() if name != "sequence_number"})


def test_a_number_that_is_missing_is_told_by_the_shape_alone() -> None:
    results = by_openai(NumbersNothing, only={"responses/events/begins-empty"})
    assert failed(results) == {"responses/rules/event-shape": 'event 0: it: "sequence_number" is a required property'}


class ChunksWithoutATime(Chat):
    """No chunk says when it was made."""

    def chat_chunk(self, *arguments: Any) -> Event:
        return {
            name: value for name, value in super().chat_chunk(*arguments).items() if name not in ("created", "model")
        }


def test_a_chunk_that_is_nearly_right_is_no_error_object() -> None:
    failures = failed(by_openai(ChunksWithoutATime, only={"chat/streaming/media-type"}))
    assert failures == {"chat/rules/event-shape": 'event 0: it: "created" and "model" are required properties'}


def test_what_we_left_as_it_took_too_long_is_not_judged_by_rules() -> None:
    request = Request("chat", "POST", "/chat/completions", {}, b"", {"stream": True})
    stream = {"request": request, "headers": {"content-type": "text/event-stream"}, "problem": "it was not whole"}
    for ended, broken in (("too slow", []), ("cut off", ["chat/rules/stream-order", "chat/rules/stream-end"])):
        run = Run(cast("Any", None), Dialect("openai"), "m", Plan((), {}))
        run._apply_rules(exchange(ended=ended, **stream))
        assert run._violated.get(1, []) == broken


class Canned(Chat):
    """Its answer is always the same, whatever was asked."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        answer = super().chat_completion(head, asked, outputs)
        message = {"role": "assistant", "content": "Hello! How can I help you today?", "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        return {**answer, "choices": [choice], "usage": usage}


def test_what_is_asked_and_what_is_missing_is_said() -> None:
    failures = failed(by_openai(Canned, only=cases_of("chat")))
    says = {
        "chat/capabilities/json-object": 'response_format: {"type": "json_object"} was answered with 200, but'
        ' choices.0.message.content is "Hello! How can I help you today?"',
        "chat/capabilities/logprobs": "logprobs: true was answered with 200, but the answer has no choices.0.logprobs",
        "chat/capabilities/n": "n: 2 was answered with 200, but the answer has no choices.1",
        "chat/capabilities/tools-named": "the request was answered with 200, but the answer has no"
        " choices.0.message.tool_calls",
        "chat/limits/max-tokens": "the answer has 9 tokens, though max_tokens is 5",
        "chat/limits/one-token": "the answer has 9 tokens, though max_tokens is 1",
        "chat/rules/logprobs-join": "logprobs: true was sent, but the answer has no choices.0.logprobs",
        "chat/stop/string": "the stop string 'can' is in 'Hello! How can I help you today?'",
    }
    assert {rule: failures.get(rule) for rule in says} == says
    assert failures["chat/rules/token-limit"].startswith("the answer has 9 tokens, though max_tokens is ")


class SpeaksPlainly(Http):
    """Errors are plain texts."""

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        headers = [(b"content-type", b"text/plain")]
        await self.respond(call, self.status(refusal), refusal.message.encode(), headers)


class ChatAlone(Requests):
    """It has neither texts nor responses, and refuses several choices."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if component != "CreateChatCompletionRequest":
            raise Refusal(ErrorCode.NOT_FOUND, "There is nothing here.")
        body = super().accepted(call, component)
        if body.get("n", 1) > 1:
            raise Refusal(ErrorCode.INVALID_VALUE, "There is one choice.")
        return body


def test_errors_of_another_shape_are_told_once_for_paths_that_are_not_there() -> None:
    cases = {"chat/choices/two", "transport/errors/unknown-path", *cases_of("completions")}
    results = by_openai(SpeaksPlainly, ChatAlone, only=cases)
    assert results["completions/rules/error-envelope"].verdict is Verdict.NOT_EXERCISED
    assert failed(results).keys() >= {"chat/rules/error-envelope", "transport/rules/unrouted-envelope"}
    assert results["chat/capabilities/n"].follows == "chat/rules/error-envelope"
