"""What makes the scripted engine of a test server call a tool."""

import json


def task(text: str, tool: str, **arguments: str) -> str:
    """A user's message whose answer is the text, and a call of the tool."""
    call = json.dumps({"name": tool, "arguments": arguments})
    return f"{text}\n<tool_call>\n{call}\n</tool_call>"
