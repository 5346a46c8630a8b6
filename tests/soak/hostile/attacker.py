"""What a hostile client has in its hands."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from soak.caller import Caller
from soak.ends import End
from specvino.conformance.http.exchange import Exchange
from specvino.generated.errors import ERRORS, ErrorCode

# Seconds in which an answer to raw bytes has to come, or the connection has to be closed: the limits are below.
_PATIENCE = 90.0

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Attacker:
    """Asks by HTTP as `caller`, whose key is the attackers' own, as `stranger` without a key, or with bare bytes.

    `others` are ids of responses that belong to another key.
    """

    caller: Caller
    stranger: Caller
    address: tuple[str, int]
    random: Random
    others: list[str]

    async def chat(self, kind: str, **how: Any) -> tuple[Exchange, End]:
        """Asks for a chat completion; `how` are fields, and how the client leaves."""
        leaving = {name: how.pop(name) for name in ("leave_after", "leave_at") if name in how}
        body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 8, **how}
        return await self.caller.ask(kind, "chat", body, **leaving)

    def unique(self) -> str:
        """Returns a text that makes a request unlike all others, so that nothing remembered answers it."""
        return f"u{self.random.getrandbits(60):x}"

    async def raw(self, kind: str, *pieces: bytes, expect: frozenset[ErrorCode]) -> None:
        """Sends bytes on a connection of its own and judges what comes: one of the errors, or the connection's end."""
        begun = time.monotonic()
        answer = b""
        async with self.connection() as (reader, writer):
            reading = asyncio.create_task(_read(reader))
            with suppress(ConnectionError):
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
            try:
                async with asyncio.timeout(_PATIENCE):
                    answer = await reading
            except TimeoutError:
                end = End("lost", None, (f"the connection is open after {_PATIENCE:g} s",))
                self.caller.journal.add("hostile", kind, end, time.monotonic() - begun)
                return
        self.caller.journal.add("hostile", kind, of_bytes(answer, expect), time.monotonic() - begun)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        reader, writer = await asyncio.open_connection(*self.address, limit=1 << 20)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    def head(self, body: int, headers: Mapping[str, str] | None = None) -> bytes:
        """Returns the head of a request for a chat completion, with the attackers' key."""
        fields = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(body)}
        if self.caller.key:
            fields["authorization"] = f"Bearer {self.caller.key}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in (fields | dict(headers or {})).items())
        return f"POST /v1/chat/completions HTTP/1.1\r\n{lines}\r\n".encode()


Attack = Callable[[Attacker], Awaitable[None]]


async def _read(reader: asyncio.StreamReader) -> bytes:
    """Returns the first answer, or what came before the end of the connection."""
    answer = b""
    with suppress(ConnectionError):
        while piece := await reader.read(65536):
            answer += piece
            if whole(answer):
                break
    return answer


def whole(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return length is not None and len(body) >= int(length.group(1))


def of_bytes(answer: bytes, expect: frozenset[ErrorCode]) -> End:
    """Judges an answer to bare bytes: one of these errors in its envelope; none at all where the connection was
    closed."""
    if not answer:
        return End("left")
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0
    try:
        code = json.loads(body)["error"]["code"]
    except (ValueError, LookupError, TypeError):
        return End("lost", None, (f"the answer is no error: {answer[:200]!r}",))
    if code not in expect or ERRORS[ErrorCode(code)].status != status:
        return End("refused", code, (f"the answer is {status} {code}",))
    return End("refused", code)
