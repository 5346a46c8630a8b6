"""Connections, clients that leave, and requests at the same time gone wrong."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from reference_server.http import Call, Headers, Http, Route, Stream
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode

LARGE_BUFFER = 64_000
"""The bytes of a buffer that no stream of these cases fills."""


class ClosesAfterAnswers(Http):
    """The connection is closed after an answer that didn't say so."""

    breaks = {
        "transport/connections/after-an-answer",
        "transport/connections/after-an-error",
        "transport/connections/after-an-unread-body",
    }

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, body, headers)
        call.connection.close()


class ClosesAfterStreams(Http):
    """The connection is closed after a stream that didn't say so."""

    breaks = {"transport/connections/after-a-stream"}

    async def stream(self, call: Call, stream: Stream) -> None:
        await super().stream(call, stream)
        call.connection.close()


class WorksForNobody(Http):
    """Answers are made to their end, although the client has gone."""

    breaks = {"transport/connections/stream-is-left", "transport/connections/answer-is-left"}

    def noticed(self, call: Call) -> list[asyncio.Future[None]]:
        return []


class NoticesTooLate(Http):
    """Only streams notice that the client has gone, since nobody looks while an answer is made."""

    breaks = {"transport/connections/answer-is-left"}

    def noticed(self, call: Call) -> list[asyncio.Future[None]]:
        return super().noticed(call) if (call.body or {}).get("stream") else []


class HoldsBackStreams(Http):
    """Something gathers a stream and sends it at its end."""

    breaks = {"transport/connections/stream-flows", "transport/connections/stream-of-*"}

    async def stream(self, call: Call, stream: Stream) -> None:
        gathered = []
        for event in stream.events:
            await self.work(call, 1)
            gathered.append(self.frame(stream, event))
        content = b"".join([*gathered, self.end(stream)])
        await self.respond(call, 200, content, self.stream_headers(call))


class BuffersStreams(Http):
    """The head of a stream is sent, and its events are gathered in a buffer, as a proxy or its compression does."""

    breaks = {"transport/connections/stream-flows", "transport/connections/stream-of-*"}

    def is_due(self, ready: bytes) -> bool:
        return len(ready) > LARGE_BUFFER


class ModelsWaitForTheModel(Http):
    """The list of models waits until nothing is generated."""

    breaks = {"transport/connections/models-beside-a-stream"}

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        async with self._slot if self.server.pace and call.method == "GET" else nullcontext():
            await super().respond(call, status, body, headers)


class MixesAnswers(Http):
    """Of requests at the same time all get the answer to the first."""

    breaks = {"transport/at_once/*", "completions/prompts/at-once"}
    came = under_way = 0

    async def answer(self, call: Call, answer: Any) -> None:
        if not self.under_way:
            self.first = replace(answer, events=[*answer.events]) if isinstance(answer, Stream) else answer
        self.came += 1
        self.under_way += 1
        came = 0
        while came != self.came:  # till no more come, however busy the machine is
            came = self.came
            for _ in range(15):
                await asyncio.sleep(0.001)
        try:
            await super().answer(call, self.first)
        finally:
            self.under_way -= 1


class ReadsOnInBodies(Http):
    """What is left of a body that was refused unread is taken for the next request."""

    breaks = {"transport/connections/after-an-unread-body"}

    def route(self, call: Call) -> Route:
        unread: set[object] = vars(self).setdefault("unread", set())
        if call.connection in unread:
            raise Refusal(ErrorCode.INVALID_JSON, "Invalid HTTP request received.")
        try:
            return super().route(call)
        except Refusal:
            if "content-length" in call.headers:
                unread.add(call.connection)
            raise
