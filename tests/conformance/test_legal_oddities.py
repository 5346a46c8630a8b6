"""What OpenAI's document allows, however odd it is, no server is accused of: at the most it is advised."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from reference_server.bench import judged, message_of
from reference_server.chat import Chat
from reference_server.completions import Answers, Completions
from reference_server.generation import Asked, Generation, Output, Segment
from reference_server.http import Call, Event, Headers, Http, Stream
from reference_server.mutation import concerned
from reference_server.oddities import (
    AddsInTheEnd,
    ClosesAfterUnreadBodies,
    CountsTextsAlone,
    DrawsAtOneTemperature,
    EndsAtBytes,
    EventsOfItsOwn,
    GuessesCharacters,
    HandsOnWhatHasNoEffect,
    KeepsAlive,
    KnowsAtTheEnd,
    LeavesOutSettings,
    ListsChoicesBackwards,
    ModelsWithMore,
    RefusesBestOfOne,
    RefusesBriefly,
    RefusesMaxTokens,
    RefusesMethodsWithoutBody,
    RefusesUnread,
    RefusesUpgrades,
    RepeatsNulls,
    SealsAnew,
    StreamsCountNoDetails,
    StreamsInTwoPieces,
    TakesOptionsWithoutAStream,
    UnknownResponsesAre400,
)
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.refusal import Refusal
from support.examples import ROOT
from support.exhaustive import sampled

from specvino.conformance.verdict import Verdict


class RoleBesideTheFirstText(Chat):
    """No chunk has the role alone; it comes with the first text or call."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        begun: set[int] = set()
        for event in super().chat_events(head, asked, outputs):
            choices = event["choices"]
            if choices and choices[0]["delta"] == self.role_delta():
                continue
            for choice in choices:
                if choice["index"] not in begun:
                    choice["delta"] = {**self.role_delta(), **choice["delta"]}
                    begun.add(choice["index"])
            yield event


class RoleInEveryChunk(Chat):
    """Every chunk repeats the role."""

    advised: ClassVar = True

    def chunk_choice(self, output: Output, delta: Mapping[str, Any], *more: Any, **named: Any) -> dict[str, Any]:
        return super().chunk_choice(output, {**self.role_delta(), **delta}, *more, **named)


class FinishBesideTheLastText(Chat):
    """The chunk with the last text or call also has the finish_reason."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        held: dict[int, Event] = {}
        for event in super().chat_events(head, asked, outputs):
            if not event["choices"]:
                yield event
                continue
            choice = event["choices"][0]
            before = held.pop(choice["index"], None)
            if choice["finish_reason"] and before and not choice["logprobs"]:
                before["choices"][0]["finish_reason"] = choice["finish_reason"]
                yield before
                continue
            if before:
                yield before
            if choice["finish_reason"]:
                yield event
            else:
                held[choice["index"]] = event


class RoleWithoutText(Chat):
    """The first chunk has the role alone, without OpenAI's empty content."""

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant"}


class RoleBesideRefusal(Chat):
    """The first chunk also has a null refusal, as OpenAI's does."""

    def role_delta(self) -> dict[str, Any]:
        return {**super().role_delta(), "refusal": None}


class SaysNothingBetween(Chat):
    """Some chunks have nothing new."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().chat_events(head, asked, outputs):
            if event["choices"] and not event["choices"][0]["finish_reason"]:
                yield event
                yield self.chat_chunk(head, asked, [self.chunk_choice(outputs[0], {})])
            else:
                yield event


class OpensWithoutChoices(Chat):
    """The first chunk has no choices."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        yield self.chat_chunk(head, asked, [])
        yield from super().chat_events(head, asked, outputs)


class FilterResults(Chat):
    """Chunks without an id have the results of a content filter: the first one, and others later, as Azure's do."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        results: Event = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "usage": None}
        yield {**results, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
        for event in super().chat_events(head, asked, outputs):
            yield event
            if event["choices"]:
                found = {"content_filter_results": {}, "content_filter_offsets": {"check_offset": 44}}
                choice = {"index": event["choices"][0]["index"], "finish_reason": None, **found}
                yield {**results, "choices": [choice]}


class FilterResultsOfTexts(Completions):
    """The first chunk of a text has no id and no choices, but the results of a content filter, as Azure's does."""

    def completion_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        results: Event = {"id": "", "object": "", "created": 0, "model": "", "choices": []}
        yield {**results, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
        yield from super().completion_events(head, answers)


class CountsImages(Chat):
    """Usage has counts of the server's own, those of an answer and of a stream others."""

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        usage = super().chat_usage(asked, outputs)
        return {**usage, "image_tokens": 3, "prompt_tokens_details": {"odd_tokens": usage["prompt_tokens"] + 9}}

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            yield {**event, "usage": {**event["usage"], "image_tokens": 4, "audio_seconds": 1}}


class CountsNothing(Chat):
    """Optional usage of an answer is left out."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        answer = super().chat_completion(head, asked, outputs)
        del answer["usage"]
        return answer


class TextsAreNotCounted(Completions):
    """Optional usage of a text completion is left out."""

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        answer = super().completion(head, answers)
        del answer["usage"]
        return answer


class DatedModels(Chat):
    """An answer names a version of the model, as OpenAI's do."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "model": f"{head['model']}-2026-11-01"}

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "model": f"{head['model']}-2026-11-01"}


class FieldsOfItsOwn(Chat):
    """Answers and chunks have undocumented fields."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "x_timings": {"ms": 3}, "provider": "odd"}

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "x_timings": {"ms": 3}}


class Pads(Chat):
    """Chunks are padded to hide their lengths, as OpenAI's are."""

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "obfuscation": "aB3dE", "service_tier": "default"}


class RefusesWith422(Http):
    """A wrong value is refused with 422, which OpenAI's document doesn't have."""

    advised: ClassVar = True

    def status(self, refusal: Refusal) -> int:
        return 422 if refusal.status == 400 else refusal.status


class RefusesKeysWith403(Http):
    """A wrong key is refused with 403."""

    advised: ClassVar = True

    def status(self, refusal: Refusal) -> int:
        return 403 if refusal.status == 401 else refusal.status


class ClosesConnections(Http):
    """Each connection accepts one request, and says so."""

    advised: ClassVar = True

    def common_headers(self, call: Call) -> Headers:
        return [*super().common_headers(call), (b"connection", b"close")]


class Comments(Http):
    """Comments come between the events of a stream, as some proxies need them."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return b": still here\n\n" + super().frame(stream, event)


class CarriageReturns(Http):
    """The lines of a stream end in CR alone, one of three line ends of server-sent events."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"\n", b"\r")

    def end(self, stream: Stream) -> bytes:
        return super().end(stream).replace(b"\n", b"\r")


class CarriageReturnsAndLineFeeds(Http):
    """The lines of a stream end in CR and LF."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"\n", b"\r\n")

    def end(self, stream: Stream) -> bytes:
        return super().end(stream).replace(b"\n", b"\r\n")


class NumbersItsEvents(Http):
    """Events have ids, and a retry time."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return b"id: 7\nretry: 1000\n" + super().frame(stream, event)


class DataWithoutSpaces(Http):
    """No space follows the field names of an event."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"data: ", b"data:").replace(b"event: ", b"event:")


class SplitData(Http):
    """An event's JSON comes in several data lines."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"data: {", b"data: {\ndata: ", 1)


class Compressed(Http):
    """Answers are compressed, which the client accepts."""

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, gzip.compress(body), [(b"content-encoding", b"gzip"), *headers])


class BlankBeforeJson(Http):
    """White space surrounds an answer's JSON, as from servers that send it to keep a proxy waiting."""

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, b" \n " + body + b"\n", headers)


class ErrorsNameNoField(Http):
    """The param of every error is null."""

    advised: ClassVar = True

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "param": None}}


class ErrorsOfItsOwn(Http):
    """Errors have types and codes of the server's own, and additional fields."""

    advised: ClassVar = True

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "type": "odd_error", "code": None, "hint": "try again"}, "request": 7}


class ManyHeaders(Http):
    """Answers have headers for proxies, limits and times."""

    def common_headers(self, call: Call) -> Headers:
        headers = {
            "via": "1.1 odd",
            "x-ratelimit-remaining-requests": "59",
            "server-timing": "db;dur=5",
            "alt-svc": "clear",
        }
        return [*super().common_headers(call), *((name.encode(), value.encode()) for name, value in headers.items())]


class CallIdsOfItsOwn(Generation):
    """Tool calls have ids that look like numbers."""

    def call_id(self) -> str:
        return str(self.count())


class IndentedArguments(Generation):
    """The arguments of tool calls are indented JSON."""

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            is_text = asked.offer.functions[part.name].get("type") == "custom"
            yield part if is_text else replace(part, text=json.dumps(json.loads(part.text), indent=2))


class ForcedCallsStop(Chat):
    """A call that tool_choice names has finish_reason stop, as OpenAI's does."""

    def chat_reason(self, asked: Asked, output: Output) -> str:
        named = isinstance(asked.body.get("tool_choice"), dict)
        reason = super().chat_reason(asked, output)
        return "stop" if named and reason == "tool_calls" else reason


class WholeCallsInOneChunk(Chat):
    """A streamed call comes in one chunk, with its name and all of its arguments."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        begun: dict[tuple[int, int], Event] = {}
        for event in super().chat_events(head, asked, outputs):
            choices = event["choices"]
            call = next(iter(choices[0]["delta"].get("tool_calls") or ()), None) if choices else None
            if call is None:
                yield from begun.values()
                begun.clear()
                yield event
            elif (key := (choices[0]["index"], call["index"])) in begun:
                first = begun[key]["choices"][0]["delta"]["tool_calls"][0]
                first["function"]["arguments"] += call["function"]["arguments"]
            else:
                begun[key] = event


class NamesCharset(Http):
    """Content types have a charset."""

    def json_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"application/json; charset=utf-8"), *super().json_headers(call)[1:]]

    def stream_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"text/event-stream; charset=utf-8"), *super().stream_headers(call)[1:]]


class EscapesAll(Http):
    """JSON is indented, and escapes everything outside of ASCII."""

    def encode(self, value: Any) -> bytes:
        return json.dumps(value, separators=(" , ", " : ")).encode()


class LongIds(OpenAIResponses):
    """Ids have another prefix than OpenAI's."""

    def response_id(self) -> str:
        return f"odd-{super().response_id()}"


ODDITIES: tuple[type[Part], ...] = (
    RoleBesideTheFirstText,
    RoleInEveryChunk,
    FinishBesideTheLastText,
    RoleWithoutText,
    RoleBesideRefusal,
    SaysNothingBetween,
    OpensWithoutChoices,
    FilterResults,
    FilterResultsOfTexts,
    CountsImages,
    CountsNothing,
    TextsAreNotCounted,
    DatedModels,
    FieldsOfItsOwn,
    Pads,
    RefusesWith422,
    RefusesKeysWith403,
    ClosesConnections,
    Comments,
    CarriageReturns,
    CarriageReturnsAndLineFeeds,
    NumbersItsEvents,
    DataWithoutSpaces,
    SplitData,
    Compressed,
    BlankBeforeJson,
    ErrorsNameNoField,
    ErrorsOfItsOwn,
    ManyHeaders,
    CallIdsOfItsOwn,
    IndentedArguments,
    ForcedCallsStop,
    WholeCallsInOneChunk,
    NamesCharset,
    EscapesAll,
    ModelsWithMore,
    RefusesUnread,
    GuessesCharacters,
    StreamsInTwoPieces,
    LeavesOutSettings,
    HandsOnWhatHasNoEffect,
    StreamsCountNoDetails,
    TakesOptionsWithoutAStream,
    UnknownResponsesAre400,
    LongIds,
    EndsAtBytes,
    RefusesBriefly,
    RefusesUpgrades,
    ListsChoicesBackwards,
    CountsTextsAlone,
    RefusesBestOfOne,
    RefusesMethodsWithoutBody,
    ClosesAfterUnreadBodies,
    RefusesMaxTokens,
    DrawsAtOneTemperature,
    KeepsAlive,
    EventsOfItsOwn,
    KnowsAtTheEnd,
    AddsInTheEnd,
    SealsAnew,
    RepeatsNulls,
)


# Every case sees these, and reads them by the same code.
IN_ALL_ANSWERS = {
    BlankBeforeJson,
    ClosesConnections,
    Compressed,
    EscapesAll,
    GuessesCharacters,
    ManyHeaders,
    NamesCharset,
    TakesOptionsWithoutAStream,
}


@pytest.mark.parametrize("oddity", sampled(ODDITIES, *(oddity for oddity in ODDITIES if oddity not in IN_ALL_ANSWERS)))
def test_nobody_is_accused(oddity: type[Part]) -> None:
    beside = (*getattr(oddity, "beside", ()), OpenAIResponses)
    only = concerned(oddity, *beside, by="openai")
    assert only
    results = judged(oddity, *beside, by="openai", only=only, prepared=True)
    broken = [result for result in results.values() if result.verdict in (Verdict.FAIL, Verdict.ERROR)]
    accused = {result.rule: message_of(result) for result in broken if result.advice is None}
    assert not accused
    if not getattr(oddity, "advised", False):
        assert not {result.rule: message_of(result) for result in broken}


def test_the_page_lists_them() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text("utf-8")
    rows = [f"| {oddity.__doc__} | {'*' if getattr(oddity, 'advised', False) else ''} |" for oddity in ODDITIES]
    assert "\n".join(["| oddity | |", "| --- | --- |", *rows, ""]) in page
