"""Tools for the tiny model, which was taught to call these two, and what was called."""

from dataclasses import replace
from typing import Any

from specvino.engine.request import GenerationRequest, Tool
from specvino.engine.segments import Segment, ToolCallArguments, ToolCallEnd, ToolCallStart
from support.conversation import ask, conversation

# A call of the tiny model ends by itself only where there is little to choose from.
PARAMETERS = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}

WEATHER = Tool("get_weather", "the", PARAMETERS)
TIME = Tool("get_time", "the", PARAMETERS)


def with_tools(text: str, *tools: Tool, max_tokens: int = 120, **fields: Any) -> GenerationRequest:
    """Asks greedily; `fields` are those of the request."""
    prompt = replace(conversation(text), tools=tools)
    return replace(ask(text, max_tokens=max_tokens), prompts=(prompt,), **fields)


def calls(segments: list[Segment], choice: int = 0) -> list[tuple[str, str]]:
    """The names and the arguments' texts; fails if a call is not whole, or its segments don't stand together."""
    pairs: list[tuple[str, str]] = []
    mine = [segment for segment in segments if getattr(segment, "choice", None) == choice]
    for before, segment in zip([None, *mine], mine, strict=False):
        match segment:
            case ToolCallStart(index=index, name=name):
                assert index == len(pairs)
                pairs.append((name, ""))
            case ToolCallArguments(index=index, text=text):
                assert isinstance(before, ToolCallStart | ToolCallArguments)
                assert index == len(pairs) - 1
                assert text
                pairs[-1] = (pairs[-1][0], pairs[-1][1] + text)
            case ToolCallEnd(index=index, complete=complete):
                assert isinstance(before, ToolCallStart | ToolCallArguments)
                assert complete
                assert index == len(pairs) - 1
    return pairs
