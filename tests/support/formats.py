"""Shared by tests of output formats: tools, outcomes, and writers of calls in each format."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specvino.engine.output_parsers import (
    REASONING_PARSERS,
    TOOL_PARSERS,
    AnswerText,
    CallArguments,
    CallEnd,
    CallStart,
    Piece,
    ReasoningText,
    Tool,
    parser_for,
)
from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.call_grammar import call_text
from specvino.engine.output_parsers.parser import joined


@dataclass(frozen=True)
class Function:
    name: str
    parameters: Mapping[str, Any] | None = None


WEATHER = Function(
    "get_weather",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "factor": {"type": "number"},
            "detailed": {"type": "boolean"},
            "options": {"type": ["object", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "unit-name": {"type": "string"},
        },
        "required": ["city"],
    },
)
NOW = Function("now", {"type": "object", "properties": {}})
TOOLS: Sequence[Tool] = (WEATHER, NOW)


@dataclass(frozen=True)
class Call:
    name: str
    arguments: Any  # parsed if complete, else the text
    complete: bool = True


@dataclass(frozen=True)
class Outcome:
    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)


def pieces_of(
    tool_parser: str | None,
    reasoning_parser: str | None,
    parts: Iterable[str],
    inside: bool = False,
    tools: Sequence[Tool] = TOOLS,
    cut: bool = False,
) -> list[Piece]:
    """Returns the pieces of an output that arrives in parts; `cut` means that it was cut off."""
    tool, reasoning = TOOL_PARSERS.get(tool_parser or ""), REASONING_PARSERS.get(reasoning_parser or "")
    parser = parser_for(tool, reasoning, tools, inside)
    pieces = [piece for part in parts for piece in parser.push(part)]
    return joined([*pieces, *parser.finish(cut)])


def outcome(pieces: Sequence[Piece]) -> Outcome:
    """Returns the joined pieces. Fails if a call's pieces aren't contiguous, or its arguments aren't JSON."""
    text, reasoning, calls = "", "", []
    left = list(pieces)
    while left:
        match left.pop(0):
            case AnswerText(part):
                assert part
                text += part
            case ReasoningText(part):
                assert part
                reasoning += part
            case CallStart(name):
                arguments = ""
                while isinstance(piece := left.pop(0), CallArguments):
                    assert piece.text
                    arguments += piece.text
                assert isinstance(piece, CallEnd)
                parsed = json.loads(arguments) if piece.complete else arguments
                assert isinstance(parsed, dict if piece.complete else str)
                calls.append(Call(name, parsed, piece.complete))
            case other:
                raise AssertionError(f"{other} outside of a call")
    return Outcome(text, reasoning, calls)


def parsed(
    tool_parser: str | None,
    text: str,
    reasoning_parser: str | None = None,
    inside: bool = False,
    tools: Sequence[Tool] = TOOLS,
    cut: bool = False,
) -> Outcome:
    """Returns the outcome, which must be the same for every split in two and for single characters."""
    settings = (inside, tools, cut)
    pieces = pieces_of(tool_parser, reasoning_parser, [text], *settings)
    assert pieces_of(tool_parser, reasoning_parser, text, *settings) == pieces
    for at in range(len(text) + 1):
        assert pieces_of(tool_parser, reasoning_parser, [text[:at], text[at:]], *settings) == pieces, text[:at]
    return outcome(pieces)


Write = Callable[[str, Mapping[str, Any]], str]


def envelope(key: str) -> Write:
    return lambda name, arguments: json.dumps({"name": name, key: arguments}, ensure_ascii=False)


def raw(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def qwen3coder(name: str, arguments: Mapping[str, Any]) -> str:
    elements = "".join(f"<parameter={key}>\n{raw(value)}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{elements}</function>\n</tool_call>"


def onyx(name: str, arguments: Mapping[str, Any]) -> str:
    elements = (f'<atem:parameter name="{key}">{raw(value)}</atem:parameter>\n' for key, value in arguments.items())
    invoke = f'<atem:invoke name="{name}">\n{"".join(elements)}</atem:invoke>'
    return f" to={name}<|message|><atem:function_calls>\n{invoke}\n</atem:function_calls><|eom|>"


def minicpm5(name: str, arguments: Mapping[str, Any]) -> str:
    elements = (f'<param name="{key}">{raw(value)}</param>' for key, value in arguments.items())
    return f'<function name="{name}">{"".join(elements)}</function>'


def lfm2(name: str, arguments: Mapping[str, Any]) -> str:
    return f"<|tool_call_start|>[{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})]<|tool_call_end|>"


def gemma_value(value: Any) -> str:
    match value:
        case str():
            return f'<|"|>{value}<|"|>'
        case dict():
            return "{" + ",".join(f"{key}:{gemma_value(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(gemma_value, value)) + "]"
        case _:
            return json.dumps(value)


def gptoss(name: str, arguments: Mapping[str, Any]) -> str:
    header = f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
    return header + json.dumps(arguments, ensure_ascii=False) + "<|call|>"


def of_format(name: str) -> Write:
    """As the format itself describes it; those below were written by hand."""
    format = TOOL_PARSERS[name]
    assert isinstance(format, CallFormat)
    begin, end = format.section
    return lambda tool, arguments: begin + call_text(format, tool, arguments) + end


WRITERS: Mapping[str, Write] = {
    **{name: of_format(name) for name, format in TOOL_PARSERS.items() if isinstance(format, CallFormat)},
    "hermes3": lambda name, arguments: f"<tool_call>\n{envelope('arguments')(name, arguments)}\n</tool_call>",
    "llama3": lambda name, arguments: f"<|python_tag|>{envelope('parameters')(name, arguments)}",
    "phi4": lambda name, arguments: f"functools[{envelope('arguments')(name, arguments)}]",
    "mistral": lambda name, arguments: f"[TOOL_CALLS] [{envelope('arguments')(name, arguments)}]",
    "devstral": lambda name, arguments: f"[TOOL_CALLS]{name}[ARGS]{json.dumps(arguments, ensure_ascii=False)}",
    "gptoss": gptoss,
    "qwen3coder": qwen3coder,
    "lfm2": lfm2,
    "gemma4": lambda name, arguments: f"<|tool_call>call:{name}{gemma_value(dict(arguments))}<tool_call|>",
    "onyx": onyx,
    "minicpm5": minicpm5,
}
