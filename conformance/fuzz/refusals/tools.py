"""Verifies refusals of tools, and reads tools of requests."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server
from specvino.document.conditions import value_at
from specvino.document.loading import group

Body = Mapping[str, Any]

Named = tuple[str, str]
"""The kind of a tool, `function` or `custom`, and its name."""

_TEXT = {"type": "text", "text": "hello"}


def unknown_tool(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a choice or a message names an undefined tool, or a call is required although the request has no
    tools."""
    body = refused.body or {}
    if (refused.param or "").endswith(".tool.name"):
        return with_known_tools(body) != body
    defined = callable_tools(body)
    return any(name not in defined for name in named(body)) or (forces(body) and not defined)


def unsupported_tool(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a forced tool can't be called by a model, or no tool of the request is allowed that can be."""
    body = refused.body or {}
    if not forces(body):
        return False
    choice = body.get("tool_choice")
    kinds = (None, "function", "custom", "allowed_tools", "any", "tool")
    other = isinstance(choice, Mapping) and choice.get("type") not in kinds
    tools = callable_tools(body)
    allowed = named(body) if isinstance(choice, Mapping) else tools
    return other or (bool(body.get("tools")) and tools.isdisjoint(allowed))


def invalid_value(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether `param` names a call without a result, or a result without a call, of the messages API."""
    block = refused.value((refused.param or "").rpartition(".")[0])
    is_of_call = isinstance(block, Mapping) and block.get("type") in ("tool_use", "tool_result")
    return is_of_call and matched(refused.value("messages")) != refused.value("messages")


def matched(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns messages of the messages API with texts in place of the calls that have no result in the next message,
    and of the results that have no call in the previous one. System messages don't count."""
    turns = [message for message in messages if message["role"] != "system"]
    contents = {id(turn): _blocks(turn) for turn in turns}
    for turn, following in pairwise([{}, *turns, {}]):
        calls = [block.get("id") for block in _blocks(turn) if block["type"] == "tool_use"]
        results = [block.get("tool_use_id") for block in _blocks(following) if block["type"] == "tool_result"]
        ids = {call for call in calls if calls.count(call) == results.count(call) == 1}
        for message, field in ((turn, "id"), (following, "tool_use_id")):
            if message:
                contents[id(message)] = [_text_unless(block, field, ids) for block in contents[id(message)]]
    return [
        {**message, "content": content} if (content := contents.get(id(message))) else message for message in messages
    ]


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _text_unless(block: dict[str, Any], field: str, ids: set[str | None]) -> dict[str, Any]:
    """Returns a text in place of a block whose ID, in `field`, isn't among the IDs."""
    return _TEXT if field in block and block[field] not in ids else block


def forces(body: Body) -> bool:
    """Returns whether the tool choice of a body forces a call."""
    return any(group("forced_call").matches(partial(value_at, body)))


def callable_tools(body: Body) -> set[Named]:
    """Returns the tools that a model can call, those in items too. A tool of a namespace has two names."""
    tools = set(_declared_tools(body))
    known = set(tools)
    for block, tool in _tool_changes(body):
        if "definition" in block["tool"]:
            known.add(tool)
        if block["type"] == "tool_removal":
            tools.discard(tool)
        elif tool in known:
            tools.add(tool)
    return tools


def with_known_tools(body: Body) -> Body:
    """Returns a body of the messages API with texts in place of the changes of tools that aren't defined before."""
    known = set(_declared_tools(body))
    unknown: set[int] = set()
    for block, tool in _tool_changes(body):
        if "definition" in block["tool"]:
            known.add(tool)
        elif tool not in known:
            unknown.add(id(block))  # an equal one may come after the definition
    if not unknown:
        return body
    messages = [
        {**message, "content": [_TEXT if id(block) in unknown else block for block in blocks]}
        if (blocks := _blocks(message))
        else message
        for message in body["messages"]
    ]
    return {**body, "messages": messages}


def _tool_changes(body: Body) -> Iterator[tuple[Mapping[str, Any], Named]]:
    """Yields the blocks of system messages that add or remove a tool, with the tool."""
    for message in body.get("messages") or ():
        for block in _blocks(message) if message.get("role") == "system" else ():
            if block.get("type") in ("tool_addition", "tool_removal"):
                yield block, ("function", block["tool"].get("definition", block["tool"])["name"])


def _declared_tools(body: Body) -> Iterator[Named]:
    for function in body.get("functions") or ():
        yield "function", str(function.get("name"))
    input = body.get("input")
    items = [item.get("tools") or () for item in input if isinstance(item, Mapping)] if isinstance(input, list) else []
    for tools in (body.get("tools") or (), *items):
        yield from _named_tools(tools)


def _named_tools(tools: Iterable[Any]) -> Iterator[Named]:
    for tool in tools:
        kind = "function" if "input_schema" in tool else tool.get("type") or "function"
        if kind == "namespace":
            for inner, name in _named_tools(tool.get("tools") or ()):
                yield inner, name
                yield inner, f"{tool.get('name')}__{name}"
        elif kind == "tool_search":
            if tool.get("execution") == "client":
                yield "tool_search", "tool_search"
        elif kind in ("function", "custom"):
            yield from _name(kind, tool)


def named(body: Body) -> list[Named]:
    """Returns the tools that the tool choice names."""
    return [name for field in ("tool_choice", "function_call") for name in _named(body.get(field))]


def _named(choice: Any) -> Iterator[Named]:
    if not isinstance(choice, Mapping):
        return
    if choice.get("type") == "allowed_tools":
        for reference in choice.get("allowed_tools", choice).get("tools") or ():
            yield from _named(reference)
    elif (kind := choice.get("type") or "function") in ("function", "custom", "tool"):
        yield from _name("function" if kind == "tool" else kind, choice)


def _name(kind: str, tool: Mapping[str, Any]) -> Iterator[Named]:
    """Yields the kind and name of a tool, or of a reference to one, nested or flat."""
    nested = tool.get(kind)
    name = nested.get("name") if isinstance(nested, Mapping) else tool.get("name")
    if isinstance(name, str):
        yield kind, name
