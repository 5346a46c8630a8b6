"""What is told of servers that hand on, count or leave out what others don't: nothing that isn't wrong, and each fault
once."""

from collections.abc import Mapping
from typing import Any

from reference_server.bench import judged, message_of
from reference_server.chat import Chat
from reference_server.completions import Answers, Completions
from reference_server.http import Call, Event, Headers, Http, Stream
from reference_server.models import Models
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.stored import Stored
from reference_server.words import Token

from specvino.conformance.message_shape import shape_of
from specvino.conformance.verdict import Result, Verdict
from specvino.generated.errors import ErrorCode


def by_openai(*parts: type[Part], only: set[str]) -> dict[str, Result]:
    return judged(*parts, OpenAIResponses, by="openai", only=only)


def failed(results: Mapping[str, Result]) -> dict[str, str]:
    return {rule: message_of(result) for rule, result in results.items() if result.verdict is Verdict.FAIL}


class ChosenTokenAlone(Chat):
    """Of the likeliest tokens there is the chosen one alone."""

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        return super().top_logprobs(token, min(top, 1))


class SaysNothing(Requests):
    """No header says what has no effect."""

    def unsupported_headers(self, call: Call) -> Headers:
        return []


class SaysSo(Requests):
    """The server behind the gateway says that top_logprobs has no effect."""

    def unsupported_headers(self, call: Call) -> Headers:
        return [(b"llm_provider-x-unsupported-params", b"seed, top_logprobs")]


def test_a_gateway_tells_what_has_no_effect_behind_it() -> None:
    case = "chat/logprobs/top"
    assert failed(by_openai(ChosenTokenAlone, SaysNothing, only={case})).keys() == {case}
    assert not failed(by_openai(ChosenTokenAlone, SaysSo, only={case}))


class CountsNoTexts(Completions):
    """None of the tokens that were made is counted."""

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        usage = super().completion_usage(answers)
        return {**usage, "completion_tokens": 0, "total_tokens": usage["prompt_tokens"]}


def test_a_count_of_nothing_is_told_by_the_rule_about_usage() -> None:
    assert failed(by_openai(CountsNoTexts, only={"completions/settings/neutral"})) == {
        "completions/rules/usage-adds-up": "completion_tokens is 0, though the answer has text"
    }


class AnIdForEachChunk(Chat):
    """Each chunk has an id of its own."""

    def chunk_id(self, head: Mapping[str, Any]) -> str:
        return self.chat_id()


def test_chunks_with_ids_of_their_own_are_no_pieces_of_other_streams() -> None:
    assert failed(by_openai(AnIdForEachChunk, only={"transport/at_once/streams"})).keys() == {"chat/rules/stream-order"}


class ListsNothing(Models):
    """There is no list of models."""

    def list_models(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.NOT_FOUND, "There is nothing here.")


def test_that_there_is_no_list_of_models_is_told_once() -> None:
    told_of = {
        "models/list/query",
        "models/list/served",
        "models/list/shape",
        "models/list/stays",
        "models/one/retrieved",
        "transport/errors/wrong-method-of-models",
    }
    alive = {"transport/bodies/deep", "transport/connections/after-an-answer", "transport/connections/after-an-error"}
    results = by_openai(ListsNothing, only=told_of | alive)
    assert failed(results) == {
        "models/capabilities/list": "GET /models returns 404: there is no list of models",
        "models/rules/documented-refusal": "404 isn't documented; documented are 200, 401, 500",
    }
    assert {results[rule].verdict for rule in told_of} == {Verdict.SKIP}
    assert {results[rule].verdict for rule in alive} == {Verdict.PASS}


class BareOutside(Http):
    """What no operation takes is refused as a framework does it."""

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        bare = refusal.code in (ErrorCode.NOT_FOUND, ErrorCode.METHOD_NOT_ALLOWED)
        return {"detail": "Not Found"} if bare else super().envelope(refusal)


def test_errors_outside_of_the_document_are_advised_of() -> None:
    results = by_openai(
        BareOutside, only={"transport/errors/unknown-path", "transport/errors/wrong-method", "transport/bodies/broken"}
    )
    assert failed(results).keys() == {"transport/rules/unrouted-envelope"}
    assert results["transport/rules/unrouted-envelope"].advice
    assert results["transport/rules/error-envelope"].verdict is Verdict.PASS


class RenamesWhatItKeeps(Stored):
    """Each answer calls a stored response by another id."""

    def retrieve_response(self, call: Call) -> dict[str, Any] | Stream:
        response = super().retrieve_response(call)
        return (
            response
            if isinstance(response, Stream)
            else {**response, "id": f"resp_read{self.server.generation.count()}"}
        )

    def delete_response(self, call: Call) -> dict[str, Any]:
        return {**super().delete_response(call), "id": f"resp_deleted{self.server.generation.count()}"}


def test_another_id_of_a_stored_response_is_told_by_both_ids() -> None:
    cases = {f"responses/stored/{name}" for name in ("at-the-same-time", "deleted", "reads-back")}
    shapes = {rule: shape_of(message) for rule, message in failed(by_openai(RenamesWhatItKeeps, only=cases)).items()}
    reads = "the id differs: '…' in the answer, '…' when read"
    assert shapes == {
        "responses/stored/at-the-same-time": reads,
        "responses/stored/deleted": "the id differs: '…' in the answer to the deletion, '…' in the request",
        "responses/stored/reads-back": reads,
    }


class LinksToAnother(OpenAIResponses):
    """A response names another one as that which it continues."""

    def response(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        made = super().response(*arguments, **named)
        return {**made, "previous_response_id": made["previous_response_id"] and "resp_another"}


def test_another_response_that_is_continued_is_told_by_both_ids() -> None:
    cases = {"responses/previous/chain", "responses/previous/without-keeping"}
    failures = failed(judged(LinksToAnother, by="openai", only=cases))
    assert failures.keys() == cases
    assert {shape_of(message) for message in failures.values()} == {"previous_response_id is '…', not '…'"}


class StreamsAsChat(Http):
    """A response is streamed as a conversation is: no event has a name, and the last says that it is done."""

    def event_name(self, event: Event) -> str:
        return ""

    def end(self, stream: Stream) -> bytes:
        return super().end(stream) or b"data: [DONE]\n\n"


def test_what_a_response_is_streamed_with_beyond_its_events_is_named() -> None:
    assert failed(by_openai(StreamsAsChat, only={"responses/events/begins-empty"})) == {
        "responses/rules/stream-order": "an event has no `event:` line; its type is 'response.created'",
        "responses/rules/stream-end": "the stream ends with [DONE], which isn't an event of the responses API",
    }
