"""A server of bare sockets, which answers as no HTTP library would, in a thread of its own."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

from anyio.from_thread import start_blocking_portal

from support.stream_server import stream_server

MODELS = b'{"object": "list", "data": [{"id": "m", "object": "model", "created": 1700000000, "owned_by": "us"}]}'

TEXT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello", "refusal": None},
            "finish_reason": "stop",
            "logprobs": None,
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Pieces = AsyncIterator[bytes]
"""What is sent, piece by piece; then the connection is closed."""


@dataclass
class Raw:
    url: str = ""
    asked: list[Asked] = field(default_factory=list)


def answer(body: bytes, status: str = "200 OK", media: str = "application/json", extra: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n{extra}Connection: close\r\n\r\n"
    )
    return head.encode() + body


def error(status: str, message: str, extra: str = "") -> bytes:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
    return answer(json.dumps(body).encode(), status, extra=extra)


def chat() -> bytes:
    return answer(json.dumps(TEXT).encode())


@contextlib.contextmanager
def raw_server(
    chat: Callable[[Asked], Pieces], models: bytes | None = None, below: str = "", tls: str | None = None
) -> Iterator[Raw]:
    """Lists one model, `m`, or answers `models` to whoever asks for them (where a path begins with `below`); `chat`
    answers everything else. `tls` is a file with a certificate and its key."""
    state = Raw()
    listing = answer(MODELS) if models is None else models

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await _read(reader)
        state.asked.append(asked)
        if asked.path.startswith(below) and asked.path.endswith("/models"):
            writer.write(listing)
        else:
            async for piece in chat(asked):
                writer.write(piece)
                await writer.drain()

    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(stream_server(serve, context)) as port:
        state.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1"
        yield state


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))
