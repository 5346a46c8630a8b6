"""The traffic of a run as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), without keys."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from specvino.conformance.http.client import Target, url_of
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.http.socket import SWITCHED
from specvino.conformance.reports.redact import Redactor

# The maximum length of a body or message, in characters.
LONGEST = 100_000

# The largest number of messages of an exchange on a WebSocket.
MAX_MESSAGES = 1_000

# The maximum length of a file, in bytes. What would exceed it is counted in the log's comment.
LARGEST = 64_000_000


class Writer:
    """Writes exchanges immediately, since a run may exceed the memory. Raises OSError."""

    def __init__(self, path: Path, target: Target, tool: str) -> None:
        self.path = path
        self._target = target
        self._redactor = Redactor.of(target)
        self._file = path.open("wb", buffering=0)
        name, _, version = tool.partition(" ")
        creator = json.dumps({"name": name, "version": version})
        self._begin = f'{{"log": {{"version": "1.2", "creator": {creator}, "entries": [\n'
        self._before = self._begin
        self._size = 0
        self._missing = 0

    def write(self, exchange: Exchange) -> None:
        entry = json.dumps(self._entry(exchange), ensure_ascii=False)
        if self._size + len(entry.encode()) > LARGEST:
            self._missing += 1
            return
        self._put(self._before + entry)
        self._before = ",\n"

    def close(self) -> None:
        """Completes the file, which is valid JSON only then."""
        if not self._file.closed:
            comment = f', "comment": "{self._missing} more exchanges have no room"' if self._missing else ""
            self._put(f"{self._begin if self._before == self._begin else ''}\n]{comment}}}}}\n")
            self._file.close()

    def _put(self, text: str) -> None:
        try:
            self._size += self._file.write(text.encode()) or 0
        except OSError:
            self._file.close()
            raise

    def _entry(self, exchange: Exchange) -> dict[str, Any]:
        first = exchange.seconds if exchange.first is None else exchange.first
        timings = {"send": 0, "wait": _ms(first), "receive": _ms(exchange.seconds - first)}
        entry = {
            "startedDateTime": datetime.fromtimestamp(exchange.began, UTC).isoformat(timespec="milliseconds"),
            "time": _ms(exchange.seconds),
            "request": self._request(exchange),
            "response": self._response(exchange),
            "cache": {},
            "timings": timings,
        }
        if exchange.request.is_message:
            entry |= {"_resourceType": "websocket", "_webSocketMessages": [*self._messages(exchange)]}
        problem = exchange.problem or (exchange.ended if exchange.ended != "complete" else "")
        return entry | ({"comment": self._redactor.text(problem)} if problem else {})

    def _request(self, exchange: Exchange) -> dict[str, Any]:
        request, text = exchange.request, self._redactor.text
        url = text(url_of(request, self._target.url))
        entry: dict[str, Any] = {
            "method": "GET" if request.is_message else request.method,
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": self._headers(request.headers),
            "queryString": _pairs(parse_qsl(urlsplit(url).query, keep_blank_values=True)),
            "headersSize": -1,
            "bodySize": 0 if request.is_message else len(request.content or b""),
        }
        if request.content is not None and not request.is_message:
            media = request.headers.get("content-type", "")
            entry["postData"] = {"mimeType": text(media), "text": self._redactor.body(request.content, LONGEST)}
        return entry

    def _response(self, exchange: Exchange) -> dict[str, Any]:
        """Returns the answer. Without one the status is 0, as in browsers."""
        text = self._redactor.text
        content = b"" if exchange.request.is_message else exchange.content
        return {
            "status": SWITCHED if exchange.request.is_message else exchange.status or 0,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": self._headers(exchange.headers),
            # Binary bytes are escaped, not base64: a key in base64 might not be recognized.
            "content": {
                "size": len(content),
                "mimeType": text(exchange.headers.get("content-type", "")),
                "text": self._redactor.body(content, LONGEST),
            },
            "redirectURL": text(exchange.headers.get("location", "")),
            "headersSize": -1,
            "bodySize": len(content),
        }

    def _messages(self, exchange: Exchange) -> Iterator[dict[str, Any]]:
        """Yields the messages of an exchange on a WebSocket, as Chrome writes them; times are in seconds since 1970."""
        request = exchange.request
        yield self._message("send", exchange.began, request.content or b"", binary=request.binary)
        for seconds, message in islice(zip(exchange.times, exchange.messages, strict=True), MAX_MESSAGES):
            yield self._message("receive", exchange.began + seconds, message)

    def _message(self, kind: str, time: float, content: bytes, *, binary: bool = False) -> dict[str, Any]:
        text = self._redactor.body(content, LONGEST)
        return {"type": kind, "time": time, "opcode": 2 if binary else 1, "data": text}

    def _headers(self, headers: Mapping[str, str]) -> list[dict[str, str]]:
        return _pairs(self._redactor.headers(headers).items())


def _pairs(items: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in items]


def _ms(seconds: float) -> float:
    return round(max(seconds, 0.0) * 1000, 3)
