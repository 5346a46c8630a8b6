"""The real pipeline takes every grammar, and what it makes a model say is a call that the parser reads back."""

from collections.abc import Callable, Sequence
from typing import Any

import jsonschema_rs
import pytest
from support.formats import NOW, TOOLS, WRITERS, Call, Function, Outcome, outcome, parsed, pieces_of

from specvino.engine.grammar.structural_tags.builders import constant, json_schema, sequence
from specvino.engine.output_parsers import (
    FRAMINGS,
    REASONING_FORMATS,
    TOOL_FORMATS,
    Tool,
    forced,
    thoughtful,
    unenforceable_keywords,
)

Says = Callable[[dict[str, Any], str], str]
Babbles = Callable[[dict[str, Any], int], str | None]

ARGUMENTS = {"city": "Zürich, 'so' \"said\"", "days": 3, "options": {"a": [None, "b"]}, "tags": ["x", "y"]}
CALL = Call("get_weather", ARGUMENTS)

# How models write it, and where that differs from how the tests' writers do.
OWN = {
    "llama3": WRITERS["llama3"]("get_weather", ARGUMENTS).removeprefix("<|python_tag|>"),
    "gptoss": WRITERS["gptoss"]("get_weather", ARGUMENTS).removesuffix("<|call|>"),
    "lfm2": '<|tool_call_start|>[get_weather(city="Zürich, \'so\' \\"said\\"", days=3, '
    'options={"a": [null, "b"]}, tags=["x", "y"])]<|tool_call_end|>',
    "gemma4": '<|tool_call>call:get_weather{city:<|"|>Zürich, \'so\' "said"<|"|>,days:3,'
    'options:{"a": [null, "b"]},tags:["x", "y"]}<tool_call|>',
    "onyx": WRITERS["onyx"]("get_weather", ARGUMENTS).replace(">\n<", "><").removesuffix("<|eom|>"),
}
FORMATS = sorted(TOOL_FORMATS)
SEVERAL = {
    "hermes3": "\n",
    "llama3": "; ",
    "devstral": "",
    "qwen3coder": "\n",
    "minicpm5": "\n",
}


def own(tool_format: str) -> str:
    return OWN.get(tool_format) or WRITERS[tool_format]("get_weather", ARGUMENTS)


@pytest.mark.parametrize("tool_format", FORMATS)
def test_a_call_in_the_formats_own_words_is_possible(tool_format: str, says: Says) -> None:
    text = own(tool_format)
    assert says(forced(tool_format, TOOLS), text) == text
    assert says(forced(tool_format, TOOLS, "get_weather"), text) == text
    assert parsed(tool_format, text) == Outcome(calls=[CALL])


@pytest.mark.parametrize("tool_format", FORMATS)
def test_no_answer_without_a_call_is_possible(tool_format: str, says: Says) -> None:
    said = says(forced(tool_format, [NOW], parallel=False), "Hello, who are you?")
    assert outcome(pieces_of(tool_format, None, [said])) == Outcome(calls=[Call("now", {})])


@pytest.mark.parametrize("tool_format", FORMATS)
def test_only_the_named_tool_is_called(tool_format: str, says: Says) -> None:
    said = says(forced(tool_format, TOOLS, "now"), own(tool_format))
    assert outcome(pieces_of(tool_format, None, [said])) == Outcome(calls=[Call("now", {})])


@pytest.mark.parametrize("tool_format", sorted(SEVERAL))
def test_several_calls_are_possible_unless_not_parallel(tool_format: str, says: Says) -> None:
    one = own(tool_format)
    text = one + SEVERAL[tool_format] + one
    assert says(forced(tool_format, TOOLS), text) == text
    assert says(forced(tool_format, TOOLS, parallel=False), text) == one
    assert says(forced(tool_format, TOOLS, "get_weather"), text) == one
    assert parsed(tool_format, text) == Outcome(calls=[CALL, CALL])


@pytest.mark.parametrize(
    ("tool_format", "one", "two"),
    [
        ("phi4", "functools[{}]", "functools[{}, {}]"),
        ("mistral", "[TOOL_CALLS] [{}]", "[TOOL_CALLS] [{}, {}]"),
        ("lfm2", "<|tool_call_start|>[{}]<|tool_call_end|>", "<|tool_call_start|>[{}, {}]<|tool_call_end|>"),
        ("gemma4", "<|tool_call>{}<tool_call|>", "<|tool_call>{}{}<tool_call|>"),
    ],
)
def test_several_calls_in_one_block(tool_format: str, one: str, two: str, says: Says) -> None:
    inner = {"lfm2": "now()", "gemma4": "call:now{}"}.get(tool_format, '{"name": "now", "arguments": {}}')
    text = two.format(inner, inner)
    assert says(forced(tool_format, TOOLS), text) == text
    assert parsed(tool_format, text) == Outcome(calls=[Call("now", {})] * 2)
    # The comma has no way to come: what the model wants to say instead doesn't matter.
    assert says(forced(tool_format, TOOLS, parallel=False), text).startswith(one.format(inner))


BOUNDED = Function(
    "set-up",
    {
        "type": "object",
        "properties": {
            "unit": {"$ref": "#/$defs/unit"},
            "level": {"type": "integer", "minimum": 1, "maximum": 5},
            "on": {"type": "boolean"},
            "code": {"type": "string", "pattern": "^[a-z]{3}$"},
            "label": {"type": "string", "minLength": 2, "maxLength": 4},
            "both": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
            "empty": {"const": ""},
            "pair": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "maxItems": 2},
        },
        "required": ["unit", "code"],
        "additionalProperties": False,
        "$defs": {"unit": {"enum": ["celsius", "kelvin"]}},
    },
)
TEXTS = Function(
    "texts",
    {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "either": {"anyOf": [{"type": "string", "pattern": "^a[0-9]$"}, {"const": "none"}]},
            "short": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
            "named": {"$ref": "#/$defs/name"},
            "listed": {"type": "string", "enum": ["a", "bb", "ccc"], "minLength": 2},
        },
        "required": ["day", "either", "short", "named", "listed"],
        "$defs": {"name": {"allOf": [{"type": "string", "minLength": 1}], "maxLength": 5}},
    },
)
JOINED = Function(
    "joined",
    {
        "allOf": [{"$ref": "#/$defs/place"}, {"properties": {"n": {"minimum": 3}, "on": {"type": "boolean"}}}],
        "properties": {"n": {"type": "integer", "maximum": 4}},
        "required": ["n"],
        "$defs": {"place": {"properties": {"place": {"enum": ["Rome", "Oslo"]}}, "required": ["place"]}},
    },
)
FREE = Function("free", {"properties": {"a": {"type": "boolean"}, "b": {"enum": ["x", "y"]}}})


@pytest.mark.parametrize("tool", [BOUNDED, TEXTS, JOINED, FREE], ids=["required", "texts", "joined", "all optional"])
@pytest.mark.parametrize("tool_format", FORMATS)
def test_arguments_keep_to_the_schema_whatever_the_model_wants(tool_format: str, tool: Tool, babbles: Babbles) -> None:
    grammar = forced(tool_format, [tool], parallel=False)
    said = [text for seed in range(8) if (text := babbles(grammar, seed)) is not None]
    # Tokens at random may be bytes that are no character; a length that the text doesn't show counts them.
    readable = [text for text in said if "\ufffd" not in text]
    assert len(readable) > 2
    for text in readable:
        got = outcome(pieces_of(tool_format, None, [text], tools=[tool]))
        assert not got.text
        (call,) = got.calls
        assert call.complete
        jsonschema_rs.validate(dict(tool.parameters or {}), call.arguments)


PAYMENTS: dict[str, Any] = {
    "type": "object",
    "anyOf": [
        {"properties": {"to": {"enum": ["a", "b"]}, "card": {"type": "integer"}}, "required": ["to", "card"]},
        {"properties": {"to": {"enum": ["c"]}, "iban": {"enum": ["x", "y"]}}, "required": ["to", "iban"]},
        {"type": "null"},
    ],
    "minProperties": 2,
}


@pytest.mark.parametrize("tool_format", FORMATS)
def test_what_a_format_cant_say_of_the_arguments_is_told(tool_format: str) -> None:
    one_by_one = {"qwen3coder", "lfm2", "gemma4", "onyx", "minicpm5"}
    told = {("anyOf",), ("minProperties",)} if tool_format in one_by_one else set()
    assert set(unenforceable_keywords(tool_format, Function("pay", PAYMENTS))) == told
    for tool in (*TOOLS, BOUNDED, TEXTS, JOINED, FREE):
        assert not unenforceable_keywords(tool_format, tool)


@pytest.mark.parametrize("tool_format", FORMATS)
def test_what_all_alternatives_demand_comes(tool_format: str, babbles: Babbles) -> None:
    grammar = forced(tool_format, [Function("pay", {**PAYMENTS, "minProperties": 0})], parallel=False)
    said = [text for seed in range(8) if (text := babbles(grammar, seed)) is not None and "\ufffd" not in text]
    assert said
    for text in said:
        (call,) = outcome(pieces_of(tool_format, None, [text], tools=[Function("pay", PAYMENTS)])).calls
        assert call.arguments["to"] in {"a", "b", "c"}


PAIRS: Sequence[tuple[str, str, str]] = [
    ("hermes3", "qwen3", "<think>\nHm.\n</think>\n\n"),
    ("lfm2", "lfm2", "<think>Hm.</think>"),
    ("minicpm5", "minicpm5", "<think>\nHm.</think>\n"),
    ("gemma4", "gemma4", "<|channel>thought\nHm.<channel|>"),
    ("gptoss", "gptoss", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"),
    ("onyx", "onyx", " to=self<|message|>Hm.<|eom|><|start|>assistant"),
]


def test_every_reasoning_format_is_among_the_pairs() -> None:
    assert {reasoning_format for _, reasoning_format, _ in PAIRS} == set(REASONING_FORMATS)


@pytest.mark.parametrize(("name", "thought"), [(reasoning, thought) for _, reasoning, thought in PAIRS])
def test_a_form_comes_behind_thoughts_and_its_header(name: str, thought: str, says: Says) -> None:
    header = FRAMINGS[name].answer if name in FRAMINGS else ""
    form = sequence([constant(header), json_schema({"enum": ["yes", "no"]})])
    for wanted in (thought + header + '"yes"', header + '"no"'):
        assert says({"type": "structural_tag", "format": thoughtful(name, form, False)}, wanted) == wanted
    got = outcome(pieces_of(None, name, [thought + header + '"yes"']))
    assert (got.text, got.reasoning.strip()) == ('"yes"', "Hm.")


@pytest.mark.parametrize(("tool_format", "reasoning_format", "thought"), PAIRS)
def test_the_model_may_think_first(tool_format: str, reasoning_format: str, thought: str, says: Says) -> None:
    grammar = forced(tool_format, TOOLS, reasoning_format=reasoning_format)
    for text in (thought + own(tool_format), own(tool_format)):
        assert says(grammar, text) == text
    assert parsed(tool_format, thought + own(tool_format), reasoning_format) == Outcome("", "Hm.", [CALL])


@pytest.mark.parametrize(("tool_format", "reasoning_format", "thought"), PAIRS)
def test_a_thought_that_the_prompt_began_is_ended(
    tool_format: str, reasoning_format: str, thought: str, says: Says
) -> None:
    grammar = forced(tool_format, TOOLS, reasoning_format=reasoning_format, prompt_ends_in_thinking=True)
    text = thought[thought.index("Hm.") :] + own(tool_format)
    assert says(grammar, text) == text
    assert parsed(tool_format, text, reasoning_format, inside=True) == Outcome("", "Hm.", [CALL])


def test_what_there_is_no_grammar_for() -> None:
    with pytest.raises(ValueError, match="unknown tool format"):
        forced("hermes", TOOLS)
    with pytest.raises(KeyError):
        forced("hermes3", TOOLS, "nope")
