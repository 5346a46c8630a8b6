"""Verifies refusals of tools, and reads tools of requests."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server
from specvino.document.conditions import value_at
from specvino.document.loading import group

Body = Mapping[str, Any]

Named = tuple[str, str]
"""The kind of a tool, `function` or `custom`, and its name."""


def unknown_tool(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a choice names an undefined tool, or requires a call although the request has no tools."""
    body = refused.body or {}
    defined = set(callable_tools(body))
    return any(name not in defined for name in named(body)) or (forces(body) and not defined)


def unsupported_tool(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a forced tool can't be called by a model, or no tool of the request is allowed that can be."""
    body = refused.body or {}
    if not forces(body):
        return False
    choice = body.get("tool_choice")
    other = isinstance(choice, Mapping) and choice.get("type") not in (None, "function", "custom", "allowed_tools")
    allowed = set(named(body) if isinstance(choice, Mapping) else callable_tools(body))
    return other or (bool(body.get("tools")) and not allowed.intersection(callable_tools(body)))


def forces(body: Body) -> bool:
    """Returns whether the tool choice of a body forces a call."""
    return any(group("forced_call").matches(partial(value_at, body)))


def callable_tools(body: Body) -> Iterator[Named]:
    """Yields the tools that a model can call, those in items too. A tool of a namespace has two names."""
    for function in body.get("functions") or ():
        yield "function", str(function.get("name"))
    input = body.get("input")
    items = [item.get("tools") or () for item in input if isinstance(item, Mapping)] if isinstance(input, list) else []
    for tools in (body.get("tools") or (), *items):
        yield from _named_tools(tools)


def _named_tools(tools: Iterable[Any]) -> Iterator[Named]:
    for tool in tools:
        kind = tool.get("type") or "function"
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
    elif (kind := choice.get("type") or "function") in ("function", "custom"):
        yield from _name(kind, choice)


def _name(kind: str, tool: Mapping[str, Any]) -> Iterator[Named]:
    """Yields the kind and name of a tool, or of a reference to one, nested or flat."""
    nested = tool.get(kind)
    name = nested.get("name") if isinstance(nested, Mapping) else tool.get("name")
    if isinstance(name, str):
        yield kind, name
