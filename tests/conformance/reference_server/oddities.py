"""What servers that others make do, however odd, and may do: `test_legal_oddities.py` has more of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output
from reference_server.http import Call, Event, Headers, Http, Message, Route, Stream
from reference_server.items import Item, Items
from reference_server.models import Models
from reference_server.openai_responses import NOT_SENT, OpenAIResponses
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.responses import Response
from reference_server.sockets import Sockets
from specvino.generated.errors import ErrorCode


class RefusesUnread(Http):
    """A large body is refused with 413, unread and before anything else is checked."""

    def route(self, call: Call) -> Route:
        if int(call.headers.get("content-length", 0)) > 20_000:
            raise Refusal(ErrorCode.REQUEST_TOO_LARGE, "The body is too long: it has more than 20000 bytes.")
        return super().route(call)


class GuessesCharacters(Http):
    """Bytes that aren't UTF-8 are read as some character."""

    advised: ClassVar = True

    def parse(self, content: bytes) -> Any:
        return super().parse(content.decode("utf-8", "replace").encode())


class StreamsInTwoPieces(Chat):
    """A streamed text comes in two chunks."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        begun: set[Any] = set()
        held: dict[Any, dict[str, Any]] = {}
        for event in super().chat_events(head, asked, outputs):
            choice = event["choices"][0] if event["choices"] else {}
            text, of = choice.get("delta", {}).get("content"), choice.get("index")
            if text and of in held:
                before = held[of]["choices"][0]
                before["delta"]["content"] += text
                if before["logprobs"]:
                    before["logprobs"]["content"] += choice["logprobs"]["content"]
            elif text and of in begun:
                held[of] = event
            else:
                if not text:
                    yield from held.values()
                    held.clear()
                yield event
                begun |= {of} if text else set()


class ListsChoicesBackwards(Http):
    """The choices of an answer are listed from the last index to the first."""

    def encode(self, value: Any) -> bytes:
        if isinstance(value, dict) and "choices" in value:
            value = {**value, "choices": value["choices"][::-1]}
        return super().encode(value)


class CountsTextsAlone(Chat):
    """Prompts without any text have 0 tokens."""

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        said = any(message.get("content") for message in asked.body["messages"])
        return super().chat_usage(asked if said else replace(asked, prompt=[]), outputs)


class RefusesBestOfOne(Requests):
    """best_of is refused where it isn't greater than n, as OpenAI's document has it."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if "best_of" in body and body["best_of"] <= body.get("n", 1):
            raise Refusal(ErrorCode.INVALID_VALUE, "best_of must be greater than n.", "best_of")
        return body


class RefusesMaxTokens(Requests):
    """max_tokens is refused in favor of max_completion_tokens, as OpenAI's reasoning models do."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if component == "CreateChatCompletionRequest" and "max_tokens" in body:
            message = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, message, "max_tokens")
        return body


class DrawsAtOneTemperature(Requests):
    """Any temperature but 1 is refused, as OpenAI's reasoning models do."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if body.get("temperature", 1) != 1:
            message = "'temperature' does not support this value with this model: only 1 is supported."
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, message, "temperature")
        return body


class RefusesMethodsWithoutBody(Http):
    """The refusal of a method that a path doesn't have is empty, as HTTP allows."""

    advised: ClassVar = True

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        if status == 405:
            body, headers = b"", [header for header in headers if header[0] != b"content-type"]
        await super().respond(call, status, body, headers)


class ClosesAfterUnreadBodies(Http):
    """A connection whose request wasn't read to its end is closed, and no header says so."""

    advised: ClassVar = True

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, body, headers)
        if call.method == "POST" and call.body is None:
            call.receive.__self__.transport.close()  # type: ignore[attr-defined]


class LeavesOutSettings(Http):
    """A response has neither store nor previous_response_id nor a text format."""

    def encode(self, value: Any) -> bytes:
        if isinstance(value, dict) and isinstance(value.get("response"), dict):
            return super().encode({**value, "response": self.returned(value["response"])})
        return super().encode(self.returned(value) if isinstance(value, dict) else value)

    def returned(self, value: Mapping[str, Any]) -> dict[str, Any]:
        left_out = ("background", "previous_response_id", "store", "text")
        return {
            name: inner for name, inner in value.items() if value.get("object") != "response" or name not in left_out
        }


class KeepsAlive(OpenAIResponses):
    """Signs of life come between the events of a response, as OpenAI sends them while it is busy."""

    def response_events(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Iterator[Event]:
        for event in super().response_events(asked, begun, output, items):
            if event["type"] != "response.created":
                yield {"type": "keepalive"}
            yield event


class EventsOfItsOwn(OpenAIResponses):
    """Before, between and after the events of a response come others of the server's own types."""

    advised: ClassVar = True

    def response_stream(self, events: Iterable[Event]) -> Stream:
        own = ({"type": f"odd.{name}"} for name in ("limits", "queue", "timing"))
        begin, *rest = events
        return super().response_stream([next(own), begin, next(own), *rest, next(own)])


class KnowsAtTheEnd(Items):
    """The phase of a message, and a field of the server's own, are only known when the message ends."""

    def message_item(self, part: Mapping[str, Any], status: str) -> Item:
        return {**super().message_item(part, status), "phase": "final_answer", "odd_score": 0.5}

    def begun(self, item: Item) -> Item:
        return {name: value for name, value in super().begun(item).items() if name not in ("phase", "odd_score")}


class AddsInTheEnd(OpenAIResponses):
    """The last event of a response, its items and its usage have fields of the server's own."""

    def last_events(self, whole: Response) -> Iterator[Event]:
        usage, output = whole["usage"], [{**item, "odd_cost": 0.1} for item in whole["output"]]
        own = {"image_tokens": 3, "input_tokens_details": {**usage["input_tokens_details"], "odd_tokens": 10**6}}
        for event in super().last_events({**whole, "output": output, "usage": {**usage, **own}, "odd_cost": 0.2}):
            yield {**event, "odd_seconds": 1.5}


class ThinksInResponses(Generation):
    """The model thinks before each response."""

    def thinks(self, body: Mapping[str, Any]) -> bool:
        return "input" in body


class SealsAnew(Http):
    """Reasoning is encrypted anew for each event, as OpenAI's is."""

    beside: ClassVar = (ThinksInResponses,)

    def encode(self, value: Any) -> bytes:
        return super().encode(self.sealed(value))

    def sealed(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.sealed(element) for element in value]
        if not isinstance(value, Mapping):
            return value
        seal = (
            {"encrypted_content": f"{self.server.generation.count():08x}"} if value.get("type") == "reasoning" else {}
        )
        return {name: self.sealed(member) for name, member in value.items()} | seal


class RepeatsNulls(OpenAIResponses):
    """What a response repeats of its request is null where the request lacks it, as the description of a format."""

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        return {**dict.fromkeys(NOT_SENT), **super().begun_response(body)}

    def echoed_text(self, body: Mapping[str, Any]) -> dict[str, Any]:
        text = super().echoed_text(body)
        return {**text, "format": {"description": None, "strict": None, **text["format"]}}

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"defer_loading": None, **tool} for tool in super().echoed_tools(body)]


class HandsOnWhatHasNoEffect(Requests):
    """A gateway renames the header that lists fields without effect."""

    def unsupported_headers(self, call: Call) -> Headers:
        return [(b"llm_provider-" + name, value) for name, value in super().unsupported_headers(call)]


class StreamsCountNoDetails(Chat):
    """The usage of a stream has no details."""

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            yield {**event, "usage": {name: value for name, value in event["usage"].items() if "details" not in name}}


class TakesOptionsWithoutAStream(Requests):
    """stream_options is accepted without stream."""

    advised: ClassVar = True

    def violations(self, component: str, body: Any) -> Iterator[Any]:
        if isinstance(body, dict) and body.get("stream") is not True and isinstance(body.get("stream_options"), dict):
            body = {name: value for name, value in body.items() if name != "stream_options"}
        return super().violations(component, body)


class UnknownResponsesAre400(Http):
    """An unknown response is refused with 400."""

    advised: ClassVar = True

    def status(self, refusal: Refusal) -> int:
        return 400 if refusal.code is ErrorCode.RESPONSE_NOT_FOUND else refusal.status


class ModelsWithMore(Models):
    """Models have undocumented fields."""

    def described(self, model: str) -> dict[str, Any]:
        return {**super().described(model), "owned_by": "", "permission": [], "context_length": None}


class EndsAtBytes(Sockets):
    """A binary message on a WebSocket ends the connection with the code for data that isn't accepted."""

    def closing_code(self, message: Message) -> int | None:
        return 1003 if message.get("bytes") else None


class RefusesBriefly(Sockets):
    """An error on a WebSocket has its message and its type alone, as OpenAI's package requires."""

    advised: ClassVar = True

    def error(self, refusal: Refusal) -> Event:
        return {"type": "error", "error": {name: refusal.error[name] for name in ("message", "type")}}


class RefusesUpgrades(Sockets):
    """A WebSocket is refused with 403, as Starlette refuses those at unknown paths."""

    def admit(self, call: Call) -> None:
        raise Refusal(ErrorCode.HOST_NOT_ALLOWED, "There is no WebSocket.")
