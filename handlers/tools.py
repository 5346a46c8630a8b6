"""Tool calling: what the model may call, and whether it must, by tools and every kind of tool_choice."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from specvino.engine.errors import ConstraintError
from specvino.engine.protocol import Calling
from specvino.engine.request import Tool
from specvino.engine.segments import Started
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.or_none import or_none

Definition = models.FunctionDefinition | models.FlatFunctionTool


@dataclass(frozen=True, slots=True)
class ToolFields:
    """The fields of a request that concern tool calling; `functions` and `function_call` are their legacy names."""

    tools: Sequence[Any] = ()
    tool_choice: Any = None
    parallel_tool_calls: bool = True
    functions: Sequence[models.FunctionDefinition] = ()
    function_call: object = None


@dataclass(frozen=True, slots=True)
class _ToolChoice:
    """Of which functions (None: any) which use is made; `param` is the field that says so."""

    mode: str = "auto"
    names: tuple[str, ...] | None = None
    param: str = "tool_choice"
    one: bool = False


@dataclass(frozen=True, slots=True)
class ToolCalling:
    """`tools` are those that may be called and `params` the fields that they come from.

    `forced_by` is the field that demands a call. `legacy`: the request has functions instead of tools, and so the
    answer has a function_call. `unsupported` are the fields without effect.
    """

    tools: tuple[Tool, ...] = ()
    params: tuple[str, ...] = ()
    forced_by: str | None = None
    parallel: bool = True
    legacy: bool = False
    unsupported: tuple[str, ...] = ()

    def unenforced(self, started: Started) -> list[str]:
        """Returns the fields that calls won't be constrained by, though they are forced or strict."""
        return [self._param_of(tool, path) for tool, path in started.unenforced_arguments]

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Makes an ApiError of what an engine says against a tool's parameters."""
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
                message = f"{param} can't be enforced, as strict demands: {error}."
                raise ApiError(ErrorCode.UNSUPPORTED_SCHEMA, message, param=param) from error
            raise ApiError(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {error}.", param=param) from error

    def _param_of(self, tool: int, path: Iterable[str | int]) -> str:
        return ".".join(map(str, (self.params[tool], "parameters", *path)))


def tool_calling(
    fields: ToolFields, calling: Calling | None, *, strict: bool = False, constrainable: bool = True
) -> ToolCalling:
    """Returns what a model that can do `calling` may or must call; `strict` refuses what of any tool can't be enforced.

    Raises ApiError.
    """
    if fields.functions or isinstance(fields.function_call, models.FunctionName):
        known: dict[str, Definition] = {f"functions.{index}": each for index, each in enumerate(fields.functions)}
        found = _calling(fields, known, _legacy_choice(fields.function_call), calling, strict, constrainable)
        return replace(found, parallel=False, legacy=True)
    return _calling(fields, _definitions(fields.tools), _choice(fields.tool_choice), calling, strict, constrainable)


def _definitions(tools: Iterable[Any]) -> dict[str, Definition]:
    """Returns the functions by the fields that they come from. Other tools are left out."""
    found: dict[str, Definition] = {}
    for index, tool in enumerate(tools):
        if isinstance(tool, models.FunctionTool):
            found[f"tools.{index}.function"] = tool.function
        elif isinstance(tool, models.FlatFunctionTool):
            found[f"tools.{index}"] = tool
    return found


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
    return _ToolChoice(mode, tuple(name for each in references if (name := _name(each)) is not None), param)


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
    fields: ToolFields,
    known: Mapping[str, Definition],
    choice: _ToolChoice,
    calling: Calling | None,
    strict: bool,
    constrainable: bool,
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
        _require_callable(fields, chosen, choice)
    # Where nothing forces a call, those that the model makes can be held to the schemas of strict tools.
    holds = not forced and calling == "strict" and constrainable
    return ToolCalling(
        tools=tuple(_tool(each, strict=strict, forced=forced, holds=holds) for each in chosen.values()),
        params=tuple(chosen),
        forced_by=choice.param if forced else None,
        parallel=fields.parallel_tool_calls and not choice.one,
        unsupported=() if forced else tuple(_unsupported(chosen, calling, holds)),
    )


def _unsupported(chosen: Mapping[str, Definition], calling: Calling | None, holds: bool) -> Iterator[str]:
    """Yields the fields that mean nothing to a model that may call or not; `holds` says that strict schemas do."""
    if chosen and calling in ("forced", None):
        yield "tools" if "tools" in next(iter(chosen)) else "functions"
        return
    for param, definition in chosen.items():
        if or_none(definition.strict) and not holds:
            yield f"{param}.strict"


def _require_callable(fields: ToolFields, chosen: Mapping[str, Definition], choice: _ToolChoice) -> None:
    if not chosen:
        if fields.tools:
            message = f"{choice.param} demands a call, but only functions can be called, and the request has none."
            raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param=choice.param)
        message = f"{choice.param} demands a call, but the request has no functions."
        raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)


def _tool(definition: Definition, *, strict: bool, forced: bool, holds: bool) -> Tool:
    """Returns the function. A strict one that is forced is refused where its schema can't be enforced; else that is
    told."""
    parameters = or_none(definition.parameters)
    wanted = bool(or_none(definition.strict))
    return Tool(
        name=definition.name,
        description=or_none(definition.description),
        parameters=parameters,
        strict=strict or (forced and wanted),
        held=holds and wanted,
    )


def _listed(names: Iterable[str]) -> str:
    shown = ", ".join(repr(name) for name in sorted(names)[:20])
    return f"the functions {shown}" if shown else "no functions"
