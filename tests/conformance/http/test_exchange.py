"""What an answer is: a stream or not, by the endpoint's document, and its error."""

import json

import pytest

from specvino.conformance.http.exchange import Exchange, Request, Unreadable

LINES, EVENTS = "application/x-ndjson", "text/event-stream"


def request(endpoint, **body) -> Request:
    return Request(endpoint, "POST", "/", {}, b"{}", body)


def answer(request: Request, content: bytes, media: str, status: int = 200) -> Exchange:
    return Exchange(1, request, status, {"content-type": media}, content, "complete", 0.1)


@pytest.mark.parametrize(
    ("endpoint", "body", "streamed"),
    [
        ("chat", {}, False),
        ("chat", {"stream": True}, True),
        ("chat", {"stream": None}, False),
        ("ollama_chat", {}, True),
        ("ollama_generate", {"stream": None}, True),
        ("ollama_generate", {"stream": False}, False),
        ("models", {}, False),
        (None, {}, False),
    ],
)
def test_whether_a_stream_is_the_default_is_in_the_document(endpoint, body, streamed) -> None:
    assert request(endpoint, **body).streamed is streamed


@pytest.mark.parametrize(
    ("endpoint", "media", "is_stream"),
    [
        ("chat", EVENTS, True),
        ("chat", LINES, False),
        (None, EVENTS, True),
        ("ollama_chat", LINES, True),
        ("ollama_chat", EVENTS, False),
        ("ollama_chat", "application/json", False),
    ],
)
def test_the_media_type_of_a_stream_is_that_of_the_endpoint(endpoint, media, is_stream) -> None:
    assert answer(request(endpoint), b"", media).is_stream is is_stream


def test_lines_are_read() -> None:
    lines = [{"response": "a"}, {"response": "b", "done": True}]
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    came = answer(request("ollama_generate"), content, LINES)
    assert came.chunks == tuple(lines)
    assert came.answer == {"response": "ab", "done": True}


def test_one_object_is_no_stream() -> None:
    with pytest.raises(Unreadable, match="stream is true, but the answer is application/json"):
        _ = answer(request("ollama_generate", prompt="a"), b'{"response": "a"}', "application/json").json


@pytest.mark.parametrize("body", [{}, {"prompt": ""}, {"prompt": "a", "_debug_render_only": True}])
def test_one_object_answers_what_has_nothing_to_stream(body) -> None:
    loaded = {"response": "", "done": True, "done_reason": "load"}
    came = answer(request("ollama_generate", **body), json.dumps(loaded).encode(), "application/json")
    assert came.json == loaded


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"message": "a", "param": "b"}}, {"message": "a", "param": "b"}),
        ({"error": "a", "param": "b", "code": "c"}, {"message": "a", "param": "b", "code": "c"}),
        ({"error": "a"}, {"message": "a"}),
        ({"error": 5}, {}),
        ({}, {}),
        ([], {}),
    ],
)
def test_an_error_may_be_a_text(body, error) -> None:
    assert answer(request("ollama_chat"), json.dumps(body).encode(), "application/json", 400).error == error


def test_a_field_may_be_nested() -> None:
    sent = request("ollama_chat", options={"num_predict": 3, "seed": None})
    assert sent.asked("options.num_predict") == 3
    assert sent.asked("options.seed", 7) == 7
    assert sent.asked("options.num_predict.more", 7) == 7
