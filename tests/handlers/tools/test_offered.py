"""The tools of a request, as the model knows them."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from specvino.generated import models
from specvino.handlers.tools import OfferedTool, offered

TOOLS: TypeAdapter[Any] = TypeAdapter(
    list[
        models.FunctionTool
        | models.FlatFunctionTool
        | models.CustomTool
        | models.FlatCustomTool
        | models.NamespaceTool
        | models.ToolSearchTool
        | models.HostedTool
    ]
)

INPUT = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}


def constrained(**keywords: str) -> dict[str, Any]:
    return {**INPUT, "properties": {"input": {"type": "string", **keywords}}}


def only(tool: dict[str, Any]) -> OfferedTool:
    (tool_of_request,) = offered(TOOLS.validate_python([tool]))
    return tool_of_request


@pytest.mark.parametrize(
    ("format", "keywords", "param"),
    [
        (None, {}, None),
        ({"type": "text"}, {}, None),
        ({"type": "grammar", "syntax": "regex", "definition": "a|b"}, {"pattern": "^(?:a|b)$"}, "definition"),
    ],
)
def test_a_custom_tool_is_a_function_with_one_text(format: Any, keywords: dict[str, str], param: str | None) -> None:
    flat = only({"type": "custom", "name": "c", "description": "d", "format": format})
    path = f"tools.0.format.{param}" if param else None
    assert flat == OfferedTool("tools.0", "c", "d", constrained(**keywords), kind="custom", schema_param=path)
    nested = format
    if format and format["type"] == "grammar":
        nested = {"type": "grammar", "grammar": {"syntax": format["syntax"], "definition": format["definition"]}}
    chat = only({"type": "custom", "custom": {"name": "c", "format": nested}})
    assert (chat.param, chat.parameters) == ("tools.0.custom", constrained(**keywords))
    assert chat.schema_param == (f"tools.0.custom.format.grammar.{param}" if param else None)


def test_tools_of_a_namespace() -> None:
    files = {
        "type": "namespace",
        "name": "files",
        "description": "Files.",
        "tools": [
            {"type": "function", "name": "read", "description": "Read one."},
            {"type": "custom", "name": "write"},
        ],
    }
    read, write = offered(TOOLS.validate_python([files]))
    assert (read.function_name, read.name, read.namespace) == ("files__read", "read", "files")
    assert (read.param, read.description) == ("tools.0.tools.0", "Files.\nRead one.")
    assert (write.function_name, write.kind, write.description) == ("files__write", "custom", "Files.")


def test_a_search_of_the_client_is_a_function() -> None:
    search = {"type": "tool_search", "execution": "client", "description": "d", "parameters": {"type": "object"}}
    tool = only(search)
    assert (tool.kind, tool.function_name, tool.parameters) == ("tool_search", "tool_search", {"type": "object"})
    assert [*offered(TOOLS.validate_python([{"type": "tool_search"}, {"type": "web_search"}]))] == []


def test_a_lark_grammar_is_shown_to_the_model() -> None:
    lark = {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'}
    tool = only({"type": "custom", "name": "c", "description": "d", "format": lark})
    assert tool.description == 'd\n\nThe input matches this Lark grammar:\nstart: "a"'
    constrained = {**INPUT, "properties": {"input": {"type": "string", "x-specvino-lark": 'start: "a"'}}}
    assert (tool.parameters, tool.schema_param) == (constrained, "tools.0.format.definition")
