"""Content that is too long, or coded."""

import asyncio
import gzip
import json
import zlib

import pytest
from support.raw_server import TEXT, answer, raw_server

from specvino.conformance.fuzz.server import NoAnswer, Server
from specvino.conformance.http.client import Client, Target
from specvino.conformance.http.content import LONGEST, BadContent, Content, TooLong
from specvino.conformance.http.exchange import EXCERPT, Exchange, Request
from specvino.conformance.verdict import LONGEST_MESSAGE, Finding

BODY = json.dumps(TEXT).encode()

# 10 kB that are 10 MB, and 20 kB that are 20 GB where the one is in the other.
BOMB = gzip.compress(bytes(10_000_000), mtime=0)


def sent_with(coding: str, body: bytes) -> tuple[Exchange, str | None]:
    """The exchange of a request for a body in a coding, and the coding that was asked for."""

    async def coded(asked):
        yield answer(body, extra=f"Content-Encoding: {coding}\r\n")

    async def ask(url):
        async with Client(Target(url)) as client:
            return await client.send(Request("chat", "POST", "/chat/completions", {}, b"{}", {}))

    with raw_server(coded) as server:
        return asyncio.run(ask(server.url)), server.asked[0].headers.get("accept-encoding")


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("identity", BODY),
        ("gzip", gzip.compress(BODY, mtime=0)),
        ("X-GZIP", gzip.compress(BODY, mtime=0)),
        ("deflate", zlib.compress(BODY)),
        ("gzip", gzip.compress(BODY[:9], mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(BODY[9:], mtime=0)),
        ("gzip", gzip.compress(BODY, mtime=0) + b"\0" * 9),
    ],
)
def test_an_answer_in_a_coding_is_read(coding, body) -> None:
    exchange, asked = sent_with(coding, body)
    assert (exchange.ended, exchange.json) == ("complete", TEXT)
    assert asked == "identity"


@pytest.mark.parametrize(
    ("coding", "body", "ended", "problem"),
    [
        ("gzip", BOMB, "too long", "the answer exceeds 8000000 bytes"),
        ("gzip, gzip", gzip.compress(BOMB, mtime=0), "cut off", "has the content coding 'gzip, gzip', though"),
        ("br", BODY, "cut off", "has the content coding 'br', though the request asks for none"),
        ("gzip", BODY, "cut off", "isn't in its content coding"),
    ],
)
def test_a_coding_that_is_not_read(coding, body, ended, problem) -> None:
    exchange, _ = sent_with(coding, body)
    assert (exchange.status, exchange.ended) == (200, ended)
    assert problem in (exchange.problem or "")
    assert len(exchange.content) <= LONGEST + 1


@pytest.mark.parametrize("sent", [BOMB, gzip.compress(bytes(3_000_000), mtime=0) * 9])
def test_no_more_than_the_limit_is_decoded(sent) -> None:
    content = Content("gzip")
    with pytest.raises(TooLong):
        content.add(sent)
    assert len(content.decoded) == LONGEST + 1


def test_the_members_are_bounded() -> None:
    empty = gzip.compress(b"", mtime=0)
    content = Content("gzip")
    content.add(empty * 1400)
    with pytest.raises(BadContent, match="more than 1468 members"):
        content.add(empty * 100)


def test_each_event_of_a_stream_may_be_a_member() -> None:
    content = Content("gzip")
    events = [b'data: {"choices": [{"index": 0, "delta": {"content": "%d"}}]}\n\n' % number for number in range(3000)]
    for event in events:
        content.add(gzip.compress(event, mtime=0))
    assert content.decoded == b"".join(events)


def test_members_are_decoded_wherever_they_are_split() -> None:
    sent = gzip.compress(BODY[:9], mtime=0) + gzip.compress(BODY[9:], mtime=0)
    for size in range(1, 30):
        content = Content("gzip")
        for begin in range(0, len(sent), size):
            content.add(sent[begin : begin + size])
        assert content.decoded == BODY


def test_no_content_is_in_any_coding() -> None:
    async def empty(asked):
        yield b"HTTP/1.1 204 No Content\r\nContent-Encoding: br\r\nConnection: close\r\n\r\n"

    async def ask(url):
        async with Client(Target(url)) as client:
            return await client.send(Request(None, "OPTIONS", "/chat/completions", {}, None))

    with raw_server(empty) as server:
        exchange = asyncio.run(ask(server.url))
    assert (exchange.status, exchange.ended, exchange.content) == (204, "complete", b"")


def test_bytes_that_decode_to_nothing_count() -> None:
    nothing = zlib.compressobj(wbits=31)
    content = Content("gzip")
    content.add(nothing.compress(b""))
    empty = nothing.flush(zlib.Z_FULL_FLUSH) * 2_000_000
    with pytest.raises(TooLong):
        content.add(empty)
    assert not content.decoded


def test_the_fuzz_reads_no_bomb_either() -> None:
    async def coded(asked):
        yield answer(BOMB, extra="Content-Encoding: gzip\r\n")

    async def twice(asked):
        yield answer(gzip.compress(BOMB, mtime=0), extra="Content-Encoding: gzip, gzip\r\n")

    for behaves, words in ((coded, "exceeds 8000000 bytes"), (twice, "'gzip, gzip'")):
        with raw_server(behaves) as server, pytest.raises(NoAnswer, match=words):
            Server(Target(server.url), {"paths": {}})._ask("/tokenize", {})


def test_a_coding_that_does_not_end_is_no_error() -> None:
    content = Content("gzip")
    content.add(gzip.compress(BODY, mtime=0)[:-9])
    assert BODY.startswith(bytes(content.decoded))
    with pytest.raises(BadContent):
        Content("gzip").add(b"no gzip")


def test_a_finding_keeps_an_excerpt() -> None:
    request = Request("chat", "POST", "/chat/completions", {}, b"{}", {})
    large = Exchange(1, request, 200, {}, b"x" * 1_000_000, "complete", 0.1, times=(0.1,) * 1_000)
    finding = Finding("y" * 1_000_000, (large, small := Exchange(2, request, 200, {}, b"{}", "complete", 0.1)))
    assert len(finding.message) == LONGEST_MESSAGE
    assert finding.exchanges[1] is small
    excerpt = finding.exchanges[0]
    assert (len(excerpt.content), excerpt.size, excerpt.times) == (EXCERPT, 1_000_000, ())
    assert excerpt.excerpt() is excerpt
