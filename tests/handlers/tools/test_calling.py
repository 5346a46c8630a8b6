"""Tools and tool_choice in all their forms become what the model may, or must, call."""

from typing import Any

import pytest
from pydantic import BaseModel

from specvino.engine.errors import ConstraintError
from specvino.engine.protocol import Calling, ModelInfo
from specvino.engine.request import Tool
from specvino.generated.models import CreateChatCompletionRequest, CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits, require_consistent, require_supported
from specvino.handlers.tools import ToolCalling, tool_calling

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
F = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}}
G = {"type": "function", "name": "g"}
CUSTOM = {"type": "custom", "custom": {"name": "c"}}
GRAMMAR_PARAM = "tools.0.custom.format.grammar.definition"


def calling_of(body: BaseModel, calling: Calling | None = "taught", strict: bool = False) -> ToolCalling:
    """As in the pipeline, conditions are checked first."""
    require_consistent(body)
    require_supported(body, Limits().facts_with(ModelInfo(100, 50, {}, calling=calling)))
    return tool_calling(body, calling, strict=strict)


def chat(calling: Calling | None = "taught", strict: bool = False, tools: Any = (F, G), **fields: Any) -> ToolCalling:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": list(tools), **fields}
    return calling_of(CreateChatCompletionRequest.model_validate(body), calling, strict)


def response(tools: Any = (F, G), **fields: Any) -> ToolCalling:
    body = {"model": "m", "input": "hi", "tools": list(tools), **fields}
    return calling_of(CreateResponseRequest.model_validate(body))


def refusal(ask: Any, **fields: Any) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as error:
        ask(**fields)
    return error.value.code, error.value.param


def names(called: ToolCalling) -> list[str]:
    return [tool.name for tool in called.tools]


@pytest.mark.parametrize("ask", [chat, response])
def test_both_forms_are_functions(ask: Any) -> None:
    called = ask(tools=[F, G], tool_choice="required")
    assert called.tools == (Tool("f", "d", SCHEMA, strict=True), Tool("g"))
    assert [tool.param for tool in called.offered] == ["tools.0.function", "tools.1"]
    assert (called.forced_by, called.parallel, called.legacy) == ("tool_choice", True, False)


@pytest.mark.parametrize("ask", [chat, response])
@pytest.mark.parametrize(
    ("choice", "chosen", "forced", "parallel"),
    [
        (None, ["f", "g"], None, True),
        ("auto", ["f", "g"], None, True),
        ("none", [], None, True),
        ("required", ["f", "g"], "tool_choice", True),
        ({"type": "function", "function": {"name": "g"}}, ["g"], "tool_choice.function.name", False),
        ({"function": {"name": "g"}}, ["g"], "tool_choice.function.name", False),
        ({"type": "function", "name": "f"}, ["f"], "tool_choice.name", False),
    ],
)
def test_choices(ask: Any, choice: Any, chosen: list[str], forced: str | None, parallel: bool) -> None:
    called = ask(tool_choice=choice)
    assert (names(called), called.forced_by, called.parallel) == (chosen, forced, parallel)


@pytest.mark.parametrize("mode", ["auto", "required"])
@pytest.mark.parametrize(
    "reference", [{"type": "function", "name": "g"}, {"type": "function", "function": {"name": "g"}}]
)
def test_some_tools(mode: str, reference: dict[str, Any]) -> None:
    references = [reference, {"type": "mcp", "server_label": "s"}]
    for called, param in (
        (response(tool_choice={"type": "allowed_tools", "mode": mode, "tools": references}), "tool_choice.tools"),
        (
            chat(tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": references}}),
            "tool_choice.allowed_tools.tools",
        ),
    ):
        assert names(called) == ["g"]
        assert called.forced_by == (param if mode == "required" else None)
        assert called.parallel


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"tool_choice": {"type": "function", "name": "x"}}, "unknown_tool", "tool_choice.name"),
        ({"tool_choice": {"function": {"name": "x"}}}, "unknown_tool", "tool_choice.function.name"),
        ({"tool_choice": "required", "tools": []}, "unknown_tool", "tool_choice"),
        ({"tool_choice": {"type": "custom", "name": "c"}}, "unknown_tool", "tool_choice.name"),
        ({"tool_choice": {"type": "custom", "name": "g"}}, "unknown_tool", "tool_choice.name"),
        ({"tool_choice": {"type": "mcp", "server_label": "s"}}, "unsupported_tool", "tool_choice"),
        ({"tool_choice": {"type": "file_search"}}, "unsupported_tool", "tool_choice"),
        ({"tool_choice": "required", "tools": [{"type": "web_search"}]}, "unsupported_tool", "tool_choice"),
        ({"tool_choice": "required", "ignore_eos": True}, "invalid_value", "ignore_eos"),
        ({"tool_choice": "required", "min_tokens": 1}, "invalid_value", "min_tokens"),
        ({"tool_choice": "required", "best_of": 2}, "invalid_value", "best_of"),
        (
            {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "x"}]}},
            "unknown_tool",
            "tool_choice.tools",
        ),
    ],
)
def test_what_responses_refuse(fields: dict[str, Any], code: str, param: str) -> None:
    assert refusal(response, **fields) == (code, param)


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"tool_choice": {"type": "custom", "custom": {"name": "c"}}}, "unknown_tool", "tool_choice.custom.name"),
        ({"tool_choice": "required", "calling": None}, "unsupported_tool", "tool_choice"),
        ({"functions": [{"name": "h"}]}, "invalid_value", "functions"),
        ({"tools": [], "function_call": {"name": "h"}}, "unknown_tool", "function_call.name"),
        (
            {"tools": [], "functions": [{"name": "h"}], "function_call": {"name": "i"}},
            "unknown_tool",
            "function_call.name",
        ),
    ],
)
def test_what_chat_refuses(fields: dict[str, Any], code: str, param: str) -> None:
    assert refusal(chat, **fields) == (code, param)


@pytest.mark.parametrize(
    ("call", "chosen", "forced"),
    [
        (None, ["h", "i"], None),
        ("auto", ["h", "i"], None),
        ("none", [], None),
        ({"name": "i"}, ["i"], "function_call.name"),
    ],
)
def test_functions_are_tools_of_which_one_may_be_called(call: Any, chosen: list[str], forced: str | None) -> None:
    called = chat(tools=(), functions=[{"name": "h"}, {"name": "i"}], function_call=call)
    assert (names(called), called.forced_by, called.parallel, called.legacy) == (chosen, forced, False, True)


def test_parallel_calls_can_be_switched_off() -> None:
    assert not chat(parallel_tool_calls=False).parallel
    assert chat(parallel_tool_calls=None).parallel


@pytest.mark.parametrize("calling", ["forced", None])
def test_a_model_without_a_known_format_gets_the_tools_and_they_are_reported(calling: Calling | None) -> None:
    called = chat(calling)
    assert names(called) == ["f", "g"]
    assert called.unsupported == ("tools",)
    for nothing in (chat(calling, tool_choice="none"), chat(calling, tools=())):
        assert (nothing.tools, nothing.unsupported) == ((), ())
    assert chat(calling, tools=(), functions=[{"name": "h"}]).unsupported == ("functions",)


STRICT = [{"type": "function", "function": {"name": "s", "strict": True}}, G]


def test_a_strict_schema_is_reported_where_no_call_is_forced_and_the_models_own_cant_be_held() -> None:
    for called in (chat(tools=STRICT), chat("strict", tools=STRICT, ignore_eos=True)):
        assert called.unsupported == ("tools.0.function.strict",)
        assert [(tool.strict, tool.held) for tool in called.tools] == [(False, False)] * 2


def test_a_strict_schema_holds_the_models_own_calls_or_forced_ones() -> None:
    own, forced = chat("strict", tools=STRICT), chat("strict", tools=STRICT, tool_choice="required")
    assert own.unsupported == forced.unsupported == ()
    assert [(tool.strict, tool.held) for tool in own.tools] == [(False, True), (False, False)]
    assert [(tool.strict, tool.held) for tool in forced.tools] == [(True, False), (False, False)]
    # Where the server refuses what has no effect, it refuses what can't be enforced.
    assert [tool.strict for tool in chat("strict", strict=True, tools=STRICT).tools] == [True, True]


def test_such_a_model_can_be_forced() -> None:
    called = chat("forced", tool_choice="required")
    assert (called.forced_by, called.unsupported) == ("tool_choice", ())


def test_a_server_that_refuses_what_it_can_t_honour_is_strict_with_all() -> None:
    assert all(tool.strict for tool in chat(strict=True, tools=[G]).tools)


def test_tools_that_are_too_much_together() -> None:
    with (
        pytest.raises(ApiError, match="tools can't be used together: too much") as caught,
        chat(tool_choice="required").refusals(),
    ):
        raise ConstraintError("too much")
    assert caught.value.param == "tools"
    # An error about a structured output is not the error of a tool.
    with pytest.raises(ConstraintError), chat().refusals():
        raise ConstraintError("a form")


FILES = {"type": "namespace", "name": "files", "tools": [G, {"type": "custom", "name": "c"}]}


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ({"type": "function", "name": "g"}, ["files__g"]),
        ({"type": "function", "name": "files__g"}, ["files__g"]),
        ({"type": "custom", "name": "c"}, ["files__c"]),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "c"}]}, ["files__c"]),
    ],
)
def test_a_choice_of_tools_in_a_namespace(choice: dict[str, Any], chosen: list[str]) -> None:
    assert names(response(tools=[FILES, F], tool_choice=choice)) == chosen


def test_a_choice_of_a_custom_tool_in_chat() -> None:
    called = chat(tools=[F, CUSTOM], tool_choice={"type": "custom", "custom": {"name": "c"}})
    assert names(called) == ["c"]
    assert called.called("c").kind == "custom"


@pytest.mark.parametrize(
    "grammar", [{"syntax": "regex", "definition": "(?=a)b"}, {"syntax": "lark", "definition": "start: /a/"}]
)
@pytest.mark.parametrize(
    ("calling", "held", "unsupported"), [("strict", True, ()), ("taught", False, (GRAMMAR_PARAM,))]
)
def test_the_grammar_of_a_custom_tool(
    calling: Calling, held: bool, unsupported: tuple[str, ...], grammar: dict[str, str]
) -> None:
    tool = {"type": "custom", "custom": {"name": "c", "format": {"type": "grammar", "grammar": grammar}}}
    called = chat(calling, tools=[tool])
    assert (called.tools[0].held, called.unsupported) == (held, unsupported)
    unenforced = ConstraintError("no", ("properties", "input", "x"), unsupported=True)
    unenforced.tool = 0
    with pytest.raises(ApiError) as error, called.refusals():
        raise unenforced
    assert (error.value.code, error.value.param) == ("unsupported_schema", GRAMMAR_PARAM)
