"""What responses and their events may have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from reference_server.generation import Asked, Generation, Output
from reference_server.http import Event, Http, Stream
from reference_server.items import Item, Items
from reference_server.openai_responses import NOT_SENT, OpenAIResponses
from reference_server.responses import Response


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


class _ThinksInResponses(Generation):
    """The model thinks before each response."""

    def thinks(self, body: Mapping[str, Any]) -> bool:
        return "input" in body


class SealsAnew(Http):
    """Reasoning is encrypted anew for each event, as OpenAI's is."""

    beside: ClassVar = (_ThinksInResponses,)

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


class LongIds(OpenAIResponses):
    """Ids have another prefix than OpenAI's."""

    def response_id(self) -> str:
        return f"odd-{super().response_id()}"
