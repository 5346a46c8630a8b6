"""Messages over a stream socket: a frame is a length (4 bytes, little endian), then one msgpack value.

The server's side is an asyncio protocol, the child's side blocks. Messages are msgspec structs of a tagged union.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import msgspec

LENGTH_BYTES = 4
_RECEIVE_BYTES = 1 << 18


def frame(encoder: msgspec.msgpack.Encoder, message: msgspec.Struct | msgspec.Raw) -> bytes:
    """Returns the frame of a message: its length, then its body. A raw one is encoded already."""
    body = encoder.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "little") + body


class Frames:
    """Splits a byte stream into frames."""

    def __init__(self) -> None:
        self._unread = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the bodies of the frames that `data` completes."""
        unread = self._unread
        if (
            not unread
            and len(data) >= LENGTH_BYTES
            and int.from_bytes(data[:LENGTH_BYTES], "little") == (len(data) - LENGTH_BYTES)
        ):
            return [data[LENGTH_BYTES:]]  # the usual case: one complete frame, without copies
        unread += data  # in place: a frame of many megabytes arrives in hundreds of pieces
        bodies = []
        start = 0
        while (body := start + LENGTH_BYTES) <= len(unread):
            end = body + int.from_bytes(unread[start:body], "little")
            if end > len(unread):
                break
            bodies.append(bytes(unread[body:end]))
            start = end
        del unread[:start]
        return bodies


class Channel(asyncio.Protocol):
    """The server's side: `on_message` is called for every message, and `on_closed` once when the child has ended."""

    def __init__(
        self,
        decoder: msgspec.msgpack.Decoder[Any],
        on_message: Callable[[Any], None],
        on_closed: Callable[[], None],
    ) -> None:
        self._decoder = decoder
        self._on_message = on_message
        self._on_closed = on_closed
        self._encoder = msgspec.msgpack.Encoder()
        self._frames = Frames()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # uvloop's doesn't inherit from it

    def data_received(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            self._on_message(self._decoder.decode(body))

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_closed()

    def send(self, message: msgspec.Struct | msgspec.Raw) -> None:
        """Sends a message without blocking. A message to a dead child is lost silently; `on_closed` reports the
        death.
        """
        assert self._transport is not None
        if not self._transport.is_closing():  # uvloop's write raises RuntimeError
            self._transport.write(frame(self._encoder, message))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.abort()


class BlockingChannel:
    """The child's side. Raises EOFError when the server has ended."""

    def __init__(self, sock: socket.socket, decoder: msgspec.msgpack.Decoder[Any]) -> None:
        self._sock = sock
        self._decoder = decoder
        self._encoder = msgspec.msgpack.Encoder()
        self._frames = Frames()
        self._received: list[bytes] = []

    def receive(self) -> Any:
        """Waits for the next message."""
        while not self._received:
            self._read(0)
        return self._decoder.decode(self._received.pop(0))

    def poll(self) -> Any | None:
        """Returns the next message, or None if none is complete yet."""
        if not self._received:
            try:
                self._read(socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
        return self._decoder.decode(self._received.pop(0)) if self._received else None

    def send(self, message: msgspec.Struct) -> None:
        try:
            self._sock.sendall(frame(self._encoder, message))
        except (BrokenPipeError, ConnectionResetError):
            raise EOFError from None

    def _read(self, flags: int) -> None:
        try:
            data = self._sock.recv(_RECEIVE_BYTES, flags)
        except ConnectionResetError:
            data = b""
        if not data:
            raise EOFError
        self._received += self._frames.feed(data)


class Ready(msgspec.Struct, tag=True):
    """The child has loaded and accepts work."""


class Failed(msgspec.Struct, tag=True):
    """The child can't load, or can't continue; `reason` is one line. The process then ends."""

    reason: str
