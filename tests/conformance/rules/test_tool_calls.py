"""Arguments of calls that the limit of tokens may have cut off."""

import json
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Request
from specvino.conformance.rules.tool_calls import ArgumentsValid

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def told(arguments: str, *, limit: int | None, made: int | None, reason: str = "tool_calls") -> list[str]:
    body: dict[str, Any] = {"messages": [], "tools": [TOOL]} | ({"max_tokens": limit} if limit else {})
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    if made is not None:
        answer["usage"] = {"completion_tokens": made}
    request = Request("chat", "POST", "/chat/completions", {}, b"", body)
    came = exchange(request=request, content=json.dumps(answer).encode(), headers={"content-type": "application/json"})
    return list(ArgumentsValid(Dialect("vllm")).violations(came))


def test_what_the_limit_cut_off_is_no_json() -> None:
    assert told('{"city": "Par', limit=8, made=8) == []
    assert told('{"city": "Par', limit=None, made=8, reason="length") == []


@pytest.mark.parametrize(("limit", "made"), [(9, 8), (8, None), (None, 8)])
def test_what_ended_by_itself_must_be_json(limit: int | None, made: int | None) -> None:
    assert told('{"city": "Par', limit=limit, made=made) == [
        """the arguments of 'weather' aren't JSON: '{"city": "Par'"""
    ]
    assert told('{"city": "Paris"}', limit=limit, made=made) == []
