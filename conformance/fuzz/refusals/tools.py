"""Verifies refusals of tools, and reads tools of requests."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server
from specvino.document.conditions import value_at
from specvino.document.loading import group

Body = Mapping[str, Any]


def unknown_tool(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a choice names an undefined function, or requires a call although the request has no tools."""
    body = refused.body or {}
    defined = set(functions(body))
    return any(name not in defined for name in named(body)) or (forces(body) and not defined)


def unsupported_tool(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a forced tool isn't a function, or no function of the request is allowed."""
    body = refused.body or {}
    if not forces(body):
        return False
    choice = body.get("tool_choice")
    other = isinstance(choice, Mapping) and choice.get("type") not in (None, "function", "allowed_tools")
    allowed = named(body) if isinstance(choice, Mapping) else functions(body)
    return other or (bool(body.get("tools")) and not set(functions(body)) & set(allowed))


def forces(body: Body) -> bool:
    """Returns whether the tool choice of a body forces a call."""
    return any(group("forced_call").matches(partial(value_at, body)))


def functions(body: Body) -> dict[str, Mapping[str, Any]]:
    """Returns the functions that the model can see, by name."""
    functions = list(body.get("functions") or ())
    for tool in body.get("tools") or ():
        if isinstance(tool.get("function"), Mapping):
            functions.append(tool["function"])
        elif tool.get("type") == "function":
            functions.append(tool)
    return {str(function["name"]): function for function in functions if "name" in function}


def named(body: Body) -> list[str]:
    """Returns the names of functions in the tool choice."""
    return [name for field in ("tool_choice", "function_call") for name in _named(body.get(field))]


def _named(choice: Any) -> Iterator[str]:
    if not isinstance(choice, Mapping):
        return
    if choice.get("type") == "allowed_tools":
        for reference in choice.get("allowed_tools", choice).get("tools") or ():
            if reference.get("type", "function") == "function":
                yield from _name(reference)
    elif choice.get("type", "function") in (None, "function"):
        yield from _name(choice)


def _name(reference: Mapping[str, Any]) -> Iterator[str]:
    function = reference.get("function")
    name = function.get("name") if isinstance(function, Mapping) else reference.get("name")
    if isinstance(name, str):
        yield name
