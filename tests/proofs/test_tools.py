"""Tools: what the model is shown of them, when it calls them, and how it is held to that."""

from typing import Any

import pytest

from proofs import proves
from proofs.asking import Ask

Tool = dict[str, Any]

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ROME = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}
UNENFORCED = {"type": "object", "properties": {"cities": {"type": "array", "uniqueItems": True}}}

WEATHER, TIME = ("get_weather", {"city": "Paris"}), ("get_time", {"city": "Paris"})

FORMS = ("tools[]", "tools[].function", "functions[]")


def tools(path: str, *functions: Tool) -> dict[str, list[Tool]]:
    """Functions in the form to which the field belongs: nested, flat, or that from before tools."""
    if path.startswith("function"):
        return {"functions": [*functions]}
    if path.startswith("tools[].function"):
        return {"tools": [{"type": "function", "function": function} for function in functions]}
    return {"tools": [{"type": "function", **function} for function in functions]}


def function(name: str = "get_weather", parameters: Any = CITY, **more: Any) -> Tool:
    return {"name": name, "parameters": parameters, **more}


BOTH = (function(), function("get_time"))


def forms(*names: str) -> list[str]:
    """The fields of a function, in every form that an endpoint has."""
    chat = [f"chat.{form}.{name}" for form in FORMS for name in names]
    return chat + [f"responses.{form}.{name}" for form in FORMS[:2] for name in names]


@proves("chat.tools", "chat.tools[].type", "chat.tools[].function", "chat.functions")
@proves("responses.tools", "responses.tools[].type", "responses.tools[].function")
def test_the_model_calls_a_function(ask: Ask) -> None:
    assert ask("weather Paris", **tools(ask.path, function())).calls == [WEATHER]


@proves(*forms("name"))
def test_a_call_has_the_name(ask: Ask) -> None:
    forced = {"function_call": {"name": "f"}} if ask.path.startswith("functions") else {"tool_choice": "required"}
    assert ask("hello", **tools(ask.path, function("f")), **forced).calls[0][0] == "f"


@proves(*forms("description"))
def test_the_model_is_shown_the_description(ask: Ask) -> None:
    bare, described = (ask("hello", **tools(ask.path, function(**more))) for more in ({}, {"description": "the big"}))
    assert bare.prompt_tokens < described.prompt_tokens


def force(path: str) -> dict[str, Any]:
    """What makes the model call get_weather."""
    if path.startswith("functions"):
        return {"function_call": {"name": "get_weather"}}
    return {"tool_choice": {"type": "function", "name": "get_weather"}}


@proves(*forms("parameters"))
def test_forced_arguments_keep_to_their_schema(ask: Ask) -> None:
    answer = ask("weather Paris", **tools(ask.path, function(parameters=ROME)), **force(ask.path))
    assert answer.calls == [("get_weather", {"city": "Rome"})]


@proves(*forms("strict"))
def test_a_strict_schema_is_enforced_or_refused(ask: Ask) -> None:
    strict = tools(ask.path, function(parameters=UNENFORCED, strict=True))
    code, param = ask.refusal("weather Paris", **strict, **force(ask.path))
    assert (code, param.rpartition(".")[2]) == ("unsupported_schema", "uniqueItems")


@proves(*forms("strict"))
def test_a_call_of_the_models_own_keeps_to_a_strict_schema(ask: Ask) -> None:
    answer = ask("weather Paris", **tools(ask.path, function(parameters=ROME, strict=True)))
    assert answer.calls == [("get_weather", {"city": "Rome"})]
    assert "x-unsupported-params" not in answer.headers


@proves("chat.tool_choice", "responses.tool_choice")
@pytest.mark.parametrize(("choice", "names"), [("none", []), ("required", ["get_weather"])])
def test_whether_it_calls(ask: Ask, choice: str, names: list[str]) -> None:
    question = "weather Paris" if choice == "none" else "hello"
    answer = ask(question, **tools("tools[]", function()), tool_choice=choice)
    assert [name for name, _ in answer.calls] == names


# By field: a choice of get_time alone.
NAMED = {"type": "function", "name": "get_time"}
NESTED = {"type": "function", "function": {"name": "get_time"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
FLAT_ALLOWED = {"type": "allowed_tools", "mode": "required", "tools": [NAMED]}
CHOICES: dict[str, dict[str, Any]] = {
    "chat.tool_choice.type": NAMED,
    "chat.tool_choice.name": NAMED,
    "chat.tool_choice.function": NESTED,
    "chat.tool_choice.function.name": NESTED,
    "chat.tool_choice.allowed_tools": ALLOWED,
    "chat.tool_choice.allowed_tools.mode": ALLOWED,
    "chat.tool_choice.allowed_tools.tools": ALLOWED,
    "responses.tool_choice.type": NAMED,
    "responses.tool_choice.name": NAMED,
    "responses.tool_choice.function": NESTED,
    "responses.tool_choice.function.name": NESTED,
    "responses.tool_choice.mode": FLAT_ALLOWED,
    "responses.tool_choice.tools": FLAT_ALLOWED,
}


@proves(*CHOICES)
def test_which_function_it_calls(ask: Ask) -> None:
    answer = ask("weather Paris", **tools("tools[]", *BOTH), tool_choice=CHOICES[f"{ask.endpoint}.{ask.path}"])
    assert {name for name, _ in answer.calls} == {"get_time"}


@proves("chat.function_call", "chat.function_call.name")
def test_which_function_it_calls_by_the_legacy_fields(ask: Ask) -> None:
    answer = ask("weather Paris", functions=[*BOTH], function_call={"name": "get_time"})
    assert [name for name, _ in answer.calls] == ["get_time"]
    assert ask("weather Paris", functions=[*BOTH], function_call="none").calls == []


@proves("chat.parallel_tool_calls", "responses.parallel_tool_calls")
def test_one_call_or_several(ask: Ask) -> None:
    both = tools("tools[]", *BOTH)
    assert ask("both Paris", **both, parallel_tool_calls=True).calls == [WEATHER, TIME]
    assert ask("both Paris", **both, parallel_tool_calls=False).calls == [WEATHER]
