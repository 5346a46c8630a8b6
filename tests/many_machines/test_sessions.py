"""What names the conversation of a request."""

import json

import pytest

from specvino.server.ray.sessions import session_of

USER = {"role": "user", "content": "Hi"}
SYSTEM = {"role": "system", "content": "Be brief."}
ANSWER = {"role": "assistant", "content": "Hello."}


def session(**body):
    return session_of(json.dumps(body).encode())


def test_it_stays_as_the_conversation_grows() -> None:
    first = session(messages=[SYSTEM, USER])
    assert first
    assert session(messages=[SYSTEM, USER, ANSWER, {"role": "user", "content": "And?"}]) == first
    assert session(messages=[USER]) != first
    assert session(messages=[SYSTEM, USER], tools=[{"type": "function"}]) != first
    assert session(input=[SYSTEM, USER, ANSWER]) == first
    assert session(input="Hi") == session(messages=[USER])
    assert session(input="Hi", instructions="Be brief.") != session(input="Hi")


def test_a_client_can_name_it() -> None:
    named = session(messages=[USER], prompt_cache_key="a")
    assert named == session(messages=[SYSTEM], prompt_cache_key="a") != session(messages=[USER])
    assert session(messages=[USER], session_id="a") == named


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 5000,
        b'{"messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"messages": "\xff"}',
        b'{"prompt": "a"}',
        b'{"messages": 1}',
        b'{"input": "a", "previous_response_id": "resp_1"}',
    ],
)
def test_nothing_names_what_is_no_conversation(body) -> None:
    assert session_of(body) is None
