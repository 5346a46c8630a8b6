"""Where endpoints are, and the token limits of their requests."""

import pytest

from specvino.conformance.dialect import own_dialect
from specvino.conformance.endpoints import documented_path, has_limit, paths, token_limits, with_limit, with_value


def test_other_systems_own_apis_are_at_the_server_s_root() -> None:
    assert paths()["chat"] == "/chat/completions"
    assert paths()["ollama_chat"] == "//api/chat"
    assert documented_path("ollama_chat") == "/api/chat"
    assert "health" not in paths()
    assert "options" in own_dialect().fields(paths()["ollama_chat"])


def test_a_limit_may_be_nested() -> None:
    assert token_limits("ollama_generate") == ("options.num_predict",)
    assert token_limits("messages") == ("max_tokens",)
    limited = with_limit("ollama_chat", {"model": "m", "options": {"seed": 1}}, 5)
    assert limited == {"model": "m", "options": {"seed": 1, "num_predict": 5}}
    assert has_limit("ollama_chat", limited)
    assert not has_limit("ollama_chat", {"options": {"seed": 1}})
    assert has_limit("messages", {"max_tokens": None})


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ({}, {"a": {"b": 1}}),
        ({"a": None}, {"a": {"b": 1}}),
        ({"a": {"b": 2, "c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"a": "text"}, {"a": "text"}),
    ],
)
def test_what_is_no_object_stays(body, changed) -> None:
    assert with_value(body, "a.b", 1) == changed
