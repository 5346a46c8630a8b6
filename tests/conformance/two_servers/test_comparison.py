"""What differs in two answers to one request."""

import json
from typing import Any

import pytest

from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.two_servers.comparison import Difference, differences
from specvino.conformance.two_servers.observation import Kind, Location, observe

USAGE = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4, "prompt_tokens_details": {"cached_tokens": 0}}
ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "m",
    "system_fingerprint": "fp_1",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hi", "refusal": None}, "finish_reason": "stop"}
    ],
    "usage": USAGE,
}


def exchange(value: Any, status: int = 200, endpoint: str = "chat", media: str = "application/json") -> Exchange:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    request = Request(endpoint, "POST", "/chat/completions", {}, b"{}", {})
    return Exchange(1, request, status, {"content-type": media}, content, "complete", 0.1)


def stream(*chunks: Any, done: bool = True) -> Exchange:
    lines = [*(json.dumps(chunk) for chunk in chunks), *(["[DONE]"] if done else [])]
    return exchange("".join(f"data: {line}\n\n" for line in lines).encode(), media="text/event-stream")


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def found(one: Exchange, other: Exchange) -> dict[Location, Difference]:
    return differences(observe(one, "m"), observe(other, "m"))


def changed(**members: Any) -> Exchange:
    return exchange({**ANSWER, **members})


def test_what_is_new_in_each_answer_may_differ() -> None:
    usage = {**USAGE, "prompt_tokens_details": {"cached_tokens": 2}}
    other = changed(id="chatcmpl-2", created=1_700_000_009, system_fingerprint="fp_2", usage=usage)
    assert not found(exchange(ANSWER), other)


def test_a_time_may_be_a_text() -> None:
    def loaded(at: str, took: int) -> Exchange:
        return exchange({"model": "m", "created_at": at, "total_duration": took}, endpoint="ollama_chat")

    one = loaded("2026-11-30T12:00:00Z", 5)
    assert not found(one, loaded("2027-01-01T00:00:00.123456789+01:00", 6))
    assert found(one, loaded("yesterday", 5))


def test_each_server_has_its_own_name_for_the_model() -> None:
    other = changed(model="team/m")
    assert not differences(observe(exchange(ANSWER), "m"), observe(other, "team/m"))
    assert found(exchange(ANSWER), other) == {
        Location(Kind.VALUE, "model"): Difference("the requested model", '"team/m"')
    }


@pytest.mark.parametrize(
    ("members", "location", "difference"),
    [
        ({"created": 1_700_000_000_000}, Location(Kind.VALUE, "created"), ("a time", "a time of 13 digits")),
        ({"id": ""}, Location(Kind.FIELD, "id"), ("a string", "an empty string")),
        ({"object": "text"}, Location(Kind.VALUE, "object"), ('"chat.completion"', '"text"')),
        ({"usage": None}, Location(Kind.FIELD, "usage"), ("an object", "null")),
        ({"service_tier": None}, Location(Kind.FIELD, "service_tier"), ("", "null")),
        ({"usage": {**USAGE, "prompt_tokens": 4}}, Location(Kind.VALUE, "usage.prompt_tokens"), ("3", "4")),
        ({"choices": []}, Location(Kind.VALUE, "choices.(length)"), ("1", "0")),
    ],
)
def test_a_change_is_one_difference(members, location, difference) -> None:
    assert found(exchange(ANSWER), changed(**members)) == {location: difference}


@pytest.mark.parametrize("one", [0.5, 3])
def test_a_number_of_any_size_is_comparable(one) -> None:
    for number, text in ((10**400, f"1{'0' * 119}…"), (1e300, "1e+300")):
        pair = Difference(json.dumps(one), text)
        assert found(changed(scale=one), changed(scale=number)) == {Location(Kind.VALUE, "scale"): pair}
        assert found(changed(scale=number), changed(scale=one)) == {Location(Kind.VALUE, "scale"): pair[::-1]}


def test_rounded_numbers_are_the_same() -> None:
    assert not found(changed(scale=-12.345678), changed(scale=-12.3457))
    assert not found(changed(scale=1), changed(scale=1.0))


def test_a_long_text_is_cut() -> None:
    [pair] = found(changed(note="a" * 500), changed(note="b" * 500)).values()
    assert pair == Difference(f'"{"a" * 119}…"', f'"{"b" * 119}…"')


def test_members_of_what_only_one_has_are_no_differences_of_their_own() -> None:
    other = {name: value for name, value in ANSWER.items() if name != "choices"}
    assert found(exchange(ANSWER), exchange(other)) == {Location(Kind.FIELD, "choices"): Difference("a list", "")}


def test_of_another_text_counts_are_a_consequence() -> None:
    message = {"role": "assistant", "content": "Hello you", "refusal": None}
    choices = [{"index": 0, "message": message, "finish_reason": "length"}]
    other = changed(choices=choices, usage={**USAGE, "completion_tokens": 2, "total_tokens": 5})
    assert found(exchange(ANSWER), other) == {
        Location(Kind.VALUE, "choices.*.message.content"): Difference('"Hi"', '"Hello you"'),
        Location(Kind.VALUE, "choices.*.finish_reason"): Difference('"stop"', '"length"'),
    }


def test_beside_another_status_the_body_is_a_consequence() -> None:
    error = {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}
    assert found(exchange(ANSWER), exchange(error, 400)) == {
        Location(Kind.STATUS): Difference("200 OK", "400 Bad Request")
    }
    assert found(exchange(error, 400), exchange({"detail": "no"}, 422)).keys() == {
        Location(Kind.STATUS),
        Location(Kind.ERROR, "error"),
        Location(Kind.ERROR, "detail"),
    }


def test_texts_of_errors_are_compared_without_their_values() -> None:
    def error(message: str, code: str) -> Exchange:
        return exchange({"error": {"message": message, "code": code}}, 404)

    assert not found(error("No model 'a'.", "x"), error("No model 'b'.", "x"))
    assert found(error("No model 'a'.", "x"), error("It is unknown.", "y")).keys() == {
        Location(Kind.ERROR, "error.message"),
        Location(Kind.ERROR, "error.code"),
    }


@pytest.mark.parametrize(
    ("content", "form"), [(b"", "empty"), (b"oh", "text"), (b"\xef\xbb\xbf{}", "text"), (b"[" * 100_000, "text")]
)
def test_a_body_of_another_kind(content, form) -> None:
    pair = found(exchange(ANSWER), exchange(content))[Location(Kind.BODY)]
    assert pair == Difference("JSON", form)


ROLE, TEXT = chunk({"role": "assistant", "content": ""}), chunk({"content": "Hi"})
LATER, FINISH = chunk({"content": " you"}), chunk({}, "stop")
USED = {**chunk({}), "choices": [], "usage": USAGE}


def test_how_a_text_is_divided_is_no_difference() -> None:
    whole = chunk({"content": "Hi you"})
    assert not found(stream(ROLE, TEXT, LATER, FINISH, USED), stream(ROLE, whole, FINISH, USED))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (stream(ROLE, TEXT, FINISH, USED, done=False), {Location(Kind.EVENT, "[DONE]"): ("sent", "")}),
        (
            stream(ROLE, TEXT, FINISH),
            {Location(Kind.EVENT, "usage"): ("sent", ""), Location(Kind.STREAM_VALUE, "usage"): ("an object", "null")},
        ),
        (
            stream(ROLE, TEXT, USED, FINISH),
            {Location(Kind.ORDER): ("…, content, finish, usage, [DONE]", "…, content, usage, finish, [DONE]")},
        ),
        (
            stream(ROLE, TEXT, FINISH, FINISH, USED),
            {Location(Kind.EVENT, "finish"): ("sent", "sent repeatedly")},
        ),
        (
            stream(ROLE, chunk({"content": "Hi"}, usage=None), FINISH, USED),
            {Location(Kind.EVENT_FIELD, "usage", "content"): ("", "null")},
        ),
        (
            stream(ROLE, TEXT, chunk({}, "length"), USED),
            {
                Location(Kind.EVENT_VALUE, "choices.*.finish_reason", "finish"): ('"stop"', '"length"'),
                Location(Kind.STREAM_VALUE, "choices.*.finish_reason"): ('"stop"', '"length"'),
            },
        ),
    ],
)
def test_streams_are_compared_event_by_event(other, expected) -> None:
    assert found(stream(ROLE, TEXT, FINISH, USED), other) == expected


def test_a_million_fields_of_a_server_are_bounded() -> None:
    other = changed(**{f"f{number}": number for number in range(50_000)})
    assert len(found(exchange(ANSWER), other)) < 3_000
