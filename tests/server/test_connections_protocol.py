"""What a connection may send before its request is one. Seconds are told, never waited for."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from support.connection import Exchange

from specvino.generated.errors import ERRORS, ErrorCode
from specvino.server import connections
from specvino.server.connections import Connections

HEAD = b"GET / HTTP/1.1\r\nhost: x\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


def refused(sent: bytes, code: ErrorCode) -> dict[str, Any]:
    head, body = sent.split(b"\r\n\r\n", 1)
    status, *fields = head.decode().split("\r\n")
    assert status.split()[1] == str(ERRORS[code].status)
    named = dict(field.split(": ", 1) for field in fields)
    assert named["content-type"] == "application/json"
    assert int(named["content-length"]) == len(body)
    assert named["connection"] == "close"
    assert named["x-request-id"].startswith("req_")
    error: dict[str, Any] = json.loads(body)["error"]
    assert (error["code"], error["type"], error["param"]) == (code, ERRORS[code].type, None)
    return error


def run(test: Callable[[], Any]) -> None:
    asyncio.run(test())


@pytest.mark.parametrize("size", [1, 1000, 10_000_000], ids=["byte by byte", "in pieces", "at once"])
@pytest.mark.parametrize(
    ("head", "fits"),
    [
        (b"GET /" + b"x" * 65_500 + b" HTTP/1.1\r\nhost: x\r\n\r\n", True),
        (b"GET /" + b"x" * 65_536 + b" HTTP/1.1\r\nhost: x\r\n\r\n", False),
        (HEAD + b"x: " + b"y" * 65_500 + b"\r\n\r\n", True),
        (HEAD + b"x: " + b"y" * 65_536 + b"\r\n\r\n", False),
        (HEAD + b"x" * 65_536 + b": y\r\n\r\n", False),
        (HEAD + b"x: y\r\n" * 255 + b"\r\n", True),
        (HEAD + b"x: y\r\n" * 256 + b"\r\n", False),
    ],
    ids=["url", "long url", "value", "long value", "long name", "fields", "many fields"],
)
def test_a_head_has_bounds_however_it_comes(head: bytes, fits: bool, size: int) -> None:
    async def test() -> None:
        made = Exchange()
        sent = await made.send(*(head[at : at + size] for at in range(0, len(head), size)))
        if fits:
            assert sent.startswith(b"HTTP/1.1 200")
        else:
            assert "65536 bytes or 256 header fields" in refused(sent, ErrorCode.HEADERS_TOO_LARGE)["message"]
            assert (made.asked, made.transport.ended, made.transport.closed) == (0, True, False)

    run(test)


@pytest.mark.parametrize(
    ("first", "endless"),
    [
        (HEAD + b"x: ", b"y"),
        (b"GET /", b"x"),
        (HEAD + b"x:", b" "),
        (b"", b"\r\n"),
        (CHUNKED + b"1;", b"x"),
        (CHUNKED + b"1\r\nx\r\n0\r\nx: ", b"y"),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"x: y\r\n"),
    ],
    ids=["value", "url", "white space", "empty lines", "chunk extension", "trailer", "trailers"],
)
def test_what_has_no_end_is_not_read_for_long(first: bytes, endless: bytes) -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(first)
        piece = endless * (4096 // len(endless))
        for _ in range(2 * connections.HEAD_BYTES // len(piece) + 1):
            await made.send(piece)
        refused(made.transport.sent, ErrorCode.HEADERS_TOO_LARGE)
        assert made.transport.ended
        assert made.bodies == []

    run(test)


def test_fields_behind_a_body_are_dropped() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(CHUNKED + b"1\r\nx\r\n0\r\n" + b"y: z\r\n" * 5000 + b"\r\n")
        assert made.bodies == [b"x"]
        assert len(list(made.protocol.scope["headers"])) == 2

    run(test)


def test_a_body_of_many_small_chunks_is_read() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(CHUNKED, *[b"1;x=" + b"y" * 4000 + b"\r\nx\r\n"] * 100, b"0\r\n\r\n")
        assert made.bodies == [b"x" * 100]

    run(test)


@pytest.mark.parametrize(
    "raw", [b"\x16\x03\x01 rubbish\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nno field\r\n\r\n"]
)
def test_what_is_not_http(raw: bytes) -> None:
    async def test() -> None:
        refused(await Exchange().send(raw), ErrorCode.INVALID_HTTP)

    run(test)


def test_half_a_head_is_waited_for_so_long() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(HEAD)
        assert await made.seconds(connections.HEAD_SECONDS) == b""
        assert "20 seconds" in refused(await made.seconds(1), ErrorCode.REQUEST_TIMEOUT)["message"]

    run(test)


def test_bytes_now_and_then_give_a_head_no_more_time() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(HEAD)
        for _ in range(connections.HEAD_SECONDS + 1):
            await made.send(b"x: y\r\n")
            await made.seconds(1)
        refused(made.transport.sent, ErrorCode.REQUEST_TIMEOUT)

    run(test)


def test_a_connection_without_a_byte_is_closed_without_an_answer() -> None:
    async def test() -> None:
        made = Exchange()
        assert await made.seconds(connections.HEAD_SECONDS) == b""
        assert not made.transport.closed
        assert await made.seconds(1) == b""
        assert made.transport.closed

    run(test)


def test_one_that_was_answered_may_wait_but_not_in_the_middle_of_a_head() -> None:
    async def test() -> None:
        made = Exchange()
        made.may_end.set()
        await made.send(HEAD + b"\r\n")
        await made.seconds(1000)  # uvicorn's own option bounds it
        assert not made.transport.is_closing()
        made.transport.sent = b""
        await made.send(b"GET /")
        await made.seconds(connections.HEAD_SECONDS + 1)
        refused(made.transport.sent, ErrorCode.REQUEST_TIMEOUT)

    run(test)


def test_a_body_may_take_its_time_by_its_size() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(POST, b"x" * 50)
        assert await made.seconds(connections.BODY_SECONDS) == b""
        refused(await made.seconds(1), ErrorCode.REQUEST_TIMEOUT)
        assert made.ends == ["gone"]

        large = Exchange()
        await large.send(POST.replace(b"100", b"1000000"), b"x" * 50 * connections.BODY_RATE)
        assert await large.seconds(connections.BODY_SECONDS + 50) == b""
        refused(await large.seconds(1), ErrorCode.REQUEST_TIMEOUT)

    run(test)


def test_a_client_is_not_late_while_the_server_reads_nothing() -> None:
    async def test() -> None:
        made = Exchange()
        waiting = POST.replace(b"\r\n\r\n", b"\r\nexpect: 100-continue\r\n\r\n")
        made.protocol.data_received(waiting)  # the app has not begun: nobody has asked for the body
        for _ in range(1000):
            made.connections.tick()
        assert await made.settled() == b"HTTP/1.1 100 Continue\r\n\r\n"
        await made.send(b"x" * 100)
        assert made.bodies == [b"x" * 100]

    run(test)


def test_an_answer_may_take_as_long_as_it_does() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(HEAD + b"\r\n")
        await made.seconds(100_000)
        made.may_end.set()
        assert (await made.settled()).endswith(b"3\r\ntwo\r\n0\r\n\r\n")

    run(test)


def test_the_rest_of_a_body_that_nobody_wants_is_read_so_long() -> None:
    async def test() -> None:
        made = Exchange(reads=False)
        made.may_end.set()
        assert (await made.send(POST, b"x")).endswith(b"0\r\n\r\n")
        await made.seconds(connections.LINGER_SECONDS)
        assert not made.transport.is_closing()
        await made.seconds(1)
        assert made.transport.aborted

    run(test)


def test_a_client_that_reads_nothing_is_left() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(HEAD + b"\r\n")
        for unread in (100, 99, 98):  # however slowly: it reads
            made.transport.unread = unread
            await made.seconds(connections.UNREAD_SECONDS)
        assert not made.transport.aborted
        await made.seconds(2)
        assert made.transport.aborted

    run(test)


def test_who_does_not_go_when_refused_is_left() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send(b"rubbish\r\n\r\n")
        await made.send(*[b"x" * 10_000] * 10)
        await made.seconds(connections.LINGER_SECONDS)
        assert not made.transport.aborted
        await made.seconds(1)
        assert made.transport.aborted

    run(test)


def test_requests_may_be_sent_before_the_answer_but_not_thousands() -> None:
    async def test() -> None:
        made = Exchange()
        await made.send((HEAD + b"\r\n") * (connections.PIPELINED + 1))
        made.may_end.set()
        sent = await made.settled()
        for _ in range(connections.PIPELINED):
            sent = await made.settled()
        assert sent.count(b"HTTP/1.1 200") == connections.PIPELINED + 1

        greedy = Exchange()
        await greedy.send((HEAD + b"\r\n") * 8000)
        assert greedy.transport.aborted
        assert greedy.asked <= 1
        greedy.may_end.set()
        sent = greedy.transport.sent
        assert await greedy.settled() == sent, "nothing is written to who is gone"

    run(test)


def test_another_protocol_is_not_offered_and_the_request_is_answered() -> None:
    async def test() -> None:
        made = Exchange()
        made.may_end.set()
        await made.send(HEAD + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n")
        assert made.transport.sent.startswith(b"HTTP/1.1 200")
        refused(await Exchange().send(b"CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n"), ErrorCode.INVALID_HTTP)

    run(test)


@pytest.mark.parametrize("size", [1, 1000], ids=["byte by byte", "at once"])
def test_a_body_behind_an_offer_of_http_2_is_read(size: int) -> None:
    """As Java's client sends its first request; its second one comes on the same connection."""

    async def test() -> None:
        made = Exchange()
        made.may_end.set()
        offer = b"\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEA\r\nUpgrade: h2c\r\n\r\n"
        raw = POST.replace(b"\r\n\r\n", offer) + b"x" * 100 + POST + b"y" * 100
        sent = await made.send(*(raw[at : at + size] for at in range(0, len(raw), size)))
        assert made.bodies == [b"x" * 100, b"y" * 100]
        assert sent.count(b"HTTP/1.1 200") == 2
        assert (b"host", b"x") in made.protocol.scope["headers"]

    run(test)


def test_one_connection_too_many_is_told_so() -> None:
    async def test() -> None:
        held = Connections(1)
        first = Exchange(held=held)
        await first.send(HEAD + b"\r\n")
        second = Exchange(held=held)
        await second.send(HEAD + b"\r\n")
        error = refused(second.transport.sent, ErrorCode.TOO_MANY_CONNECTIONS)
        assert "1 connections" in error["message"]
        assert b"\r\nretry-after: 1\r\n" in second.transport.sent.lower()
        first.may_end.set()
        assert (await first.settled()).endswith(b"two\r\n0\r\n\r\n")
        third = Exchange(held=held)
        await third.send(HEAD + b"\r\n")
        assert third.transport.sent.startswith(b"HTTP/1.1 200")
        assert first.transport.aborted, "it asked nothing more"

    run(test)
