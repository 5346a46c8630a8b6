"""A server of bare sockets, which answers as no HTTP library would, in a thread of its own."""

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

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
    state, loop = Raw(), asyncio.new_event_loop()
    listing = answer(MODELS) if models is None else models

    # A handler that waits for nothing that will come is held by nobody else, and would be collected as garbage.
    handlers: set[asyncio.Task[None]] = set()
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        if task := asyncio.current_task():
            handlers.add(task)
        try:
            asked = await _read(reader)
            state.asked.append(asked)
            if asked.path.startswith(below) and asked.path.endswith("/models"):
                writer.write(listing)
            else:
                async for piece in chat(asked):
                    writer.write(piece)
                    await writer.drain()
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass  # asyncio would print a traceback for a handler that is cancelled
        finally:
            writer.close()

    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", ssl=context))
    state.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield state
    finally:
        asyncio.run_coroutine_threadsafe(_end(server, handlers, writers), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: asyncio.Server, handlers: set[asyncio.Task[None]], writers: set[asyncio.StreamWriter]) -> None:
    """Closes the server when no connection is being made: asyncio (Python 3.11) leaves one open that it has accepted
    for a server that is closed meanwhile, or for a task that is cancelled before its first step. Nor does it close one
    with an answer that nobody reads."""
    asyncio.get_running_loop().remove_reader(server.sockets[0])
    mine = {asyncio.current_task()}
    while others := asyncio.all_tasks() - mine:
        for handler in handlers:
            handler.cancel()
        await asyncio.wait(others, timeout=0.05)
    for writer in writers:
        # asyncio (Python 3.11) fails when a connection is aborted that it closed after the last of its answer.
        socket = writer.get_extra_info("socket")  # None for a TLS connection that is lost
        if socket is not None and socket.fileno() != -1:
            writer.transport.abort()
    server.close()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))
