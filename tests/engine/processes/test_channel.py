import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.processes.channel import BlockingChannel, Channel, Frames, frame


class Note(msgspec.Struct, tag=True):
    text: str


class Number(msgspec.Struct, tag=True):
    value: int


DECODER = msgspec.msgpack.Decoder(Note | Number)


@given(st.lists(st.text(max_size=50), max_size=8), st.integers(1, 40))
def test_frames_survive_any_cutting(texts: list[str], size: int) -> None:
    encoder = msgspec.msgpack.Encoder()
    stream = b"".join(frame(encoder, Note(text)) for text in texts)
    frames = Frames()
    bodies = [body for at in range(0, len(stream), size) for body in frames.feed(stream[at : at + size])]
    assert [DECODER.decode(body) for body in bodies] == [Note(text) for text in texts]


@given(st.lists(st.lists(st.text(max_size=9), min_size=1, max_size=3), max_size=8))
def test_frames_that_come_whole(together: list[list[str]]) -> None:
    encoder = msgspec.msgpack.Encoder()
    frames = Frames()
    for texts in together:
        bodies = frames.feed(b"".join(frame(encoder, Note(text)) for text in texts))
        assert [DECODER.decode(body) for body in bodies] == [Note(text) for text in texts]


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


Sockets = tuple[socket.socket, socket.socket]


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_message_to_a_dead_child_is_lost_silently(sockets: Sockets, factory: Callable[[], Any]) -> None:
    """Also between the report of its death and what follows from it."""
    one, other = sockets

    async def test() -> None:
        closed = asyncio.Event()
        channel = Channel(DECODER, lambda message: None, closed.set)
        await asyncio.get_running_loop().create_unix_connection(lambda: channel, sock=one.dup())
        other.close()
        await closed.wait()
        for _ in range(10):
            channel.send(Note("lost"))
            await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(test())


def test_poll_does_not_wait_and_receive_keeps_the_order(sockets: Sockets) -> None:
    one, other = (BlockingChannel(sock, DECODER) for sock in sockets)
    assert other.poll() is None
    one.send(Note("first"))
    one.send(Number(2))
    assert other.receive() == Note("first")
    assert other.poll() == Number(2)
    assert other.poll() is None


def test_the_end_of_the_other_side_is_told_after_its_messages(sockets: Sockets) -> None:
    one, other = (BlockingChannel(sock, DECODER) for sock in sockets)
    one.send(Note("last"))
    sockets[0].close()
    assert other.poll() == Note("last")
    with pytest.raises(EOFError):
        other.poll()
    with pytest.raises(EOFError):
        other.receive()
    with pytest.raises(EOFError):
        other.send(Note("too late"))
