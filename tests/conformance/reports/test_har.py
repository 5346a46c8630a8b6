"""The traffic of a run."""

import json
from dataclasses import replace
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import MESSAGE, Request
from specvino.conformance.reports import har

TARGET = Target("http://127.0.0.1:8000/v1", "sk-secret-key")

MEMBERS = {
    "entry": {"startedDateTime", "time", "request", "response", "cache", "timings"},
    "request": {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"},
    "response": {
        "status",
        "statusText",
        "httpVersion",
        "cookies",
        "headers",
        "content",
        "redirectURL",
        "headersSize",
        "bodySize",
    },
    "content": {"size", "mimeType", "text"},
    "postData": {"mimeType", "text"},
    "timings": {"send", "wait", "receive"},
}
"""What HAR 1.2 demands, and nothing beside it."""


@pytest.fixture
def written(tmp_path):
    def write(*exchanges) -> Any:
        writer = har.Writer(tmp_path / "t.har", TARGET, "specvino 0.1.0")
        for recorded in exchanges:
            writer.write(recorded)
        writer.close()
        return json.loads((tmp_path / "t.har").read_text("utf-8"))["log"]

    return write


def test_no_traffic_is_a_file_too(written) -> None:
    assert written() == {"version": "1.2", "creator": {"name": "specvino", "version": "0.1.0"}, "entries": []}


def test_each_exchange_is_an_entry(written) -> None:
    headers = {"content-type": "application/json", "location": "/x"}
    made = exchange(headers=headers, content='{"é": 1}'.encode(), seconds=0.5, first=0.2, began=1767323045.25)
    first, second = written(made, exchange())["entries"]
    assert first.keys() == second.keys() == MEMBERS["entry"]
    assert first["request"].keys() == MEMBERS["request"] | {"postData"}
    assert first["request"]["postData"].keys() == MEMBERS["postData"]
    assert first["response"].keys() == MEMBERS["response"]
    assert first["response"]["content"].keys() == MEMBERS["content"]
    assert first["startedDateTime"] == "2026-01-02T03:04:05.250+00:00"
    assert first["timings"] == {"send": 0, "wait": 200, "receive": 300}
    assert first["time"] == 500
    assert first["request"]["url"] == "http://127.0.0.1:8000/v1/chat/completions"
    assert first["request"]["postData"]["text"] == '{"n": 2}'
    assert first["response"]["content"] == {"size": 9, "mimeType": "application/json", "text": '{"é": 1}'}
    assert first["response"]["redirectURL"] == "/x"


def test_no_answer_is_status_0(written) -> None:
    (entry,) = written(exchange(status=None, content=b"", ended="unreachable", problem="no connection"))["entries"]
    assert entry["response"]["status"] == 0
    assert entry["comment"] == "no connection"


def test_no_key_is_in_it(written) -> None:
    echo = exchange(headers={"x-you": "Bearer sk-secret-key"}, content=b"it was sk-secret-key \xff")
    log = written(echo)
    assert "secret" not in json.dumps(log)
    (entry,) = log["entries"]
    assert {"name": "authorization", "value": "[redacted]"} in entry["request"]["headers"]
    assert entry["response"]["content"]["text"] == "it was [redacted] \\xff"


def test_a_message_on_a_websocket_has_its_messages_as_chrome_writes_them(written) -> None:
    asked = Request(
        "responses", MESSAGE, "/responses", {"authorization": "Bearer sk-secret-key"}, b'{"n": 2}', {"n": 2}
    )
    messages = (b'{"type": "response.created"}', b'{"key": "sk-secret-key"}')
    made = exchange(
        request=asked, content=b"\n".join(messages), messages=messages, times=(0.5, 1.5), began=1767323045.25
    )
    (entry,) = written(made)["entries"]
    assert entry.keys() == MEMBERS["entry"] | {"_resourceType", "_webSocketMessages"}
    assert (entry["request"]["method"], entry["request"]["url"]) == ("GET", "ws://127.0.0.1:8000/v1/responses")
    assert entry["request"].keys() == MEMBERS["request"]
    assert (entry["response"]["status"], entry["response"]["content"]["text"]) == (101, "")
    assert entry["_webSocketMessages"] == [
        {"type": "send", "time": 1767323045.25, "opcode": 1, "data": '{"n": 2}'},
        {"type": "receive", "time": 1767323045.75, "opcode": 1, "data": '{"type": "response.created"}'},
        {"type": "receive", "time": 1767323046.75, "opcode": 1, "data": '{"key": "[redacted]"}'},
    ]
    (binary,) = written(exchange(request=replace(asked, binary=True)))["entries"]
    assert binary["_webSocketMessages"] == [{"type": "send", "time": 0.0, "opcode": 2, "data": '{"n": 2}'}]


def test_a_file_has_a_largest_size(written, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(har, "LARGEST", 200_000)
    log = written(*[exchange(content=b"x" * 1_000_000)] * 3, exchange())
    assert (tmp_path / "t.har").stat().st_size <= 200_000 + 100
    # What comes later and has room is there.
    assert [entry["response"]["content"]["size"] for entry in log["entries"]] == [1_000_000, 2]
    assert log["comment"] == "2 more exchanges have no room"


def test_an_endless_exchange_on_a_websocket_is_cut(written) -> None:
    asked = Request("responses", MESSAGE, "/responses", {}, b"{}", {})
    (entry,) = written(exchange(request=asked, messages=(b"{}",) * 2_000, times=(0.1,) * 2_000))["entries"]
    assert len(entry["_webSocketMessages"]) == 1_001
