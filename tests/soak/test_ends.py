"""The judge of ends can fail, and passes what is right."""

import json
from typing import Any

import pytest
from support import raw_server

from soak.ends import Ends
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Ended, Exchange, Request

ENDS = Ends(Dialect("specvino"))


def error(code: str | None, type: str = "server_error") -> dict[str, Any]:
    return {"error": {"message": "no", "type": type, "param": None, "code": code}}


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }


ROLE, TEXT, FINISH = chunk({"role": "assistant"}), chunk({"content": "Hello"}), chunk({}, "stop")


def exchange(status: int | None, content: bytes, media: str, ended: Ended = "complete") -> Exchange:
    streamed = media == "text/event-stream"
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "stream": streamed}
    request = Request("chat", "POST", "/chat/completions", {}, json.dumps(body).encode(), body)
    return Exchange(1, request, status, {"content-type": media}, content, ended, 0.1)


def unary(status: int, body: Any) -> Exchange:
    return exchange(status, json.dumps(body).encode(), "application/json")


def stream(*events: Any, done: bool = True, ended: Ended = "complete") -> Exchange:
    lines = [json.dumps(event) for event in events] + ["[DONE]"] * done
    content = "".join(f"data: {line}\n\n" for line in lines).encode()
    return exchange(200, content, "text/event-stream", ended)


@pytest.mark.parametrize(
    ("right", "outcome", "code"),
    [
        (unary(200, raw_server.TEXT), "answered", None),
        (unary(503, error("engine_restarted")), "refused", "engine_restarted"),
        (unary(400, error("invalid_json", "invalid_request_error")), "refused", "invalid_json"),
        (stream(ROLE, TEXT, FINISH), "answered", None),
        (stream(ROLE, TEXT, error("engine_restarted")), "broken", "engine_restarted"),
        (stream(ROLE, TEXT, done=False, ended="left"), "left", None),
        (exchange(None, b"", "", "left"), "left", None),
        (exchange(503, b"", "application/json", "left"), "left", None),
    ],
)
def test_a_right_end(right: Exchange, outcome: str, code: str | None) -> None:
    end = Ends(Dialect("specvino")).judge(right)
    assert (end.outcome, end.code, end.wrong) == (outcome, code, ())


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (unary(200, {**raw_server.TEXT, "choices": "none"}), "answer-shape"),
        (unary(503, {"detail": "no"}), "error-envelope"),
        (unary(503, error("nobody_knows")), "nobody_knows"),
        (unary(400, error("engine_restarted")), "has the status 400"),
        (unary(500, error("internal_error")), "an internal error"),
        (unary(418, error("engine_restarted")), "418 isn't documented"),
        (stream(ROLE, TEXT, FINISH, done=False), "stream-end"),
        (stream(ROLE, TEXT), "stream-order"),
        (stream(TEXT, ROLE, FINISH), "stream-order"),
        (stream(ROLE, FINISH, TEXT), "stream-order"),
        (stream(ROLE, error("nobody_knows")), "nobody_knows"),
        (stream(ROLE, error("internal_error")), "an internal error"),
        (stream(ROLE, TEXT, ended="cut off"), "cut off"),
        (exchange(None, b"", "", "too slow"), "too slow"),
        (exchange(None, b"", "", "unreachable"), "unreachable"),
    ],
)
def test_a_wrong_end(wrong: Exchange, problem: str) -> None:
    assert any(problem in sentence for sentence in Ends(Dialect("specvino")).judge(wrong).wrong)


def test_a_response_that_failed_in_its_stream_may_be_tried_again() -> None:
    """OpenAI's codes of failed responses aren't those of errors, which have a status."""
    failed = {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "no"}}}
    end = ENDS.judge(stream(failed, done=False))
    assert (end.outcome, end.code, end.retryable) == ("broken", "server_error", True)
    unknown = "the error's code is server_error, which the document hasn't"
    assert unknown not in end.wrong
    assert unknown in ENDS.judge(unary(500, error("server_error"))).wrong


def test_what_may_be_tried_again() -> None:
    assert ENDS.judge(unary(503, error("engine_restarted"))).retryable
    assert not ENDS.judge(unary(400, error("invalid_json", "invalid_request_error"))).retryable
    assert not ENDS.judge(unary(200, {**raw_server.TEXT, "id": "chatcmpl-2"})).retryable
