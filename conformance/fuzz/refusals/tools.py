"""Tools in a request, and their refusals."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from specvino.conformance.fuzz.refusals.refused import Refused
from specvino.conformance.fuzz.server import Server
from specvino.document.conditions import value_at
from specvino.document.loading import group

Body = Mapping[str, Any]


def unknown_tool(refused: Refused, server: Server) -> bool:
    """Returns whether a choice names an undefined function, or requires a call although the request has no tools."""
    body = refused.body or {}
    known = set(functions(body))
    return any(name not in known for name in named(body)) or (forces(body) and not known)


def unsupported_tool(refused: Refused, server: Server) -> bool:
    """Returns whether a forced tool isn't a function, or no function of the request is allowed to be called."""
    body = refused.body or {}
    if not forces(body):
        return False
    choice = body.get("tool_choice")
    other = isinstance(choice, Mapping) and choice.get("type") not in (None, "function", "allowed_tools")
    allowed = named(body) if isinstance(choice, Mapping) else functions(body)
    return other or (bool(body.get("tools")) and not set(functions(body)) & set(allowed))


def forces(body: Body) -> bool:
    """Returns whether the tool choices of a body force a call."""
    return any(group("forced_call").matches(partial(value_at, body)))


def functions(body: Body) -> dict[str, Mapping[str, Any]]:
    """Returns the functions that the model may see, by name."""
    functions = list(body.get("functions") or ())
    for tool in body.get("tools") or ():
        if isinstance(tool.get("function"), Mapping):
            functions.append(tool["function"])
        elif tool.get("type") == "function":
            functions.append(tool)
    return {str(function["name"]): function for function in functions if "name" in function}


def named(body: Body) -> list[str]:
    """Returns the functions that a choice names."""
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
