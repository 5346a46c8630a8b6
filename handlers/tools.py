"""What the model may call, and whether it must: tools and tool_choice in all their forms."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from specvino.engine.errors import ConstraintError
from specvino.engine.protocol import Calling
from specvino.engine.request import Conversation, GenerationRequest, Tool
from specvino.engine.segments import Started
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError
from specvino.handlers.given import given
from specvino.handlers.refusals import without_effect
from specvino.handlers.sampling import beyond_forms

Body = models.CreateChatCompletionRequest | models.CreateResponseRequest
Definition = models.FunctionDefinition | models.FlatFunctionTool


@dataclass(frozen=True, slots=True)
class Choice:
    """Of which functions (None: any) which use is made; `param` is the field that says so."""

    mode: str = "auto"
    names: tuple[str, ...] | None = None
    param: str = "tool_choice"
    one: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """`tools` are those that may be called and `params` the fields that they come from.

    `forced_by` is the field that demands a call. `former`: the request has functions instead of tools, and so the
    answer has a function_call.
    """

    tools: tuple[Tool, ...] = ()
    params: tuple[str, ...] = ()
    forced_by: str | None = None
    parallel: bool = True
    former: bool = False

    def applied(self, request: GenerationRequest, variables: str) -> GenerationRequest:
        """The request with the tools, and with variables for the chat template."""
        prompts = (
            replace(prompt, tools=self.tools, variables=variables) if isinstance(prompt, Conversation) else prompt
            for prompt in request.prompts
        )
        return replace(
            request, prompts=tuple(prompts), must_call=self.forced_by is not None, parallel_calls=self.parallel
        )

    def unenforced(self, started: Started) -> list[str]:
        """The fields that forced calls won't be held to."""
        return [self._param_of(tool, path) for tool, path in started.unenforced_arguments]

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """What an engine says against a tool's parameters becomes an ApiError."""
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


def of_chat(context: RequestContext, body: models.CreateChatCompletionRequest, calling: Calling | None) -> Offer:
    """`calling` is what the served model can do. Raises ApiError."""
    functions, tools = given(body.functions) or [], given(body.tools) or []
    if functions and tools:
        message = "functions is the former name of tools; accepted is one of them."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="functions")
    call = given(body.function_call)
    if functions or isinstance(call, models.FunctionName):
        known: dict[str, Definition] = {f"functions.{index}": function for index, function in enumerate(functions)}
        return replace(_offer(context, body, known, _former_choice(call), calling), parallel=False, former=True)
    return _offer(context, body, _definitions(tools), _choice(given(body.tool_choice)), calling)


def of_response(context: RequestContext, body: models.CreateResponseRequest, calling: Calling | None) -> Offer:
    """As `of_chat`."""
    return _offer(context, body, _definitions(given(body.tools) or ()), _choice(given(body.tool_choice)), calling)


def _definitions(tools: Iterable[Any]) -> dict[str, Definition]:
    """The functions by the fields that they come from. Other tools are left out."""
    found: dict[str, Definition] = {}
    for index, tool in enumerate(tools):
        if isinstance(tool, models.FunctionTool):
            found[f"tools.{index}.function"] = tool.function
        elif isinstance(tool, models.FlatFunctionTool):
            found[f"tools.{index}"] = tool
    return found


def _former_choice(choice: object) -> Choice:
    if isinstance(choice, models.FunctionName):
        return Choice("required", (choice.name,), "function_call.name", one=True)
    return Choice(choice if isinstance(choice, str) else "auto", param="function_call")


def _choice(choice: Any) -> Choice:
    match choice:
        case None:
            return Choice()
        case str():
            return Choice(choice)
        case models.NamedToolChoice():
            return Choice("required", (choice.function.name,), "tool_choice.function.name", one=True)
        case models.FlatNamedToolChoice():
            return Choice("required", (choice.name,), "tool_choice.name", one=True)
        case models.AllowedToolsChoice():
            return _allowed(choice.allowed_tools.mode, choice.allowed_tools.tools, "tool_choice.allowed_tools.tools")
        case models.FlatAllowedToolsChoice():
            return _allowed(choice.mode, choice.tools, "tool_choice.tools")
    message = f"tool_choice forces a tool of the type {choice.type}; only functions can be called here."
    raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param="tool_choice")


def _allowed(mode: str, references: Iterable[Any], param: str) -> Choice:
    return Choice(mode, tuple(name for each in references if (name := _name(each)) is not None), param)


def _name(reference: Any) -> str | None:
    """The function that a reference names, in either form; None for tools of other kinds."""
    if isinstance(reference, BaseModel):
        reference = reference.model_dump()
    if reference.get("type", "function") != "function":
        return None
    function = reference.get("function")
    name = function.get("name") if isinstance(function, Mapping) else reference.get("name")
    return name if isinstance(name, str) else None


def _offer(
    context: RequestContext, body: Body, known: Mapping[str, Definition], choice: Choice, calling: Calling | None
) -> Offer:
    forced = choice.mode == "required"
    names = {definition.name for definition in known.values()}
    for name in choice.names or ():
        if name not in names:
            message = f"{choice.param} names {name[:200]!r}, but the request has {_listed(names)}."
            raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)
    if choice.mode == "none":
        return Offer()
    chosen = {
        param: definition
        for param, definition in known.items()
        if choice.names is None or definition.name in choice.names
    }
    if forced:
        _require_callable(body, chosen, choice, calling)
    elif chosen and calling != "taught":
        without_effect(context, "tools" if "tools" in next(iter(chosen)) else "functions")
    else:
        for param, definition in chosen.items():
            if given(definition.strict):  # what the model does of itself is not held to anything
                without_effect(context, f"{param}.strict")
    return Offer(
        tools=tuple(_tool(definition, strict=context.refuses_unsupported) for definition in chosen.values()),
        params=tuple(chosen),
        forced_by=choice.param if forced else None,
        parallel=given(body.parallel_tool_calls) is not False and not choice.one,
    )


def _require_callable(body: Body, chosen: Mapping[str, Definition], choice: Choice, calling: Calling | None) -> None:
    if not chosen:
        if given(body.tools):
            message = f"{choice.param} demands a call, but no function can be called: other tools can't be, here."
            raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param=choice.param)
        message = f"{choice.param} demands a call, but the request has no functions."
        raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=choice.param)
    if calling is None:
        message = f"{choice.param} demands a call, but this server was started with --tool-parser none."
        raise ApiError(ErrorCode.UNSUPPORTED_TOOL, message, param=choice.param)
    for param in beyond_forms(body):
        message = f"{param} can't be had together with {choice.param}: the pipeline would not be held to a call."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param=param)


def _tool(definition: Definition, *, strict: bool) -> Tool:
    parameters = given(definition.parameters)
    return Tool(
        name=definition.name,
        description=given(definition.description),
        parameters=parameters,
        strict=strict or bool(given(definition.strict)),
    )


def _listed(names: Iterable[str]) -> str:
    shown = ", ".join(repr(name) for name in sorted(names)[:20])
    return f"the functions {shown}" if shown else "no functions"
