"""Responses over a WebSocket, at the path of POST /responses."""

import asyncio
import json
from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from reference_server.http import Call, Event, Message, Receive, Send, Stream
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.stored import Record
from specvino.generated.errors import ErrorCode

OF_MESSAGE = ("type", "generate", "stream_id", "stream", "background")
"""Fields of a message that aren't the request's."""


@dataclass(slots=True)
class Talk:
    """An open connection: its responses that aren't stored, and the last request of each lane."""

    call: Call
    say: Callable[[Event], Awaitable[None]]
    records: dict[str, Record] = field(default_factory=dict)
    last: dict[Any, "asyncio.Task[None]"] = field(default_factory=dict)
    messages: int = 0


class Sockets(Part):
    """Each message is a request for a stream, whose events are messages."""

    async def serve(self, scope: Message, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        call = self.server.http.call({**scope, "method": "GET"}, receive, send)
        try:
            self.admit(call)
        except Refusal as refusal:
            await self.turn_away(call, refusal)
            return
        await send({"type": "websocket.accept"})

        async def say(event: Event) -> None:
            await send({"type": "websocket.send", "text": json.dumps(event, ensure_ascii=False)})

        await self.converse(Talk(call, say))

    async def converse(self, talk: Talk) -> None:
        """Answers until the client leaves."""
        tasks: set[asyncio.Task[None]] = set()
        while (message := await talk.call.receive())["type"] != "websocket.disconnect":
            talk.messages += 1
            if code := self.closing_code(message):
                await talk.call.send({"type": "websocket.close", "code": code})
                break
            content = (message.get("text") or "").encode() or message.get("bytes") or b""
            lane = self.lane(talk, content)
            talk.last[lane] = asyncio.create_task(self.answer(talk, content, talk.last.get(lane)))
            tasks.add(talk.last[lane])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # The connection

    def admit(self, call: Call) -> None:
        """Raises Refusal where there is no WebSocket, or the key is missing."""
        path, based = self.server.http.without_base(call.path)
        if not based or path != "/responses":
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no WebSocket at {call.path[:200]}.")
        self.server.http.authorize(call)

    async def turn_away(self, call: Call, refusal: Refusal) -> None:
        body = self.server.http.encode(self.server.http.envelope(refusal))
        headers = [(b"content-type", b"application/json"), *self.server.http.common_headers(call)]
        start = {"type": "websocket.http.response.start", "status": refusal.status, "headers": headers}
        await call.send(start)
        await call.send({"type": "websocket.http.response.body", "body": body})

    def closing_code(self, message: Message) -> int | None:
        """The code of the end of a connection that such a message ends; none does."""
        return None

    # Requests

    def lane(self, talk: Talk, content: bytes) -> Any:
        """Requests of one lane wait for each other."""
        try:
            value = json.loads(content)
        except ValueError:
            return None
        return value.get("stream_id") if isinstance(value, dict) else None

    async def answer(self, talk: Talk, content: bytes, before: "asyncio.Task[None] | None") -> None:
        if before:
            await before
        lane = self.lane(talk, content)
        try:
            message = self.server.http.parse(content)
            self.require_type(message)
            events = self.events(talk, message)
        except Refusal as refusal:
            await talk.say(self.refused(refusal, message_lane=lane))
            if self.ends_by(refusal):
                await talk.call.send({"type": "websocket.close", "code": 1008})
            return
        for event in events:
            await talk.say(self.labelled(event, lane))
            await asyncio.sleep(0)  # other lanes have their turn

    def require_type(self, message: Any) -> None:
        """Raises Refusal."""
        error = next(self.server.requests.violations("ResponseCreateEvent", message), None)
        if error is not None:
            raise self.server.requests.refusal("ResponseCreateEvent", error)

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The request by HTTP that a message stands for."""
        return {name: value for name, value in message.items() if name not in OF_MESSAGE} | {"stream": True}

    def events(self, talk: Talk, message: Mapping[str, Any]) -> list[Event]:
        """Raises Refusal."""
        body = self.body(message)
        call = Call("POST", talk.call.path, {}, talk.call.headers, talk.call.receive, talk.call.send, body=body)
        stored = self.server.stored
        everywhere = stored.records
        # What is stored goes to the first.
        stored.records = ChainMap(everywhere, self.known(talk))
        try:
            events = self.prepared(call) if self.only_prepares(message) else self.answered(call)
        finally:
            stored.records = everywhere
        self.remember(talk, call, events)
        if call.unsupported:
            events[0] = {**events[0], **self.noted(call)}
        return events

    def known(self, talk: Talk) -> MutableMapping[str, Record]:
        """What is remembered for a connection."""
        return talk.records

    def only_prepares(self, message: Mapping[str, Any]) -> bool:
        return message.get("generate") is False

    def answered(self, call: Call) -> list[Event]:
        stream = self.server.responses.responses(call)
        assert isinstance(stream, Stream)
        return [*stream.events]

    def prepared(self, call: Call) -> list[Event]:
        """The events of a response without output."""
        body = self.server.requests.accepted(call, "CreateResponseRequest")
        responses = self.server.responses
        asked = responses.response_asked(body, self.server.items.input_items(body["input"]))
        begun = responses.begun_response(body)
        usage = {**responses.compacted_usage(len(asked.prompt)), "output_tokens": 0, "total_tokens": len(asked.prompt)}
        done = {"status": "completed", "completed_at": self.server.http.now(), "usage": usage}
        return [*responses.numbered([*responses.first_events(begun), *responses.last_events({**begun, **done})])]

    def remember(self, talk: Talk, call: Call, events: list[Event]) -> None:
        """So that a response that isn't stored is continued on its connection."""
        response = next(event["response"] for event in reversed(events) if "response" in event)
        taken = self.server.items.input_items(call.body["input"])
        self.known(talk)[response["id"]] = Record(response, response, taken, events)

    # What is said

    def noted(self, call: Call) -> dict[str, Any]:
        """What the first event has besides: the headers of an answer by HTTP."""
        headers = self.server.requests.unsupported_headers(call)
        return {"headers": {name.decode(): value.decode() for name, value in headers}}

    def labelled(self, event: Event, lane: Any) -> Event:
        return event if lane is None else {**event, "stream_id": lane}

    def refused(self, refusal: Refusal, message_lane: Any) -> Event:
        return self.labelled(self.error(refusal), message_lane)

    def error(self, refusal: Refusal) -> Event:
        return {"type": "error", "status": refusal.status, "error": refusal.error}

    def ends_by(self, refusal: Refusal) -> bool:
        """Whether an error ends the connection; none does."""
        return False
