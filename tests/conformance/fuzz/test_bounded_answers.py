"""Answers that Schemathesis must not read to their end."""

import gzip
import json
from typing import Any

import pytest
import requests
from requests.exceptions import ChunkedEncodingError, ContentDecodingError
from schemathesis import Response
from support.conforming import conform
from support.raw_server import TEXT, answer, raw_server

from specvino.conformance.fuzz.bounded_answers import bound
from specvino.conformance.reports import ndjson

BODY = json.dumps(TEXT).encode()
BOMB = gzip.compress(bytes(10_000_000), mtime=0)


def coded(body: bytes, coding: str = "", media: str = "application/json") -> bytes:
    return answer(body, media=media, extra=f"Content-Encoding: {coding}\r\n" if coding else "")


def read(*pieces: bytes) -> bytes:
    """What requests reads."""

    async def answers(asked):
        for piece in pieces:
            yield piece

    kwargs: dict[str, Any] = {}
    bound(kwargs)
    with raw_server(answers) as server, requests.Session() as session:
        return session.request("POST", f"{server.url}/chat", stream=True, timeout=60, **kwargs).content


MEMBERS = gzip.compress(BODY[:9], mtime=0) + gzip.compress(BODY[9:], mtime=0)


@pytest.mark.parametrize("media", ["application/json", "text/event-stream"])
@pytest.mark.parametrize(("body", "coding"), [(BODY, ""), (gzip.compress(BODY, mtime=0), "gzip"), (MEMBERS, "gzip")])
def test_an_answer_is_read(body, coding, media) -> None:
    assert read(coded(body, coding, media)) == BODY


@pytest.mark.parametrize("media", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("coding", ["br", "gzip, gzip"])
def test_no_content_is_in_any_coding(coding, media) -> None:
    assert read(coded(b"", coding, media)) == b""


def test_schemathesis_knows_the_answer() -> None:
    async def answers(asked):
        yield coded(gzip.compress(BODY, mtime=0), "gzip")

    kwargs: dict[str, Any] = {}
    bound(kwargs)
    with raw_server(answers) as server, requests.Session() as session:
        read = Response.from_requests(session.request("POST", f"{server.url}/chat", stream=True, **kwargs), verify=True)
    assert (read.status_code, read.message, read.http_version, read.content) == (200, "OK", "1.1", BODY)
    assert read.headers["content-type"] == ["application/json"]


@pytest.mark.parametrize("media", ["application/json", "text/event-stream"])
def test_several_codings_are_not_read(media) -> None:
    with pytest.raises(ContentDecodingError, match="'gzip, gzip', though the request asks for none"):
        read(coded(gzip.compress(BOMB, mtime=0), "gzip, gzip", media))


@pytest.mark.parametrize("sent", [coded(BOMB, "gzip"), coded(bytes(8_000_001))])
def test_an_answer_that_is_too_long_is_not_read(sent) -> None:
    with pytest.raises(ContentDecodingError, match="exceeds 8000000 bytes"):
        read(sent)


def test_an_answer_that_is_cut_off_is_no_answer() -> None:
    with pytest.raises(ChunkedEncodingError):
        read(coded(BODY)[:-9])


def test_a_bomb_is_a_finding_of_the_fuzz(tmp_path) -> None:
    async def bombs(asked):
        yield coded(gzip.compress(BOMB, mtime=0), "gzip, gzip")

    with raw_server(bombs) as server:
        conform(
            server.url, "-f", "chat/fuzz/not-a-server-error", "--max-examples", "1", "--ndjson", tmp_path / "r.ndjson"
        )
    lines = {line.rule: line for line in ndjson.read(tmp_path / "r.ndjson").lines}
    assert "though the request asks for none" in lines["chat/fuzz/answers"].why
