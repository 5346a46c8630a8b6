"""Tool calling: the tools that the model may or must call, from `tools` and every kind of `tool_choice`."""

from collections.abc import Iterable, Iterator, Mapping
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
from specvino.handlers.or_none import lookup, or_none, value_of

Definition = models.FunctionDefinition | models.FlatFunctionTool


@dataclass(frozen=True, slots=True)
class _ToolChoice:
    """A choice of tools: `names` are the functions that may or must be called, None for all; `param` is the field with
    the choice. `one` allows one call only."""

    mode: str = "auto"
    names: tuple[str, ...] | None = None
    param: str = "tool_choice"
    one: bool = False


@dataclass(frozen=True, slots=True)
class ToolCalling:
    """The `tools` that may be called; `params` are their fields. `forced_by` is the field that requires a call. With
    `legacy` the request has functions instead of tools, so the answer has a function_call. `unsupported` are the fields
    without effect.
    """

    tools: tuple[Tool, ...] = ()
    params: tuple[str, ...] = ()
    forced_by: str | None = None
    parallel: bool = True
    legacy: bool = False
    unsupported: tuple[str, ...] = ()

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
                param = self.params[0].partition(".")[0]
                raise ApiError(
                    ErrorCode.INVALID_SCHEMA, f"{param} can't be used together: {error}.", param=param
                ) from error
            param = self._param_of(error.tool, error.path)
            if error.unsupported:
                message = f"{param} can't be enforced, as strict requires: {error}."
                raise ApiError(ErrorCode.UNSUPPORTED_SCHEMA, message, param=param) from error
            raise ApiError(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {error}.", param=param) from error

    def _param_of(self, tool: int, path: Iterable[str | int]) -> str:
        return ".".join(map(str, (self.params[tool], "parameters", *path)))


def tool_calling(body: BaseModel, calling: Calling | None, *, strict: bool = False) -> ToolCalling:
    """Returns the tools that a model with `calling` may or must call. `strict` rejects schemas of tools that can't be
    enforced.

    Raises ApiError.
    """
    functions, function_call = value_of(body, "functions") or (), value_of(body, "function_call")
    if functions or isinstance(function_call, models.FunctionName):
        named: dict[str, Definition] = {f"functions.{index}": function for index, function in enumerate(functions)}
        legacy = _calling(body, named, _legacy_choice(function_call), calling, strict)
        return replace(legacy, parallel=False, legacy=True)
    definitions = _definitions(value_of(body, "tools") or ())
    return _calling(body, definitions, _choice(value_of(body, "tool_choice")), calling, strict)


def _definitions(tools: Iterable[Any]) -> dict[str, Definition]:
    """Returns the functions by field. Other tools are left out."""
    functions: dict[str, Definition] = {}
    for index, tool in enumerate(tools):
        if isinstance(tool, models.FunctionTool):
            functions[f"tools.{index}.function"] = tool.function
        elif isinstance(tool, models.FlatFunctionTool):
            functions[f"tools.{index}"] = tool
    return functions


def _legacy_choice(choice: object) -> _ToolChoice:
    if isinstance(choice, models.FunctionName):
        return _ToolChoice("required", (choice.name,), "function_call.name", one=True)
    return _ToolChoice(choice if isinstance(choice, str) else "auto", param="function_call")


def _choice(choice: Any) -> _ToolChoice:
    match choice:
        case None:
            return _ToolChoice()
        case str():
            return _ToolChoice(choice)
        case models.NamedToolChoice():
            return _ToolChoice("required", (choice.function.name,), "tool_choice.function.name", one=True)
        case models.FlatNamedToolChoice():
            return _ToolChoice("required", (choice.name,), "tool_choice.name", one=True)
        case models.AllowedToolsChoice():
            return _allowed(choice.allowed_tools.mode, choice.allowed_tools.tools, "tool_choice.allowed_tools.tools")
        case models.FlatAllowedToolsChoice():
            return _allowed(choice.mode, choice.tools, "tool_choice.tools")
    message = f"tool_choice forces a tool of the type {choice.type}; only functions can be called here."
    raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param="tool_choice")


def _allowed(mode: str, references: Iterable[Any], param: str) -> _ToolChoice:
    return _ToolChoice(mode, tuple(name for reference in references if (name := _name(reference)) is not None), param)


def _name(reference: Any) -> str | None:
    """Returns the function that a reference names, nested or flat; None for tools of other kinds."""
    if isinstance(reference, BaseModel):
        reference = reference.model_dump()
    if reference.get("type", "function") != "function":
        return None
    function = reference.get("function")
    name = function.get("name") if isinstance(function, Mapping) else reference.get("name")
    return name if isinstance(name, str) else None


def _calling(
    body: BaseModel,
    known: Mapping[str, Definition],
    choice: _ToolChoice,
    calling: Calling | None,
    strict: bool,
) -> ToolCalling:
    forced = choice.mode == "required"
    names = {definition.name for definition in known.values()}
    for name in choice.names or ():
        if name not in names:
            message = f"{choice.param} names {name[:200]!r}, but the request has {_listed(names)}."
            raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)
    if choice.mode == "none":
        return ToolCalling()
    chosen = {
        param: definition
        for param, definition in known.items()
        if choice.names is None or definition.name in choice.names
    }
    if forced:
        _require_callable(body, chosen, choice)
    # Without a forced call, optional calls can be constrained to the schemas of strict tools.
    holds = not forced and calling == "strict" and not any(group("unconstrained").matches(lookup(body)))
    return ToolCalling(
        tools=tuple(_tool(function, strict=strict, forced=forced, holds=holds) for function in chosen.values()),
        params=tuple(chosen),
        forced_by=choice.param if forced else None,
        parallel=value_of(body, "parallel_tool_calls") is not False and not choice.one,
        unsupported=() if forced else tuple(_unsupported(chosen, calling, holds)),
    )


def _unsupported(chosen: Mapping[str, Definition], calling: Calling | None, holds: bool) -> Iterator[str]:
    """Yields the fields without effect if no call is forced. With `holds`, strict schemas have an effect."""
    if chosen and calling in ("forced", None):
        yield "tools" if "tools" in next(iter(chosen)) else "functions"
        return
    for param, definition in chosen.items():
        if or_none(definition.strict) and not holds:
            yield f"{param}.strict"


def _require_callable(body: BaseModel, chosen: Mapping[str, Definition], choice: _ToolChoice) -> None:
    if not chosen:
        if value_of(body, "tools"):
            reason = "no tool of the request is a function" if choice.names is None else "it allows no function"
            message = f"{choice.param} requires a tool call, but {reason}."
            raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param=choice.param)
        message = f"{choice.param} requires a tool call, but the request has no tools."
        raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)


def _tool(definition: Definition, *, strict: bool, forced: bool, holds: bool) -> Tool:
    """Returns a function for the engine. A schema that can't be enforced is rejected if the function is strict and a
    call is forced, else reported.
    """
    parameters = or_none(definition.parameters)
    is_strict = bool(or_none(definition.strict))
    return Tool(
        name=definition.name,
        description=or_none(definition.description),
        parameters=parameters,
        strict=strict or (forced and is_strict),
        held=holds and is_strict,
    )


def _listed(names: Iterable[str]) -> str:
    shown = ", ".join(repr(name) for name in sorted(names)[:20])
    return f"the functions {shown}" if shown else "no functions"
