"""The real pipeline takes every grammar, and what it makes a model say is a call that the parser reads back."""

from collections.abc import Callable, Sequence
from typing import Any

import jsonschema_rs
import pytest
from lark import Lark
from support.formats import NOW, TOOLS, WRITERS, Call, Function, Outcome, outcome, parsed, pieces_of

from specvino.engine.grammar import LARK, constant, json_schema, sequence
from specvino.engine.output_parsers import (
    MESSAGE_FRAMINGS,
    REASONING_PARSERS,
    TOOL_PARSERS,
    Tool,
    forced_call_grammar,
    held_call_grammar,
    unenforceable_keywords,
    with_reasoning,
)

Says = Callable[[dict[str, Any], str], str]
Babbles = Callable[[dict[str, Any], int], str | None]

ARGUMENTS = {"city": "Zürich, 'so' \"said\"", "days": 3, "options": {"a": [None, "b"]}, "tags": ["x", "y"]}
CALL = Call("get_weather", ARGUMENTS)
WEATHER = [tool for tool in TOOLS if tool.name == "get_weather"]

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
FORMATS = sorted(TOOL_PARSERS)
SEVERAL = {
    "seed_oss": "\n",
    "glm45": "\n",
    "hermes3": "\n",
    "llama3": "; ",
    "devstral": "",
    "qwen3coder": "\n",
    "minicpm5": "\n",
}


def own(tool_parser: str) -> str:
    return OWN.get(tool_parser) or WRITERS[tool_parser]("get_weather", ARGUMENTS)


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_a_call_in_the_formats_own_words_is_possible(tool_parser: str, says: Says) -> None:
    text = own(tool_parser)
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], TOOLS), text) == text
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], WEATHER, parallel=False), text) == text
    assert parsed(tool_parser, text) == Outcome(calls=[CALL])


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_no_answer_without_a_call_is_possible(tool_parser: str, says: Says) -> None:
    written = says(forced_call_grammar(TOOL_PARSERS[tool_parser], [NOW], parallel=False), "Hello, who are you?")
    assert outcome(pieces_of(tool_parser, None, [written])) == Outcome(calls=[Call("now", {})])


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_only_the_named_tool_is_called(tool_parser: str, says: Says) -> None:
    written = says(forced_call_grammar(TOOL_PARSERS[tool_parser], [NOW], parallel=False), own(tool_parser))
    assert outcome(pieces_of(tool_parser, None, [written])) == Outcome(calls=[Call("now", {})])


@pytest.mark.parametrize("tool_parser", sorted(SEVERAL))
def test_several_calls_are_possible_unless_not_parallel(tool_parser: str, says: Says) -> None:
    one = own(tool_parser)
    text = one + SEVERAL[tool_parser] + one
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], TOOLS), text) == text
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], TOOLS, parallel=False), text) == one
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], WEATHER, parallel=False), text) == one
    assert parsed(tool_parser, text) == Outcome(calls=[CALL, CALL])


@pytest.mark.parametrize(
    ("tool_parser", "one", "two"),
    [
        ("phi4", "functools[{}]", "functools[{}, {}]"),
        ("granite", "<|tool_call|>[{}]", "<|tool_call|>[{}, {}]"),
        ("mistral", "[TOOL_CALLS] [{}]", "[TOOL_CALLS] [{}, {}]"),
        ("lfm2", "<|tool_call_start|>[{}]<|tool_call_end|>", "<|tool_call_start|>[{}, {}]<|tool_call_end|>"),
        ("gemma4", "<|tool_call>{}<tool_call|>", "<|tool_call>{}{}<tool_call|>"),
    ],
)
def test_several_calls_in_one_block(tool_parser: str, one: str, two: str, says: Says) -> None:
    inner = {"lfm2": "now()", "gemma4": "call:now{}"}.get(tool_parser, '{"name": "now", "arguments": {}}')
    text = two.format(inner, inner)
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], TOOLS), text) == text
    assert parsed(tool_parser, text) == Outcome(calls=[Call("now", {})] * 2)
    # The comma isn't possible: what the model would output instead doesn't matter.
    assert says(forced_call_grammar(TOOL_PARSERS[tool_parser], TOOLS, parallel=False), text).startswith(
        one.format(inner)
    )


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
@pytest.mark.parametrize("tool_parser", FORMATS)
def test_arguments_keep_to_the_schema_whatever_the_model_wants(tool_parser: str, tool: Tool, babbles: Babbles) -> None:
    grammar = forced_call_grammar(TOOL_PARSERS[tool_parser], [tool], parallel=False)
    written = [text for seed in range(8) if (text := babbles(grammar, seed)) is not None]
    # Tokens at random may be bytes that are no character; a length that the text doesn't show counts them.
    readable = [text for text in written if "\ufffd" not in text]
    assert len(readable) > 2
    for text in readable:
        got = outcome(pieces_of(tool_parser, None, [text], tools=[tool]))
        assert not got.text
        (call,) = got.calls
        assert call.complete
        jsonschema_rs.validate(dict(tool.parameters or {}), call.arguments)


SUM_GRAMMAR = """
start: term ("+" term)*
term: N | "(" start ")" "\\n"?
N: /[0-9]{1,3}/
%ignore " "
"""

SUM = Function(
    "sum",
    {
        "type": "object",
        "properties": {"input": {"type": "string", LARK: SUM_GRAMMAR}},
        "required": ["input"],
        "additionalProperties": False,
    },
)


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_the_input_of_a_custom_tool_keeps_to_its_lark_grammar(tool_parser: str, babbles: Babbles) -> None:
    grammar = forced_call_grammar(TOOL_PARSERS[tool_parser], [SUM], parallel=False)
    inputs = []
    for seed in range(8):
        if (text := babbles(grammar, seed)) is not None:
            (call,) = outcome(pieces_of(tool_parser, None, [text], tools=[SUM])).calls
            inputs.append(str(call.arguments["input"]))
    assert len(inputs) > 2
    judge = Lark(SUM_GRAMMAR)
    for input in inputs:
        assert judge.parse(input)


PAYMENTS: dict[str, Any] = {
    "type": "object",
    "anyOf": [
        {"properties": {"to": {"enum": ["a", "b"]}, "card": {"type": "integer"}}, "required": ["to", "card"]},
        {"properties": {"to": {"enum": ["c"]}, "iban": {"enum": ["x", "y"]}}, "required": ["to", "iban"]},
        {"type": "null"},
    ],
    "minProperties": 2,
}


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_what_a_format_cant_say_of_the_arguments_is_told(tool_parser: str) -> None:
    one_by_one = {"qwen3coder", "lfm2", "gemma4", "onyx", "minicpm5", "seed_oss", "glm45", "minimax_m2"}
    expected_keywords = {("anyOf",), ("minProperties",)} if tool_parser in one_by_one else set()
    assert set(unenforceable_keywords(TOOL_PARSERS[tool_parser], Function("pay", PAYMENTS))) == expected_keywords
    for tool in (*TOOLS, BOUNDED, TEXTS, JOINED, FREE):
        assert not unenforceable_keywords(TOOL_PARSERS[tool_parser], tool)


@pytest.mark.parametrize("tool_parser", FORMATS)
def test_what_all_alternatives_demand_comes(tool_parser: str, babbles: Babbles) -> None:
    grammar = forced_call_grammar(
        TOOL_PARSERS[tool_parser], [Function("pay", {**PAYMENTS, "minProperties": 0})], parallel=False
    )
    written = [text for seed in range(8) if (text := babbles(grammar, seed)) is not None and "\ufffd" not in text]
    assert written
    for text in written:
        (call,) = outcome(pieces_of(tool_parser, None, [text], tools=[Function("pay", PAYMENTS)])).calls
        assert call.arguments["to"] in {"a", "b", "c"}


PAIRS: Sequence[tuple[str, str, str]] = [
    ("hermes3", "qwen3", "<think>\nHm.\n</think>\n\n"),
    ("lfm2", "lfm2", "<think>Hm.</think>"),
    ("minicpm5", "minicpm5", "<think>\nHm.</think>\n"),
    ("gemma4", "gemma4", "<|channel>thought\nHm.<channel|>"),
    ("gptoss", "gptoss", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"),
    ("onyx", "onyx", " to=self<|message|>Hm.<|eom|><|start|>assistant"),
    ("devstral", "mistral", "[THINK]Hm.[/THINK]"),
    ("seed_oss", "seed_oss", "<seed:think>Hm.</seed:think>"),
    ("hermes3", "cohere_command3", "<|START_THINKING|>Hm.<|END_THINKING|>"),
]


def test_every_reasoning_parser_is_among_the_pairs() -> None:
    assert {reasoning_parser for _, reasoning_parser, _ in PAIRS} == set(REASONING_PARSERS)


@pytest.mark.parametrize(
    ("name", "reasoning_grammar"), [(reasoning, reasoning_grammar) for _, reasoning, reasoning_grammar in PAIRS]
)
def test_an_answer_comes_behind_reasoning_and_its_header(name: str, reasoning_grammar: str, says: Says) -> None:
    header = MESSAGE_FRAMINGS[name].answer if name in MESSAGE_FRAMINGS else ""
    structured_output = sequence([constant(header), json_schema({"enum": ["yes", "no"]})])
    for wanted in (reasoning_grammar + header + '"yes"', header + '"no"'):
        assert (
            says(
                {"type": "structural_tag", "format": with_reasoning(REASONING_PARSERS[name], structured_output, False)},
                wanted,
            )
            == wanted
        )
    got = outcome(pieces_of(None, name, [reasoning_grammar + header + '"yes"']))
    assert (got.text, got.reasoning.strip()) == ('"yes"', "Hm.")


@pytest.mark.parametrize(("tool_parser", "reasoning_parser", "reasoning_grammar"), PAIRS)
def test_the_model_may_think_first(tool_parser: str, reasoning_parser: str, reasoning_grammar: str, says: Says) -> None:
    grammar = forced_call_grammar(TOOL_PARSERS[tool_parser], TOOLS, reasoning=REASONING_PARSERS[reasoning_parser])
    for text in (reasoning_grammar + own(tool_parser), own(tool_parser)):
        assert says(grammar, text) == text
    assert parsed(tool_parser, reasoning_grammar + own(tool_parser), reasoning_parser) == Outcome("", "Hm.", [CALL])


@pytest.mark.parametrize(("tool_parser", "reasoning_parser", "reasoning_grammar"), PAIRS)
def test_reasoning_that_the_prompt_began_is_ended(
    tool_parser: str, reasoning_parser: str, reasoning_grammar: str, says: Says
) -> None:
    grammar = forced_call_grammar(
        TOOL_PARSERS[tool_parser], TOOLS, reasoning=REASONING_PARSERS[reasoning_parser], prompt_ends_in_thinking=True
    )
    text = reasoning_grammar[reasoning_grammar.index("Hm.") :] + own(tool_parser)
    assert says(grammar, text) == text
    assert parsed(tool_parser, text, reasoning_parser, inside=True) == Outcome("", "Hm.", [CALL])


HELD = [name for name in FORMATS if TOOL_PARSERS[name].trigger is not None]


def test_which_formats_have_a_text_with_which_every_call_begins() -> None:
    assert set(FORMATS) - set(HELD) == {"llama3", "mistral", "gptoss", "onyx"}


@pytest.mark.parametrize("tool_parser", HELD)
def test_texts_and_calls_are_possible_where_nothing_forces_them(tool_parser: str, says: Says) -> None:
    grammar = held_call_grammar(TOOL_PARSERS[tool_parser], TOOLS)
    call = own(tool_parser)
    for text in ("", "No call, but < and [ and {.", call, f"I look.\n{call}", f"{call} and {call}"):
        assert says(grammar, text) == text


@pytest.mark.parametrize("tool_parser", HELD)
def test_the_models_own_calls_keep_to_the_schema(tool_parser: str, says: Says) -> None:
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}
    tool = Function("get_weather", schema)
    wrong = WRITERS[tool_parser]("get_weather", {"city": "Paris"})
    written = says(held_call_grammar(TOOL_PARSERS[tool_parser], [tool]), f"So: {wrong}")
    assert written.startswith("So: ")
    assert parsed(tool_parser, written, tools=[tool]).calls == [Call("get_weather", {"city": "Rome"})]


@pytest.mark.parametrize(("tool_parser", "reasoning_parser", "reasoning_grammar"), [p for p in PAIRS if p[0] in HELD])
def test_reasoning_comes_before_texts_and_calls(
    tool_parser: str, reasoning_parser: str, reasoning_grammar: str, says: Says
) -> None:
    for begun in (False, True):
        grammar = held_call_grammar(TOOL_PARSERS[tool_parser], TOOLS, REASONING_PARSERS[reasoning_parser], begun)
        # What a call begins with is no call in reasoning.
        thought = reasoning_grammar.replace("Hm.", f"Hm. {TOOL_PARSERS[tool_parser].trigger} no.")
        thought = thought[thought.index("Hm.") :] if begun else thought
        for text in (thought + "Yes.", thought + own(tool_parser)):
            assert says(grammar, text) == text
