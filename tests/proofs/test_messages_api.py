"""The Messages API: a conversation becomes the prompt that chat makes of the same one, and is counted as that.

What a field does that chat has too is proved there; here, that it has the same effect under its own name."""

import json
from typing import Any

import httpx
import pytest
from support.images import data_url, file

from proofs import proves
from proofs.asking import Answer, Ask
from proofs.conftest import Run
from proofs.test_images import BLUE
from proofs.test_tools import CITY, PARIS, UNENFORCED, WEATHER

Body = dict[str, Any]
Blocks = list[dict[str, Any]]

BOTH_APIS = ("messages", "count_tokens")
BLOCK = "messages[].content[]"
INNER = f"{BLOCK}.content[]"

HELLO = {"role": "user", "content": "hello"}


def of_both(*paths: str) -> tuple[str, ...]:
    return tuple(f"{api}.{path}" for api in BOTH_APIS for path in paths)


def user(*blocks: dict[str, Any]) -> Body:
    return {"role": "user", "content": list(blocks)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def result(*content: dict[str, Any], **more: Any) -> list[Body]:
    """A conversation with a call and its result."""
    call = {"type": "tool_use", "id": "toolu_the", "name": "capital", "input": {"x": "now"}}
    answer = {
        "type": "tool_result",
        "tool_use_id": "toolu_the",
        **({"content": list(content)} if content else {}),
        **more,
    }
    return [HELLO, {"role": "assistant", "content": [call]}, user(answer)]


def chat_result(content: str) -> list[Body]:
    """The same conversation, as chat has it."""
    function = {"name": "capital", "arguments": json.dumps({"x": "now"})}
    call = {"id": "toolu_the", "type": "function", "function": function}
    tool = {"role": "tool", "name": "capital", "tool_call_id": "toolu_the", "content": content}
    return [HELLO, {"role": "assistant", "content": "", "tool_calls": [call]}, tool]


PLAIN = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "big"},
    "title": "the",
    "context": "yes",
}
PARTS = {"type": "document", "source": {"type": "content", "content": [text("capital"), text("yes")]}}
SEARCH = {"type": "search_result", "source": "the", "title": "big", "content": [text("capital"), text("yes")]}
REFERENCE = {"type": "tool_reference", "tool_name": "capital"}

SAID = [HELLO, {"role": "assistant", "content": "who"}, {"role": "system", "content": "who"}, HELLO]
TWO_TEXTS = ([user(text("capital"), text("yes"))], [{"role": "user", "content": "capital\nyes"}])

# By field: a conversation that has it, and the same one for chat.
CONVERSATIONS: dict[str, tuple[list[Body], list[Body]]] = {
    "messages": (SAID, SAID),
    "messages[].role": (SAID, SAID),
    "messages[].content": (SAID, SAID),
    f"{BLOCK}.type": TWO_TEXTS,
    f"{BLOCK}.text": TWO_TEXTS,
    f"{BLOCK}.source": ([user(PLAIN)], [{"role": "user", "content": "the\nyes\nbig"}]),
    f"{BLOCK}.source.type": ([user(PLAIN)], [{"role": "user", "content": "the\nyes\nbig"}]),
    f"{BLOCK}.source.data": ([user(PLAIN)], [{"role": "user", "content": "the\nyes\nbig"}]),
    f"{BLOCK}.title": ([user(PLAIN)], [{"role": "user", "content": "the\nyes\nbig"}]),
    f"{BLOCK}.context": ([user(PLAIN)], [{"role": "user", "content": "the\nyes\nbig"}]),
    f"{BLOCK}.source.content": ([user(PARTS)], [{"role": "user", "content": "capital\nyes"}]),
    f"{BLOCK}.source.content[].type": ([user(PARTS)], [{"role": "user", "content": "capital\nyes"}]),
    f"{BLOCK}.source.content[].text": ([user(PARTS)], [{"role": "user", "content": "capital\nyes"}]),
    f"{BLOCK}.id": (result(text("yes")), chat_result("yes")),
    f"{BLOCK}.name": (result(text("yes")), chat_result("yes")),
    f"{BLOCK}.input": (result(text("yes")), chat_result("yes")),
    f"{BLOCK}.tool_use_id": (result(text("yes")), chat_result("yes")),
    f"{BLOCK}.content": (result(text("yes"), text("big")), chat_result("yes\nbig")),
    f"{BLOCK}.is_error": (result(text("yes"), is_error=True), chat_result("The tool call failed:\nyes")),
    f"{INNER}.type": (result(text("yes"), text("big")), chat_result("yes\nbig")),
    f"{INNER}.text": (result(text("yes"), text("big")), chat_result("yes\nbig")),
    f"{INNER}.title": (result(PLAIN), chat_result("the\nyes\nbig")),
    f"{INNER}.context": (result(PLAIN), chat_result("the\nyes\nbig")),
    f"{INNER}.source": (result(PLAIN), chat_result("the\nyes\nbig")),
    f"{INNER}.source.type": (result(PLAIN), chat_result("the\nyes\nbig")),
    f"{INNER}.source.data": (result(PLAIN), chat_result("the\nyes\nbig")),
    f"{INNER}.source.content": (result(PARTS), chat_result("capital\nyes")),
    f"{INNER}.source.content[].type": (result(PARTS), chat_result("capital\nyes")),
    f"{INNER}.source.content[].text": (result(PARTS), chat_result("capital\nyes")),
    f"{INNER}.content": (result(SEARCH), chat_result("big\nthe\ncapital\nyes")),
    f"{INNER}.content[].type": (result(SEARCH), chat_result("big\nthe\ncapital\nyes")),
    f"{INNER}.content[].text": (result(SEARCH), chat_result("big\nthe\ncapital\nyes")),
    f"{INNER}.tool_name": (result(REFERENCE), chat_result("capital")),
}


def prompt_tokens(http: httpx.Client, **fields: Any) -> int:
    """Those of chat."""
    answer = http.post("/chat/completions", json={"model": "m", "max_tokens": 1, **fields})
    assert answer.status_code == 200, answer.text
    tokens: int = answer.json()["usage"]["prompt_tokens"]
    return tokens


def input_tokens(run: Run, http: httpx.Client, **fields: Any) -> int:
    """Those of a message, or the count."""
    ask = Ask(http, run.field, streamed=run.way == "streamed")
    if ask.endpoint == "messages":
        return ask(**{"max_tokens": 1, **fields}).prompt_tokens
    answer = http.post("/messages/count_tokens", json={"model": "m", **fields})
    assert answer.status_code == 200, answer.text
    tokens: int = answer.json()["input_tokens"]
    return tokens


def path(run: Run) -> str:
    return run.field.partition(".")[2]


@proves(*of_both(*CONVERSATIONS), on="telling")
def test_a_conversation_is_that_of_chat(run: Run, http: httpx.Client) -> None:
    messages, same = CONVERSATIONS[path(run)]
    assert input_tokens(run, http, messages=messages) == prompt_tokens(http, messages=same)


@proves(*of_both("system", "system[].type", "system[].text"), on="telling")
def test_a_system_prompt_is_a_system_message(run: Run, http: httpx.Client) -> None:
    system = "who" if path(run) == "system" else [text("the"), text("big")]
    same = [{"role": "system", "content": "who" if path(run) == "system" else "the\nbig"}, HELLO]
    assert input_tokens(run, http, messages=[HELLO], system=system) == prompt_tokens(http, messages=same)


def image(url: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "url", "url": url}}


NAMED = {"type": "text", "text": "What colour is this?"}
IN_PARTS = {"type": "document", "source": {"type": "content", "content": [image(BLUE), NAMED]}}
DATA = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": data_url(file("blue")).partition(",")[2]},
}
DATA_IN_PARTS = {"type": "document", "source": {"type": "content", "content": [DATA, NAMED]}}

SOURCES = {
    f"{BLOCK}.source.url": [image(BLUE), NAMED],
    f"{BLOCK}.source.content[].source": [IN_PARTS],
    f"{BLOCK}.source.content[].source.type": [IN_PARTS],
    f"{BLOCK}.source.content[].source.url": [IN_PARTS],
    f"{BLOCK}.source.content[].source.data": [DATA_IN_PARTS],
}
IN_RESULTS = {
    f"{INNER}.source.url": [image(BLUE), NAMED],
    f"{INNER}.source.content[].source": [IN_PARTS],
    f"{INNER}.source.content[].source.type": [IN_PARTS],
    f"{INNER}.source.content[].source.url": [IN_PARTS],
    f"{INNER}.source.content[].source.data": [DATA_IN_PARTS],
}


@proves(*of_both(*SOURCES), on="vision")
def test_the_model_sees_the_image(run: Run, http: httpx.Client) -> None:
    same = user({"type": "image_url", "image_url": {"url": BLUE}}, NAMED)
    messages = [user(*SOURCES[path(run)])]
    assert input_tokens(run, http, messages=messages) == prompt_tokens(http, messages=[same])
    if run.field.startswith("messages."):
        assert "blue" in Ask(http, run.field, streamed=run.way == "streamed")(messages=messages).text


@proves(*of_both(*IN_RESULTS), on="vision")
def test_the_model_sees_the_image_of_a_result(run: Run, http: httpx.Client) -> None:
    """As that of a function is seen in a response."""
    output = [{"type": "input_image", "image_url": BLUE}, {"type": "input_text", "text": NAMED["text"]}]
    call = {"type": "function_call", "call_id": "toolu_the", "name": "capital", "arguments": json.dumps({"x": "now"})}
    items = [HELLO, call, {"type": "function_call_output", "call_id": "toolu_the", "output": output}]
    same = http.post("/responses", json={"model": "m", "max_output_tokens": 16, "input": items}).json()
    messages = result(*IN_RESULTS[path(run)])
    assert input_tokens(run, http, messages=messages) == same["usage"]["input_tokens"]


def thought(http: httpx.Client) -> Blocks:
    """The blocks of an answer with signed reasoning."""
    fields = {"model": "m", "max_tokens": 100, "temperature": 0, "messages": [{"role": "user", "content": "think"}]}
    content: Blocks = http.post("/messages", json=fields).json()["content"]
    assert [block["type"] for block in content] == ["thinking", "text"]
    return content


def refusal(run: Run, http: httpx.Client, **fields: Any) -> tuple[str, str]:
    ask = Ask(http, run.field, streamed=run.way == "streamed")
    if ask.endpoint == "messages":
        return ask.refusal(**fields)
    answer = http.post("/messages/count_tokens", json={"model": "m", **fields})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    return error["code"], error["param"]


@proves(*of_both(f"{BLOCK}.thinking", f"{BLOCK}.signature", f"{BLOCK}.data"))
def test_reasoning_comes_back_as_it_was(run: Run, http: httpx.Client) -> None:
    thinking, answer = thought(http)
    text_of_thought = thinking["thinking"]
    name = path(run).rpartition(".")[2]
    if name == "data":
        thinking = {"type": "redacted_thinking", "data": thinking["signature"]}
    conversation = [HELLO, {"role": "assistant", "content": [thinking, answer]}, HELLO]
    same = [HELLO, {"role": "assistant", "reasoning_content": text_of_thought, "content": answer["text"]}, HELLO]
    assert input_tokens(run, http, messages=conversation) == prompt_tokens(http, messages=same)
    plain = [HELLO, {"role": "assistant", "content": answer["text"]}, HELLO]
    assert prompt_tokens(http, messages=same) > prompt_tokens(http, messages=plain)
    changed = {**thinking, name: "changed"}
    messages = [HELLO, {"role": "assistant", "content": [changed, answer]}, HELLO]
    expected = ("invalid_encrypted_content", f"messages.1.content.0.{name}")
    assert refusal(run, http, messages=messages) == expected


@proves(*of_both("model"))
def test_an_unknown_model(run: Run, http: httpx.Client) -> None:
    api = "/messages" if run.field.startswith("messages.") else "/messages/count_tokens"
    more = {"max_tokens": 1} if api == "/messages" else {}
    answer = http.post(api, json={"model": "another", "messages": [HELLO], **more})
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")


@proves("messages.stream", ways=("unary",))
def test_a_stream(http: httpx.Client) -> None:
    answer = http.post("/messages", json={"model": "m", "max_tokens": 1, "messages": [HELLO], "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")


@proves("messages.max_tokens")
def test_no_more_tokens_than_that(ask: Ask) -> None:
    answer = ask("count", max_tokens=4)
    assert (answer.tokens, answer.finish) == (4, "max_tokens")


@proves("messages.stop_sequences")
def test_an_answer_ends_before_a_stop_sequence(ask: Ask) -> None:
    answer = ask("count", stop_sequences=["zzz", ", 4"])
    assert answer.text == "1, 2, 3"
    assert (answer.finish, answer.body["stop_sequence"]) == ("stop_sequence", ", 4")


# An answer that begins so may go on in many ways: 7 of 12 differed, so that 24 are never all the same by chance.
UNSURE = ("zzz", "The")


@proves("messages.temperature", "messages.top_p", "messages.top_k")
def test_the_likeliest_tokens_are_always_the_same(ask: Ask) -> None:
    settings: dict[str, Body] = {"temperature": {"temperature": 0}, "top_p": {"temperature": 1, "top_p": 0.01}}
    chosen = settings.get(ask.path, {"temperature": 1, "top_k": 1})
    assert len({ask(*UNSURE, **chosen).text for _ in range(24)}) == 1


def thinking(answer: Answer) -> list[str]:
    return [block["thinking"] for block in answer.blocks("thinking")]


@proves("messages.chat_template_kwargs", "messages.thinking", "messages.thinking.type")
def test_no_thinking(ask: Ask) -> None:
    assert thinking(ask("think", thinking={"type": "adaptive"})) != []
    off: Body = {"thinking": {"type": "disabled"}}
    if ask.path == "chat_template_kwargs":
        off = {"chat_template_kwargs": {"enable_thinking": False}}
    answer = ask("think", **off)
    assert (thinking(answer), answer.text) == ([], "The answer is 4.")


@proves("messages.thinking.budget_tokens")
def test_reasoning_ends_after_so_many_tokens(ask: Ask) -> None:
    answer = ask("think", thinking={"type": "enabled", "budget_tokens": 4})
    assert thinking(answer) == ["Let me"]
    assert answer.text


@proves("messages.thinking.display")
def test_reasoning_is_only_in_its_signature(ask: Ask) -> None:
    answer = ask("think", thinking={"type": "adaptive", "display": "omitted"})
    (block,) = answer.blocks("thinking")
    assert block["thinking"] == ""
    assert block["signature"]
    assert answer.text == "The answer is 4."


@proves("messages.output_config", "messages.output_config.effort", ways=("unary",))
@proves("count_tokens.output_config", "count_tokens.output_config.effort")
@proves(*of_both("thinking", "thinking.type"))
@proves("count_tokens.chat_template_kwargs")
def test_the_template_is_told(run: Run, http: httpx.Client) -> None:
    """The tiny model's template reads enable_thinking, and no effort, which the header then names."""
    name = path(run).partition(".")[0]
    if name == "output_config":
        more = {"max_tokens": 1} if run.field.startswith("messages.") else {}
        api = "/messages" if more else "/messages/count_tokens"
        answer = http.post(api, json={"model": "m", "messages": [HELLO], "output_config": {"effort": "low"}, **more})
        assert answer.headers.get("x-unsupported-params") == "output_config.effort"
        return
    off = {"chat_template_kwargs": {"enable_thinking": False}}
    field = {"thinking": {"type": "disabled"}} if name == "thinking" else off
    assert input_tokens(run, http, messages=[HELLO], **field) == prompt_tokens(http, messages=[HELLO], **off)


def tool(name: str = "get_weather", schema: Any = CITY, **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": schema, **more}


def function(name: str = "get_weather", schema: Any = CITY, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema, **more}}


@proves("messages.tools", "messages.tools[].name", "messages.tools[].input_schema")
def test_the_model_calls_a_tool(ask: Ask) -> None:
    answer = ask("weather Paris", tools=[tool(schema=PARIS)])
    assert answer.calls == [WEATHER]
    assert answer.finish == "tool_use"


@proves(*of_both(*(f"tools[].{name}" for name in ("name", "description", "input_schema")), "tools"))
def test_the_model_is_shown_the_tools(run: Run, http: httpx.Client) -> None:
    tools, same = [tool("f", description="the big")], [function("f", description="the big")]
    tokens = input_tokens(run, http, messages=[HELLO], tools=tools)
    assert tokens == prompt_tokens(http, messages=[HELLO], tools=same)
    assert tokens > prompt_tokens(http, messages=[HELLO], tools=[function("f")])


def change(kind: str, tool: dict[str, Any]) -> Body:
    return {"role": "system", "content": [{"type": f"tool_{kind}", "tool": tool}]}


def reference(name: str) -> dict[str, Any]:
    return {"type": "tool_reference", "name": name}


TOOL = f"{BLOCK}.tool"


@proves(*of_both(TOOL, *(f"{TOOL}.{name}" for name in ("type", "name", "definition"))))
@proves(*of_both(*(f"{TOOL}.definition.{name}" for name in ("name", "description", "input_schema"))))
def test_a_conversation_adds_and_removes_tools(run: Run, http: httpx.Client) -> None:
    """The prompt has those that are left at its end."""
    defined = {"type": "tool_definition", "definition": tool("f", description="the big")}
    messages = [HELLO, change("addition", defined), change("removal", reference("g"))]
    tokens = input_tokens(run, http, messages=messages, tools=[tool("g")])
    assert tokens == prompt_tokens(http, messages=[HELLO], tools=[function("f", description="the big")])
    messages += [change("removal", reference("f")), change("addition", reference("g"))]
    tokens = input_tokens(run, http, messages=messages, tools=[tool("g")])
    assert tokens == prompt_tokens(http, messages=[HELLO], tools=[function("g")])
    messages += [change("removal", reference("h"))]
    assert refusal(run, http, messages=messages, tools=[tool("g")]) == (
        "unknown_tool",
        "messages.5.content.0.tool.name",
    )


@proves("messages.tools[].strict")
def test_a_strict_schema_is_enforced_or_refused(ask: Ask) -> None:
    tools = [tool(schema=UNENFORCED, strict=True)]
    code, param = ask.refusal("hello", tools=tools, tool_choice={"type": "any"})
    assert (code, param) == ("unsupported_schema", "tools.0.input_schema.properties.cities.uniqueItems")


@proves("messages.tool_choice", "messages.tool_choice.type")
def test_a_call_is_forced(ask: Ask) -> None:
    assert [name for name, _ in ask("hello", tools=[tool("f")], tool_choice={"type": "any"}).calls][:1] == ["f"]


@proves("messages.tool_choice.type")
def test_no_call_is_allowed(ask: Ask) -> None:
    assert ask("weather Paris", tools=[tool()], tool_choice={"type": "none"}).calls == []


@proves("messages.tool_choice.name")
def test_one_tool_is_forced(ask: Ask) -> None:
    choice = {"type": "tool", "name": "g"}
    assert {name for name, _ in ask("hello", tools=[tool("f"), tool("g")], tool_choice=choice).calls} == {"g"}


@proves("messages.tool_choice.disable_parallel_tool_use")
def test_one_call_at_a_time(ask: Ask) -> None:
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    assert len(ask("both Paris", tools=[tool(), tool("get_time")], tool_choice=choice).calls) == 1


@proves(*(f"count_tokens.{name}" for name in ("tool_choice", "tool_choice.type", "tool_choice.name")))
def test_an_unknown_tool_is_not_counted(run: Run, http: httpx.Client) -> None:
    code_and_param = refusal(run, http, messages=[HELLO], tools=[tool()], tool_choice={"type": "tool", "name": "no"})
    assert code_and_param == ("unknown_tool", "tool_choice.name")


@pytest.mark.parametrize("schema", [{"enum": ["no"]}])
@proves(*(f"messages.output_config{name}" for name in ("", ".format", ".format.type", ".format.schema")))
@proves(*(f"messages.output_format{name}" for name in ("", ".type", ".schema")))
def test_the_form_of_an_answer(ask: Ask, schema: Any) -> None:
    form = {"type": "json_schema", "schema": schema}
    fields = {"output_format": form} if ask.path.startswith("output_format") else {"output_config": {"format": form}}
    assert ask("hello", **fields).text == '"no"'
