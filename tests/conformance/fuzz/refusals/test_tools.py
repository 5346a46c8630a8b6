"""Tools that a request has, and refusals of those that it hasn't."""

import pytest

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.refusals.tools import callable_tools, unknown_tool, with_known_tools
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target

NOBODY = Server(Target("http://127.0.0.1:9"), {"paths": {}})

ADDITION = {
    "type": "tool_addition",
    "tool": {"type": "tool_definition", "definition": {"name": "g", "input_schema": {}}},
}


@pytest.mark.parametrize(
    ("blocks", "known", "left"),
    [
        ([], True, {"f"}),
        ([ADDITION], True, {"f", "g"}),
        ([ADDITION, {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "g"}}], True, {"f"}),
        ([{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}}], True, set()),
        ([{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "g"}}, ADDITION], False, {"f", "g"}),
    ],
)
def test_tools_that_a_conversation_changes(blocks, known, left) -> None:
    """A reference to a tool that comes later, or never, is refused, and a text in its place mends the request."""
    body = {"tools": [{"name": "f", "input_schema": {}}], "messages": [{"role": "system", "content": blocks}]}
    assert callable_tools(body) == {("function", name) for name in left}
    refused = RefusedRequest("messages", {}, body, "unknown_tool", "messages.0.content.0.tool.name")
    assert unknown_tool(refused, NOBODY) is not known
    assert (with_known_tools(body) == body) is known
    assert with_known_tools(with_known_tools(body)) == with_known_tools(body)


def test_only_the_reference_that_comes_too_early_is_mended() -> None:
    reference = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "g"}}
    body = {"messages": [{"role": "system", "content": [reference, ADDITION, dict(reference)]}]}
    [message] = with_known_tools(body)["messages"]
    assert [block["type"] for block in message["content"]] == ["text", "tool_addition", "tool_addition"]
