"""Tools: what the model is shown of them, when it calls them, and how it is held to that."""

import re
from typing import Any

import pytest

from proofs import proves
from proofs.asking import Answer, Ask

Tool = dict[str, Any]
Request = dict[str, Any]

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PARIS = {"type": "object", "properties": {"city": {"const": "Paris"}}, "required": ["city"]}
ROME = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}
UNENFORCED = {"type": "object", "properties": {"cities": {"type": "array", "uniqueItems": True}}}

WEATHER, TIME = ("get_weather", {"city": "Paris"}), ("get_time", {"city": "Paris"})

# Where functions are, by endpoint.
CHAT_FORMS = ("tools[]", "tools[].function", "functions[]")
RESPONSE_FORMS = ("tools[]", "tools[].function", "tools[].tools[]")
ITEM_FORMS = tuple(f"input[].{form}" for form in RESPONSE_FORMS)


def offer(ask: Ask, question: str, *tools: Tool) -> Request:
    """A question, with tools in the form and in the place to which the field belongs."""
    path = ask.path.removeprefix("input[].")
    offered: list[Tool]
    if path.startswith("function"):
        return {"messages": [user(question)], "functions": [*tools]}
    if path.startswith(("tools[].function", "tools[].custom")):
        kind = path.split(".")[1]
        offered = [{"type": kind, kind: tool} for tool in tools]
    else:
        offered = [{"type": "function", **tool} for tool in tools]
    if path.startswith("tools[].tools"):
        offered = [{"type": "namespace", "name": "n", "tools": offered}]
    if ask.endpoint == "chat":
        return {"messages": [user(question)], "tools": offered}
    if ask.path.startswith("input[]"):
        return {"input": [{"type": "additional_tools", "tools": offered}, user(question)]}
    return {"input": [user(question)], "tools": offered}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def function(name: str = "get_weather", parameters: Any = CITY, **more: Any) -> Tool:
    return {"name": name, "parameters": parameters, **more}


BOTH = (function(), function("get_time"))


def forms(*names: str) -> list[str]:
    """The fields of a function, in every form and place that an endpoint has."""
    chat = [f"chat.{form}.{name}" for form in CHAT_FORMS for name in names]
    return chat + [f"responses.{form}.{name}" for form in (*RESPONSE_FORMS, *ITEM_FORMS) for name in names]


@proves("chat.tools", "chat.tools[].type", "chat.tools[].function", "chat.functions")
@proves("responses.tools", *(f"responses.tools[].{name}" for name in ("type", "function", "tools", "tools[].type")))
@proves(*(f"responses.input[].{name}" for name in ("tools", "tools[].type", "tools[].function")))
@proves(*(f"responses.input[].tools[].{name}" for name in ("tools", "tools[].type")))
def test_the_model_calls_a_function(ask: Ask) -> None:
    # The tiny model has learned the names of its tools without a namespace.
    forced = {"tool_choice": "required"} if "tools[].tools" in ask.path else {}
    assert ask(**offer(ask, "weather Paris", function(parameters=PARIS)), **forced).calls == [WEATHER]


@proves(*forms("name"))
def test_a_call_has_the_name(ask: Ask) -> None:
    forced = {"function_call": {"name": "f"}} if ask.path.startswith("functions") else {"tool_choice": "required"}
    assert ask(**offer(ask, "hello", function("f")), **forced).calls[0][0] == "f"


@proves(*forms("description"))
def test_the_model_is_shown_the_description(ask: Ask) -> None:
    bare, described = (
        ask(**offer(ask, "hello", function(**more))).prompt_tokens for more in ({}, {"description": "the big"})
    )
    assert bare < described


def force(path: str, kind: str = "function") -> dict[str, Any]:
    """What makes the model call get_weather."""
    if path.startswith("functions"):
        return {"function_call": {"name": "get_weather"}}
    if path.startswith("tools[].custom"):
        return {"tool_choice": {"type": "custom", "custom": {"name": "get_weather"}}}
    return {"tool_choice": {"type": kind, "name": "get_weather"}}


@proves(*forms("parameters"))
def test_forced_arguments_keep_to_their_schema(ask: Ask) -> None:
    answer = ask(**offer(ask, "weather Paris", function(parameters=ROME)), **force(ask.path))
    assert answer.calls == [("get_weather", {"city": "Rome"})]


@proves(*forms("strict"))
def test_a_strict_schema_is_enforced_or_refused(ask: Ask) -> None:
    strict = offer(ask, "weather Paris", function(parameters=UNENFORCED, strict=True))
    code, param = ask.refusal(**strict, **force(ask.path), **{ask.limit: 64})
    assert (code, param.rpartition(".")[2]) == ("unsupported_schema", "uniqueItems")


@proves(*forms("strict"))
def test_a_call_of_the_models_own_keeps_to_a_strict_schema(ask: Ask) -> None:
    answer = ask(**offer(ask, "weather Paris", function(parameters=ROME, strict=True)))
    assert answer.calls == [("get_weather", {"city": "Rome"})]
    assert "x-unsupported-params" not in answer.headers


CUSTOM_FORMS = ("tools[]", "tools[].tools[]")


def custom(*names: str) -> list[str]:
    """The fields of a custom tool, in every form and place that an endpoint has."""
    places = [form for outer in ("", "input[].") for form in (f"{outer}{form}" for form in CUSTOM_FORMS)]
    return [f"chat.tools[].custom.{name}" for name in names] + [
        f"responses.{at}.{name}" for at in places for name in names
    ]


def text_tool(ask: Ask, format: Any = None, name: str = "get_weather", **more: Any) -> Tool:
    tool = {"name": name, **({"format": format} if format else {}), **more}
    return tool if ask.endpoint == "chat" else {**tool, "type": "custom"}


def inputs(answer: Answer) -> list[tuple[str, str]]:
    """Name and input of each custom tool that is called."""
    if "output" in answer.body:
        called = answer.items("custom_tool_call")
    else:
        called = [call["custom"] for call in answer.choices[0]["message"].get("tool_calls") or []]
    return [(call["name"], call["input"]) for call in called]


def grammar(ask: Ask, syntax: str, definition: str) -> dict[str, Any]:
    described = {"syntax": syntax, "definition": definition}
    return {"type": "grammar", **({"grammar": described} if ask.endpoint == "chat" else described)}


@proves("chat.tools[].custom", *custom("name"))
def test_the_model_calls_a_custom_tool(ask: Ask) -> None:
    answer = ask(**offer(ask, "hello", text_tool(ask, name="f")), tool_choice="required", max_tokens=64)
    assert [name for name, _ in inputs(answer)] == ["f"]


@proves(*custom("description"))
def test_the_model_is_shown_the_description_of_a_custom_tool(ask: Ask) -> None:
    bare, described = (
        ask(**offer(ask, "hello", text_tool(ask, **more))).prompt_tokens for more in ({}, {"description": "the big"})
    )
    assert bare < described


@proves(*custom("format", "format.type"), "chat.tools[].custom.format.grammar")
@proves("chat.tools[].custom.format.grammar.syntax", "chat.tools[].custom.format.grammar.definition")
@proves(*(name for name in custom("format.syntax", "format.definition") if name.startswith("responses")))
def test_the_input_of_a_custom_tool_keeps_to_its_format(ask: Ask) -> None:
    _rome(ask, grammar(ask, "regex", "Rome [0-9]"))


@proves(*custom("format", "format.type"), "chat.tools[].custom.format.grammar")
@proves("chat.tools[].custom.format.grammar.definition")
@proves(*(name for name in custom("format.definition") if name.startswith("responses")))
def test_the_input_of_a_custom_tool_keeps_to_its_lark_grammar(ask: Ask) -> None:
    _rome(ask, grammar(ask, "lark", 'start: "Rome" " " DIGIT\n%import common.DIGIT'))


def _rome(ask: Ask, format: dict[str, Any]) -> None:
    tool = text_tool(ask, format)
    # Without the format the text would go on to the end of the context.
    ((name, input),) = inputs(ask(**offer(ask, "weather Paris", tool), **force(ask.path, "custom"), **{ask.limit: 64}))
    assert name == "get_weather"
    assert re.fullmatch("Rome [0-9]", input)


@proves("chat.tool_choice.custom", "chat.tool_choice.custom.name")
def test_which_custom_tool_it_calls(ask: Ask) -> None:
    tools = [{"type": "custom", "custom": text_tool(ask, grammar(ask, "regex", "x"), name)} for name in ("a", "b")]
    answer = ask("hello", tools=tools, tool_choice={"type": "custom", "custom": {"name": "b"}})
    assert inputs(answer) == [("b", "x")]


@proves("responses.tools[].execution", "responses.input[].tools[].execution")
def test_a_search_that_the_client_executes(ask: Ask) -> None:
    search = {"type": "tool_search", "execution": "client", "parameters": CITY}
    if ask.path.startswith("input[]"):
        asked: Request = {"input": [{"type": "additional_tools", "tools": [search]}, user("weather Paris")]}
    else:
        asked = {"input": "weather Paris", "tools": [search]}
    (call,) = ask(**asked, tool_choice="required").items("tool_search_call")
    assert (call["execution"], call["arguments"].keys()) == ("client", {"city"})


@proves("chat.tool_choice", "responses.tool_choice")
@pytest.mark.parametrize(("choice", "names"), [("none", []), ("required", ["get_weather"])])
def test_whether_it_calls(ask: Ask, choice: str, names: list[str]) -> None:
    question = "weather Paris" if choice == "none" else "hello"
    answer = ask(**offer(ask, question, function()), tool_choice=choice)
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
    answer = ask(**offer(ask, "weather Paris", *BOTH), tool_choice=CHOICES[f"{ask.endpoint}.{ask.path}"])
    assert {name for name, _ in answer.calls} == {"get_time"}


@proves("chat.function_call", "chat.function_call.name")
def test_which_function_it_calls_by_the_legacy_fields(ask: Ask) -> None:
    answer = ask("weather Paris", functions=[*BOTH], function_call={"name": "get_time"})
    assert [name for name, _ in answer.calls] == ["get_time"]
    assert ask("weather Paris", functions=[*BOTH], function_call="none").calls == []


@proves("chat.parallel_tool_calls", "responses.parallel_tool_calls")
def test_one_call_or_several(ask: Ask) -> None:
    both = offer(ask, "both Paris", *BOTH)
    assert ask(**both, parallel_tool_calls=True).calls == [WEATHER, TIME]
    assert ask(**both, parallel_tool_calls=False).calls == [WEATHER]
