"""Below HTTP: heads, framing and connections without bounds."""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import cast

from soak.hostile.attacker import Attack, Attacker
from specvino.generated.errors import ErrorCode

# More than the server under soak allows.
_CONNECTIONS = 300

_TOO_LARGE = frozenset({ErrorCode.HEADERS_TOO_LARGE})
_NO_HTTP = frozenset({ErrorCode.INVALID_HTTP})
# Other attackers' bodies may be too many meanwhile.
_LATE = frozenset({ErrorCode.REQUEST_TIMEOUT, ErrorCode.SERVER_BUSY})


async def a_large_header(attacker: Attacker) -> None:
    head = b"GET /v1/models HTTP/1.1\r\nhost: x\r\nx: "
    await attacker.raw("a large header", head, *[b"y" * 2**20] * 20, expect=_TOO_LARGE)


async def many_headers(attacker: Attacker) -> None:
    head = b"GET /v1/models HTTP/1.1\r\nhost: x\r\n"
    await attacker.raw("many headers", head, b"a: b\r\n" * 100_000, expect=_TOO_LARGE)


async def trailers(attacker: Attacker) -> None:
    head = attacker.head(0, {"content-length": "", "transfer-encoding": "chunked"})
    head = head.replace(b"content-length: \r\n", b"")
    await attacker.raw("trailers", head, b"0\r\n", b"a: b\r\n" * 300_000, expect=_TOO_LARGE)


async def rubbish(attacker: Attacker) -> None:
    noise = bytes(attacker.random.randrange(256) for _ in range(400))
    await attacker.raw("rubbish", b"\x16\x03\x01", noise, b"\r\n\r\n", expect=_NO_HTTP)


async def pipelined(attacker: Attacker) -> None:
    one = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
    async with attacker.connection() as (reader, writer):
        with suppress(ConnectionError):
            writer.write(one * 8000)
            await writer.drain()
            while await reader.read(65536):
                pass


async def half_a_head(attacker: Attacker) -> None:
    await attacker.raw("half a head", b"GET /v1/models HTTP/1.1\r\nhost: ", expect=_LATE)


async def half_a_body(attacker: Attacker) -> None:
    await attacker.raw("half a body", attacker.head(1000), b'{"model":', expect=_LATE)


async def silent_connections(attacker: Attacker) -> None:
    """More than the server takes, each asking nothing."""
    async with AsyncExitStack() as stack:
        for _ in range(_CONNECTIONS):
            with suppress(OSError):
                await stack.enter_async_context(attacker.connection())
        await asyncio.sleep(2)


async def answers_that_nobody_reads(attacker: Attacker) -> None:
    body = (
        b'{"model":"%s","stream":true,"max_tokens":3000,"ignore_eos":true,"messages":[{"role":"user","content":"a"}]}'
    )
    body %= attacker.caller.model.encode()
    async with AsyncExitStack() as stack:
        for _ in range(4):
            _, writer = await stack.enter_async_context(attacker.connection())
            cast("asyncio.Transport", writer.transport).pause_reading()
            writer.write(attacker.head(len(body)) + body)
        await asyncio.sleep(5)


async def connections_come_and_go(attacker: Attacker) -> None:
    for _ in range(200):
        with suppress(OSError):
            async with attacker.connection() as (_, writer):
                writer.write(b"GET /v1/mod")


ATTACKS: tuple[Attack, ...] = (
    a_large_header,
    many_headers,
    trailers,
    rubbish,
    pipelined,
    half_a_head,
    half_a_body,
    silent_connections,
    answers_that_nobody_reads,
    connections_come_and_go,
)
