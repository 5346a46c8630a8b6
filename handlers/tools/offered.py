"""The tools of a request, in all their forms, as functions that a model can call."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from specvino.engine.grammar import LARK
from specvino.generated import models
from specvino.handlers.fields import or_none, value_of
from specvino.handlers.tools.custom import custom_parameters

ToolKind = Literal["function", "custom", "tool_search"]

_TOOL_SEARCH = "tool_search"


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that a model can call, and its field `param`. `schema_param` is the field that constrains its arguments:
    their schema, or the grammar of a custom tool, None if it has none.

    The client knows the tool by its `name` in the `namespace`, the model by its `function_name`.
    """

    param: str
    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool = False
    kind: ToolKind = "function"
    namespace: str | None = None
    schema_param: str | None = None

    @property
    def function_name(self) -> str:
        return qualified(self.name, self.namespace)


def qualified(name: str, namespace: str | None) -> str:
    """Returns the name by which a model knows a tool; as in vLLM 0.25.1, `namespace__name`."""
    return f"{namespace}__{name}" if namespace else name


def offered(tools: Iterable[Any], param: str = "tools") -> Iterator[OfferedTool]:
    """Yields the tools in the field `param` that a model can call. Tools that the provider runs are left out."""
    for index, tool in enumerate(tools):
        path = f"{param}.{index}"
        match tool:
            case models.FunctionTool() | models.OllamaTool():
                yield function(tool.function, f"{path}.function")
            case models.FlatFunctionTool():
                yield function(tool, path)
            case models.AnthropicTool() | models.AnthropicCountedTool():
                yield anthropic(tool, path)
            case models.CustomTool(custom=custom):
                form = or_none(custom.format)
                grammar = or_none(form.grammar) if form else None
                yield _custom(custom, grammar, f"{path}.custom", "format.grammar")
            case models.FlatCustomTool():
                flat = or_none(tool.format)
                yield _custom(tool, flat if flat and flat.type == "grammar" else None, path, "format")
            case models.NamespaceTool():
                yield from _namespace(tool, path)
            case models.ToolSearchTool(execution="client"):
                yield OfferedTool(
                    path,
                    _TOOL_SEARCH,
                    or_none(tool.description),
                    or_none(tool.parameters),
                    kind="tool_search",
                    schema_param=f"{path}.parameters",
                )


def function(definition: models.FunctionDefinition | models.FlatFunctionTool, param: str) -> OfferedTool:
    """Returns a function that is defined in the field `param`."""
    return OfferedTool(
        param,
        definition.name,
        or_none(definition.description),
        or_none(definition.parameters),
        bool(or_none(definition.strict)),
        schema_param=f"{param}.parameters",
    )


def anthropic(
    tool: models.AnthropicTool | models.AnthropicCountedTool | models.AnthropicInlineTool, param: str
) -> OfferedTool:
    """Returns a tool of the messages API that is defined in the field `param`."""
    return OfferedTool(
        param,
        tool.name,
        or_none(tool.description),
        tool.input_schema,
        bool(value_of(tool, "strict")),
        schema_param=f"{param}.input_schema",
    )


def _custom(
    tool: models.CustomToolDefinition | models.FlatCustomTool,
    grammar: models.CustomToolGrammar | models.FlatCustomToolFormat | None,
    param: str,
    grammar_name: str,
) -> OfferedTool:
    definition = (or_none(grammar.definition) or "") if grammar else ""
    is_regex = grammar is not None and or_none(grammar.syntax) == "regex"
    description = or_none(tool.description)
    constraint = {"pattern": f"^(?:{definition})$"} if is_regex else {LARK: definition} if grammar else {}
    if grammar and not is_regex:
        description = "\n\n".join([*filter(None, [description]), f"The input matches this Lark grammar:\n{definition}"])
    return OfferedTool(
        param,
        tool.name,
        description,
        custom_parameters(constraint),
        kind="custom",
        schema_param=f"{param}.{grammar_name}.definition" if grammar else None,
    )


def _namespace(namespace: models.NamespaceTool, param: str) -> Iterator[OfferedTool]:
    heading = or_none(namespace.description)
    for tool in offered(namespace.tools, f"{param}.tools"):
        description = "\n".join(text for text in (heading, tool.description) if text)
        yield replace(tool, description=description or None, namespace=namespace.name)
