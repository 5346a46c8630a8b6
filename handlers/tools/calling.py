"""The tools that the model may or must call, by every kind of `tool_choice`."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from specvino.document.loading import group
from specvino.engine.errors import ConstraintError
from specvino.engine.protocol import Calling
from specvino.engine.request import Tool
from specvino.engine.segments import Started
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import lookup, or_none, value_of
from specvino.handlers.tools.offered import OfferedTool, ToolKind, function, offered

Named = tuple[ToolKind, str]


@dataclass(frozen=True, slots=True)
class _ToolChoice:
    """A choice of tools: `named` are the kinds and names of those that may or must be called, None for all; `param` is
    the field with the choice. `one` allows one call only."""

    mode: str = "auto"
    named: tuple[Named, ...] | None = None
    param: str = "tool_choice"
    one: bool = False

    def allows(self, tool: OfferedTool) -> bool:
        """Returns whether a tool may be called. A name may be that of the model, or that in any namespace."""
        names = ((tool.kind, tool.name), (tool.kind, tool.function_name))
        return self.named is None or any(name in self.named for name in names)


@dataclass(frozen=True, slots=True)
class ToolCalling:
    """The tools that may be called: `tools` for the engine, and the same as `offered` by the request. `forced_by` is
    the field that requires a call. With `legacy` the request has functions instead of tools, so the answer has a
    function_call. `unsupported` are the fields without effect.
    """

    tools: tuple[Tool, ...] = ()
    offered: tuple[OfferedTool, ...] = ()
    forced_by: str | None = None
    parallel: bool = True
    legacy: bool = False
    unsupported: tuple[str, ...] = ()

    def called(self, function_name: str) -> OfferedTool:
        """Returns the tool that the model calls by this name; a function, if the request doesn't describe it."""
        known = (tool for tool in self.offered if tool.function_name == function_name)
        return next(known, OfferedTool("", function_name))

    def unenforced(self, started: Started) -> list[str]:
        """Returns the fields of forced or strict calls that can't be enforced."""
        return [self._param_of(tool, path) for tool, path in started.unenforced_arguments]

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Converts an engine's error about the parameters of a tool to an ApiError."""
        try:
            yield
        except ConstraintError as error:
            if error.tool is None and self.forced_by is None:
                raise
            if error.tool is None:
                param = self.offered[0].param.partition(".")[0]
                raise ApiError(
                    ErrorCode.INVALID_SCHEMA, f"{param} can't be used together: {error}.", param=param
                ) from error
            param = self._param_of(error.tool, error.path)
            if error.unsupported:
                reason = "as strict requires" if self.offered[error.tool].strict else "as the tool requires"
                message = f"{param} can't be enforced, {reason}: {error}."
                raise ApiError(ErrorCode.UNSUPPORTED_SCHEMA, message, param=param) from error
            raise ApiError(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {error}.", param=param) from error

    def _param_of(self, index: int, path: Iterable[str | int]) -> str:
        tool = self.offered[index]
        if tool.kind == "custom":
            return tool.schema_param or tool.param
        return ".".join(map(str, (tool.schema_param, *path)))


def tool_calling(
    body: BaseModel,
    calling: Calling | None,
    *,
    more: Iterable[OfferedTool] = (),
    removed: Container[str] = (),
    strict: bool = False,
) -> ToolCalling:
    """Returns the tools that a model with `calling` may or must call: those in the body's fields that aren't `removed`
    by its conversation, and `more` of that. `strict` rejects schemas of tools that can't be enforced.

    Raises ApiError.
    """
    functions, function_call = value_of(body, "functions") or (), value_of(body, "function_call")
    if functions or isinstance(function_call, models.FunctionName):
        named = [function(definition, f"functions.{index}") for index, definition in enumerate(functions)]
        legacy = _calling(body, named, _legacy_choice(function_call), calling, strict)
        return replace(legacy, parallel=False, legacy=True)
    own = (tool for tool in offered(value_of(body, "tools") or ()) if tool.param not in removed)
    tools = [*own, *more]
    return _calling(body, tools, _choice(value_of(body, "tool_choice")), calling, strict)


def _legacy_choice(choice: object) -> _ToolChoice:
    if isinstance(choice, models.FunctionName):
        return _ToolChoice("required", (("function", choice.name),), "function_call.name", one=True)
    return _ToolChoice(choice if isinstance(choice, str) else "auto", param="function_call")


def _choice(choice: Any) -> _ToolChoice:
    match choice:
        case None:
            return _ToolChoice()
        case str():
            return _ToolChoice(choice)
        case models.NamedToolChoice():
            return _ToolChoice("required", (("function", choice.function.name),), "tool_choice.function.name", one=True)
        case models.FlatNamedToolChoice():
            return _ToolChoice("required", (("function", choice.name),), "tool_choice.name", one=True)
        case models.CustomToolChoice():
            return _ToolChoice("required", (("custom", choice.custom.name),), "tool_choice.custom.name", one=True)
        case models.FlatCustomToolChoice():
            return _ToolChoice("required", (("custom", choice.name),), "tool_choice.name", one=True)
        case models.AllowedToolsChoice():
            return _allowed(choice.allowed_tools.mode, choice.allowed_tools.tools, "tool_choice.allowed_tools.tools")
        case models.FlatAllowedToolsChoice():
            return _allowed(choice.mode, choice.tools, "tool_choice.tools")
        case models.AnthropicToolChoice() | models.AnthropicCountedToolChoice():
            return _anthropic(choice)
    message = f"tool_choice forces a tool of the type {choice.type}; the model can call functions and custom tools."
    raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param="tool_choice")


def _anthropic(choice: models.AnthropicToolChoice | models.AnthropicCountedToolChoice) -> _ToolChoice:
    one = bool(or_none(choice.disable_parallel_tool_use))
    match choice.type:
        case "any":
            return _ToolChoice("required", one=one)
        case "tool":
            return _ToolChoice("required", (("function", or_none(choice.name) or ""),), "tool_choice.name", one=one)
    return _ToolChoice(choice.type, one=one)


def _allowed(mode: str, references: Iterable[Any], param: str) -> _ToolChoice:
    return _ToolChoice(mode, tuple(named for reference in references if (named := _named(reference))), param)


def _named(reference: Any) -> Named | None:
    """Returns the function or custom tool that a reference names, nested or flat; None for tools of other kinds."""
    if isinstance(reference, BaseModel):
        reference = reference.model_dump()
    kind = reference.get("type", "function")
    if kind not in ("function", "custom"):
        return None
    nested = reference.get(kind)
    name = nested.get("name") if isinstance(nested, Mapping) else reference.get("name")
    return (kind, name) if isinstance(name, str) else None


def _calling(
    body: BaseModel, known: Sequence[OfferedTool], choice: _ToolChoice, calling: Calling | None, strict: bool
) -> ToolCalling:
    forced = choice.mode == "required"
    for kind, name in choice.named or ():
        if not any((kind, name) in ((tool.kind, tool.name), (tool.kind, tool.function_name)) for tool in known):
            names = {tool.function_name for tool in known if tool.kind == kind}
            message = f"{choice.param} names {name[:200]!r}, but the request has {_listed(kind, names)}."
            raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)
    if choice.mode == "none":
        return ToolCalling()
    chosen = [tool for tool in known if choice.allows(tool)]
    if forced:
        _require_callable(body, chosen, choice)
    # Without a forced call, optional calls can be constrained to the schemas of strict tools.
    holds = not forced and calling == "strict" and not any(group("unconstrained").matches(lookup(body)))
    return ToolCalling(
        tools=tuple(_tool(tool, strict=strict, forced=forced, holds=holds) for tool in chosen),
        offered=tuple(chosen),
        forced_by=choice.param if forced else None,
        parallel=value_of(body, "parallel_tool_calls") is not False and not choice.one,
        unsupported=() if forced else tuple(_unsupported(chosen, calling, holds)),
    )


def _unsupported(chosen: Sequence[OfferedTool], calling: Calling | None, holds: bool) -> Iterator[str]:
    """Yields the fields without effect if no call is forced. With `holds`, strict schemas have an effect."""
    if chosen and calling in ("forced", None):
        yield from dict.fromkeys(tool.param.partition(".")[0] for tool in chosen)
        return
    if holds:
        return
    for tool in chosen:
        if tool.strict:
            yield f"{tool.param}.strict"
        if tool.kind == "custom" and tool.schema_param:
            yield tool.schema_param


def _require_callable(body: BaseModel, chosen: Sequence[OfferedTool], choice: _ToolChoice) -> None:
    if not chosen:
        if value_of(body, "tools"):
            reason = (
                "the model can't call any tool of the request" if choice.named is None else "it allows no such tool"
            )
            message = f"{choice.param} requires a tool call, but {reason}; it can call functions and custom tools."
            raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param=choice.param)
        message = f"{choice.param} requires a tool call, but the request has no tools."
        raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)


def _tool(tool: OfferedTool, *, strict: bool, forced: bool, holds: bool) -> Tool:
    """Returns a tool for the engine. A schema that can't be enforced is rejected if the tool is strict and a call is
    forced, else reported. The grammar of a custom tool is strict.
    """
    is_strict = tool.strict or (tool.kind == "custom" and tool.schema_param is not None)
    return Tool(
        name=tool.function_name,
        description=tool.description,
        parameters=tool.parameters,
        strict=strict or (forced and is_strict),
        held=holds and (is_strict or tool.kind == "custom"),
    )


def _listed(kind: ToolKind, names: Iterable[str]) -> str:
    shown = ", ".join(repr(name) for name in sorted(names)[:20])
    plural = "custom tools" if kind == "custom" else "functions"
    return f"the {plural} {shown}" if shown else f"no {plural}"


def arguments_of(text: str) -> dict[str, Any]:
    """Returns the arguments of a call from their JSON text; empty if the answer ended before they did."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
