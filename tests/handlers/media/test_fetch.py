"""Fetching from a server on this machine, whose address the tests allow."""

import asyncio
import gzip
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.web import OK, Web, web, whole

from specvino.handlers.media.fetch import Address, Fetcher
from specvino.handlers.media.rules import MAX_BYTES, DownloadFailed, InvalidImage, InvalidUrl

HERE = ipaddress.ip_address("127.0.0.1")
PUBLIC = ipaddress.ip_address("1.1.1.1")


def resolving_to(*addresses: Address) -> Callable[[str, int], Awaitable[list[Address]]]:
    async def look_up(host: str, port: int) -> list[Address]:
        return list(addresses)

    return look_up


def fetcher(*domains: str, **options: Any) -> Fetcher:
    return Fetcher(domains or ("images.test",), **{"allows": lambda _: True, "look_up": resolving_to(HERE), **options})


def fetched(url: str, answer: bytes, fetcher: Fetcher, **options: Any) -> tuple[bytes, Web]:
    """`url` has a {} for the port."""

    async def run() -> tuple[bytes, Web]:
        async with web(answer, **options) as server:
            return await fetcher.fetch(url.format(server.port)), server

    return asyncio.run(run())


def test_a_file_and_how_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    data, server = fetched("http://Images.Test:{}/a%20b.png?c=d#e", whole(b"abc"), fetcher())
    assert data == b"abc"
    [request] = server.requests
    head, *headers = request.lower().split("\r\n")
    assert head == "get /a%20b.png?c=d http/1.1"
    assert f"host: images.test:{server.port}" in headers
    assert not any(line.startswith(("authorization", "cookie")) for line in headers)


@pytest.mark.parametrize(
    "url",
    [
        "http://other.test/",
        "http://sub.images.test/",
        "http://images.test.other.test/",
        "http://imagesxtest/",
        "http://images.test@other.test/",
        "http://user:word@images.test/",
        "http://other.test#@images.test/",
        "http://other.test?@images.test/",
        "http://other.test\\@images.test/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://%69mages.test/",
        "ftp://images.test/",
        "gopher://images.test/",
        "http:///a.png",
        "http://",
        "http://images.test:99999/",
        "http://images.test\r\nX: y/",
        "http://\0/",
    ],
)
def test_what_is_not_even_looked_up(url: str) -> None:
    async def look_up(host: str, port: int) -> list[Address]:
        raise AssertionError(host)

    with pytest.raises(InvalidUrl):
        asyncio.run(fetcher(look_up=look_up).fetch(url))


def test_hosts_are_names_not_spellings() -> None:
    assert fetched("http://IMAGES.test.:{}/", whole(b"abc"), fetcher())[0] == b"abc"
    assert fetched("http://xn--bcher-kva.test:{}/", whole(b"abc"), fetcher("bücher.test"))[0] == b"abc"
    assert fetched("http://b%C3%BCcher.test:{}/".replace("%C3%BC", "ü"), whole(b"abc"), fetcher("bücher.test"))[0]
    assert fetched("http://any.thing:{}/", whole(b"abc"), fetcher("all"))[0] == b"abc"
    with pytest.raises(InvalidUrl):  # only by itself it means all
        fetched("http://any.thing:{}/", whole(b"abc"), fetcher("all", "images.test"))


@pytest.mark.parametrize("addresses", [(HERE,), (PUBLIC, HERE), (HERE, PUBLIC)])
def test_addresses_that_are_not_public_are_not_asked(addresses: tuple[Address, ...]) -> None:
    async def run() -> None:
        async with web(whole(b"abc")) as server:
            for domains in (("images.test",), ("all",)):
                careful = Fetcher(domains, look_up=resolving_to(*addresses))
                with pytest.raises(InvalidUrl, match="not public"):
                    await careful.fetch(f"http://images.test:{server.port}/")
            assert not server.requests

    asyncio.run(run())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0x7f000001"])
def test_nor_are_they_by_number(host: str) -> None:
    async def run() -> None:
        async with web(whole(b"abc")) as server:
            with pytest.raises((InvalidUrl, DownloadFailed)):
                await Fetcher(("all",)).fetch(f"http://{host}:{server.port}/")
            assert not server.requests

    asyncio.run(run())


def test_the_name_is_looked_up_once_and_the_connection_goes_there() -> None:
    looked_up = []

    async def look_up(host: str, port: int) -> list[Address]:
        looked_up.append((host, port))
        return [HERE] if len(looked_up) == 1 else [PUBLIC]

    _, server = fetched("http://images.test:{}/", whole(b"abc"), fetcher(look_up=look_up))
    assert looked_up == [("images.test", server.port)]


def test_an_address_that_does_not_answer_is_not_the_last() -> None:
    nobody = ipaddress.ip_address("127.0.0.2")
    assert fetched("http://images.test:{}/", whole(b"abc"), fetcher(look_up=resolving_to(nobody, HERE)))[0] == b"abc"


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"307 Temporary", b"304 Not", b"404 Not", b"500 Oh"])
def test_only_200_is_an_image_and_redirects_are_not_followed(status: bytes) -> None:
    async def run() -> None:
        async with web(whole(b"secret")) as other:
            location = b"Location: http://127.0.0.1:%d/" % other.port
            answer = whole(b"", location, status=b"HTTP/1.1 " + status + b"\r\n")
            async with web(answer) as server:
                with pytest.raises(DownloadFailed, match=status[:3].decode()):
                    await fetcher("all").fetch(f"http://images.test:{server.port}/")
            assert not other.requests

    asyncio.run(run())


@pytest.mark.parametrize(
    "head",
    [
        OK + b"Content-Length: 1000000000\r\n\r\n",
        OK + b"Connection: close\r\n\r\n",
    ],
)
def test_a_body_without_an_end_is_given_up(head: bytes) -> None:
    async def run() -> None:
        async with web(head, endless=bytes(1_000_000)) as server:
            with pytest.raises(InvalidImage, match="bytes"):
                await fetcher().fetch(f"http://images.test:{server.port}/")
            assert server.sent < 2 * MAX_BYTES

    asyncio.run(run())


def test_nothing_is_unpacked() -> None:
    packed = gzip.compress(bytes(10_000_000))
    answer = whole(packed, b"Content-Encoding: gzip")
    assert fetched("http://images.test:{}/", answer, fetcher())[0] == packed


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", whole(b"abc")[:-1], OK])
def test_broken_servers(answer: bytes) -> None:
    with pytest.raises(DownloadFailed, match="reached"):
        fetched("http://images.test:{}/", answer, fetcher())


def test_hosts_without_an_address() -> None:
    async def look_up(host: str, port: int) -> list[Address]:
        raise OSError("no such host")

    with pytest.raises(DownloadFailed, match="resolved"):
        asyncio.run(fetcher(look_up=look_up).fetch("https://images.test/"))
