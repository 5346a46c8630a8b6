"""Framing that a proxy before the server could read in another way, so that a part of a body becomes a request of its
own: it is refused, or read as h11 reads it. llhttp is the server's own parser."""

import asyncio

import h11
import pytest
from h11 import Data, EndOfMessage, Request
from support.connection import Exchange

POST = b"POST /first HTTP/1.1\r\nhost: x\r\n"
CHUNKED = POST + b"transfer-encoding: chunked\r\n\r\n"
SECOND = b"GET /second HTTP/1.1\r\nhost: x\r\n\r\n"
LAST = b"\r\n0\r\n\r\n"

ABSOLUTE = b"POST %b/first HTTP/1.1\r\nhost: %b\r\ncontent-length: 3\r\n\r\nabc"

READ = {
    "a length": POST + b"content-length: 3\r\n\r\nabc",
    "chunks": CHUNKED + b"3\r\nabc" + LAST,
    "a length with zeros": POST + b"content-length: 03\r\n\r\nabc",
    "another case": POST + b"Transfer-Encoding: Chunked\r\n\r\n3\r\nabc" + LAST,
    "a tab before the coding": POST + b"transfer-encoding:\tchunked\r\n\r\n3\r\nabc" + LAST,
    "an extension of a chunk": CHUNKED + b"3;a=b\r\nabc" + LAST,
    "a last chunk 00": CHUNKED + b"3\r\nabc\r\n00\r\n\r\n",
    "absolute form": b"POST http://x/first HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "absolute form with the port of its scheme": ABSOLUTE % (b"http://X:80", b"x"),
    "GET with a body": b"GET /first HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "no body": POST + b"\r\n",
}

REFUSED = {
    "two lengths": POST + b"content-length: 3\r\ncontent-length: 5\r\n\r\nabcde",
    "a list of lengths": POST + b"content-length: 3, 5\r\n\r\nabcde",
    "a length with a sign": POST + b"content-length: +3\r\n\r\nabc",
    "a negative length": POST + b"content-length: -3\r\n\r\nabc",
    "a hexadecimal length": POST + b"content-length: 0x3\r\n\r\nabc",
    "a length with an underscore": POST + b"content-length: 0_3\r\n\r\nabc",
    "a length in other digits": POST + "content-length: ٣\r\n\r\nabc".encode(),
    "a length beyond 64 bits": POST + b"content-length: 18446744073709551619\r\n\r\nabc",
    "an empty length": POST + b"content-length: \r\n\r\nabc",
    "a length before chunks": POST + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc" + LAST,
    "a length after chunks": POST + b"transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n3\r\nabc" + LAST,
    "chunked twice": POST + b"transfer-encoding: chunked, chunked\r\n\r\n3\r\nabc" + LAST,
    "chunked, then another coding": POST + b"transfer-encoding: chunked, identity\r\n\r\n3\r\nabc" + LAST,
    "another coding, then chunked": POST + b"transfer-encoding: gzip, chunked\r\n\r\n3\r\nabc" + LAST,
    "an unknown coding": POST + b"transfer-encoding: xchunked\r\ncontent-length: 3\r\n\r\nabc",
    "a coding in quotation marks": POST + b'transfer-encoding: "chunked"\r\n\r\n3\r\nabc' + LAST,
    "a control character before the coding": POST + b"transfer-encoding: \x0bchunked\r\n\r\n3\r\nabc" + LAST,
    "a space before the colon": POST + b"transfer-encoding : chunked\r\n\r\n3\r\nabc" + LAST,
    "a space before the colon of a length": POST + b"content-length : 3\r\n\r\nabc",
    "a space before the first field": b"POST /first HTTP/1.1\r\n host: x\r\ncontent-length: 3\r\n\r\nabc",
    "a field without a colon": POST + b"nonsense\r\ncontent-length: 3\r\n\r\nabc",
    "a field without a name": POST + b": y\r\ncontent-length: 3\r\n\r\nabc",
    "CR alone in a value": POST + b"x: a\rcontent-length: 5\r\ncontent-length: 3\r\n\r\nabc",
    "NUL in a value": POST + b"x: a\0b\r\ncontent-length: 3\r\n\r\nabc",
    "LF alone behind a chunk's extension": CHUNKED + b"3;a\nabc" + LAST,
    "CR alone in a chunk's extension": CHUNKED + b"3;a\rb\r\nabc" + LAST,
    "LF alone behind a chunk's size": CHUNKED + b"3\nabc\n0\n\n",
    "a space before a chunk's size": CHUNKED + b" 3\r\nabc" + LAST,
    "a chunk's size with 0x": CHUNKED + b"0x3\r\nabc" + LAST,
    "a chunk's size with a sign": CHUNKED + b"+3\r\nabc" + LAST,
    "a chunk's size with an underscore": CHUNKED + b"0_3\r\nabc" + LAST,
    "a chunk's size beyond 64 bits": CHUNKED + b"10000000000000003\r\nabc" + LAST,
    "a chunk without a size": CHUNKED + b"\r\nabc" + LAST,
    "a chunk that is longer than its size": CHUNKED + b"3\r\nabcd" + LAST,
    "a chunk without its end": CHUNKED + b"3\r\nabc0\r\n\r\n",
    "a tab in the request line": b"POST\t/first\tHTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "a space before the request line": b" " + POST + b"content-length: 3\r\n\r\nabc",
    "an unknown version": b"POST /first HTTP/1.2\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "HTTP/0.9": b"GET /first\r\n",
    "NUL in the target": b"POST /fi\0rst HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "absolute form with another host": ABSOLUTE % (b"http://evil.example", b"x"),
    "absolute form with another port": ABSOLUTE % (b"http://x:81", b"x"),
    "absolute form with a user": ABSOLUTE % (b"http://x@y", b"y"),
    "absolute form without a host": ABSOLUTE % (b"http://", b"x"),
    "absolute form of another scheme": ABSOLUTE % (b"ftp://x", b"x"),
    "a path in the host": b"POST /first HTTP/1.1\r\nhost: x/v1/models\r\ncontent-length: 3\r\n\r\nabc",
    "a query in the host": b"POST /first HTTP/1.1\r\nhost: x?a\r\ncontent-length: 3\r\n\r\nabc",
    "a user in the host": b"POST /first HTTP/1.1\r\nhost: x@y\r\ncontent-length: 3\r\n\r\nabc",
    "a space in the host": b"POST /first HTTP/1.1\r\nhost: x y\r\ncontent-length: 3\r\n\r\nabc",
    "an escape in the host": b"POST /first HTTP/1.1\r\nhost: x%2fy\r\ncontent-length: 3\r\n\r\nabc",
    "a folded length": POST + b"content-length:\r\n 3\r\n\r\nabc",
    "a folded coding": POST + b"transfer-encoding:\r\n chunked\r\n\r\n3\r\nabc" + LAST,
    "a folded field": POST + b"x: a\r\n b\r\ncontent-length: 3\r\n\r\nabc",
    "a field folded by a tab": POST + b"x: a\r\n\tcontent-length: 5\r\ncontent-length: 3\r\n\r\nabc",
    "a folded host": b"POST /first HTTP/1.1\r\nhost: x\r\n y\r\ncontent-length: 3\r\n\r\nabc",
    "LF alone behind the request line": b"POST /first HTTP/1.1\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "LF alone behind a field": POST + b"x: a\ncontent-length: 3\r\n\r\nabc",
    "LF alone behind a length": POST + b"content-length: 3\n\r\nabc",
    "LF alone behind the head": POST + b"content-length: 3\r\n\nabc",
    "LF alone everywhere": b"POST /first HTTP/1.1\nhost: x\ncontent-length: 3\n\nabc",
    "a byte beyond ASCII in a name": POST + b"x\xff: y\r\ncontent-length: 3\r\n\r\nabc",
}


def by_h11(sent: bytes) -> list[bytes]:
    """The bodies of the requests that h11 reads; it stops where it refuses one."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(sent)
    bodies, body = [], b""
    while connection.our_state is not h11.MUST_CLOSE:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            break
        if isinstance(event, Request):
            body = b""
        elif isinstance(event, Data):
            body += bytes(event.data)
        elif isinstance(event, EndOfMessage):
            bodies.append(body)
            connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
            connection.send(EndOfMessage())
            if connection.our_state is h11.DONE:
                connection.start_next_cycle()
        else:
            break
    return bodies


def by_server(sent: bytes) -> tuple[list[bytes], bytes]:
    """The bodies of the requests that reach the app, and what the server sends."""

    async def test() -> tuple[list[bytes], bytes]:
        made = Exchange()
        made.may_end.set()
        return made.bodies, await made.send(sent)

    return asyncio.run(test())


@pytest.mark.parametrize("sent", READ.values(), ids=READ)
def test_it_is_read_as_others_read_it(sent: bytes) -> None:
    bodies, _ = by_server(sent + SECOND)
    assert len(bodies) == 2
    assert bodies == by_h11(sent + SECOND)


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED)
def test_it_is_refused_with_all_that_follows(sent: bytes) -> None:
    bodies, answered = by_server(sent + SECOND)
    assert bodies == []
    assert answered.startswith(b"HTTP/1.1 400 ")
    assert b'"code":"invalid_http"' in answered
