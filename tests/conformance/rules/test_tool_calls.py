"""Arguments of calls that the limit of tokens may have cut off."""

import json
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Request
from specvino.conformance.rules.tool_calls import ArgumentsValid

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def violations_of(arguments: str, *, limit: int | None, made: int | None, reason: str = "tool_calls") -> list[str]:
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
    assert violations_of('{"city": "Par', limit=8, made=8) == []
    assert violations_of('{"city": "Par', limit=None, made=8, reason="length") == []


@pytest.mark.parametrize(("limit", "made"), [(9, 8), (8, None), (None, 8)])
def test_what_ended_by_itself_must_be_json(limit: int | None, made: int | None) -> None:
    assert violations_of('{"city": "Par', limit=limit, made=made) == [
        """the arguments of 'weather' aren't JSON: '{"city": "Par'"""
    ]
    assert violations_of('{"city": "Paris"}', limit=limit, made=made) == []


def called(arguments: str, **body: Any) -> list[str]:
    call = {"type": "function_call", "call_id": "call_1", "name": "find", "arguments": arguments}
    answer: dict[str, Any] = {"status": "completed", "output": [call]}
    request = Request("responses", "POST", "/responses", {}, b"", body)
    came = exchange(request=request, content=json.dumps(answer).encode(), headers={"content-type": "application/json"})
    rule = ArgumentsValid(Dialect("openai"))
    return list(rule.violations(came)) if rule.applies(came) else []


FIND = {"type": "function", "name": "find", "strict": True, "parameters": {"type": "object", "required": ["path"]}}
OTHER = {"type": "function", "name": "other"}


def namespace(name: str, **tool: Any) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "tools": [FIND | tool]}


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [OTHER, namespace("files")]},
        {"input": [{"type": "additional_tools", "tools": [namespace("files")]}]},
        {"input": [{"type": "tool_search_output", "tools": [FIND]}], "tools": [OTHER]},
    ],
)
def test_tools_of_namespaces_and_of_items(body: dict[str, Any]) -> None:
    assert called('{"path": "a"}', **body) == []
    assert called("{}", **body) == ["""the arguments of 'find' violate its schema: it: "path" is a required property"""]


def test_tools_of_two_namespaces_with_one_name() -> None:
    lax = [namespace("files"), namespace("mails", strict=False)]
    assert called("{}", tools=lax) == []
    strict = [namespace("files"), namespace("mails", parameters={"type": "object", "required": ["id"]})]
    assert called('{"id": 1}', tools=strict) == called('{"path": "a"}', tools=strict) == []
    assert len(called("{}", tools=strict)) == 1


def test_a_tool_that_is_unknown_unless_an_earlier_item_may_have_it_or_one_has_no_name() -> None:
    assert called("{}", tools=[OTHER]) == ["'find' is called, which isn't one of 'other'"]
    assert called("{}", tools=[OTHER, {"type": "function"}]) == []
    assert called("{}", tools=[OTHER], previous_response_id="resp_1") == []
