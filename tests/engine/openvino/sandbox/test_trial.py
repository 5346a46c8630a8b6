"""Grammars on the dummy pipeline: what compiles, what is refused, and that XGrammar reads ours as they are meant."""

import json
from typing import Any

import pytest
from openvino_genai import Tokenizer
from samples.judge import judge
from samples.schemas import SCHEMAS

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import LoweredConstraint
from specvino.engine.models import ModelSource
from specvino.engine.openvino.messages.grammar import ConstraintRefused, Trial
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline
from specvino.engine.openvino.sandbox import trial
from specvino.engine.openvino.sandbox.trial import MemoryUsedUp, answer
from specvino.engine.request import Constraint, JsonSchema, StructuralTag
from specvino.engine.structured_output import lower


@pytest.fixture(scope="module")
def own(tiny_text: ModelSource) -> Tokenizer:
    return Tokenizer(tiny_text.path)


@pytest.fixture(scope="module")
def dummy(own: Tokenizer) -> DummyPipeline:
    return DummyPipeline(own)


def tagged(format: Any) -> StructuralTag:
    return StructuralTag({"type": "structural_tag", "format": format})


def check(dummy: DummyPipeline, constraint: Constraint) -> LoweredConstraint:
    """What the two processes make of it. Raises ConstraintError."""
    lowered = lower(constraint)
    trial.check(dummy, lowered)
    return lowered


@pytest.mark.parametrize("schema", [schema for _, schema in SCHEMAS])
def test_the_compiler_reads_our_grammars_as_they_are_meant(
    schema: dict[str, Any], dummy: DummyPipeline, own: Tokenizer
) -> None:
    lowered = lower(JsonSchema(schema))
    is_valid = judge(schema)
    for most in (20, 60, 400):
        tokens = dummy.generate(lowered, most, draw=True)
        if len(tokens) < most:
            assert is_valid(own.decode(tokens)), own.decode(tokens)


@pytest.mark.parametrize(
    "value", ["größe", "Aé0", "日本a", "🎉1", 'quote " back\\slash', "tab\tnew\nline", "\u007fa", "straße"]
)
def test_texts_beyond_ascii(value: str, dummy: DummyPipeline, own: Tokenizer) -> None:
    """XGrammar writes some characters so that it misreads what follows them."""
    schema = {"type": "object", "properties": {value: {"const": value}}, "required": [value]}
    lowered = lower(JsonSchema(schema))
    assert json.loads(own.decode(dummy.generate(lowered, 200))) == {value: value}
    constant = check(dummy, tagged({"type": "const_string", "value": value}))
    assert own.decode(dummy.generate(constant, 200)) == value


@pytest.mark.parametrize(
    "format",
    [
        {"type": "const_string", "value": "Hi"},
        {"type": "regex", "pattern": "[0-9]{3}"},
        {"type": "grammar", "grammar": 'root ::= "a" | "b"'},
        {"type": "any_text"},
        {"type": "json_schema", "json_schema": {"type": "object"}},
        {"type": "sequence", "elements": [{"type": "const_string", "value": "A"}, {"type": "any_text"}]},
        {"type": "or", "elements": [{"type": "const_string", "value": "A"}, {"type": "const_string", "value": "B"}]},
        {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"},
        {
            "type": "triggered_tags",
            "triggers": ["<t>"],
            "tags": [{"begin": "<t>", "content": {"type": "json_schema", "json_schema": {}}, "end": "</t>"}],
        },
        {
            "type": "tags_with_separator",
            "separator": ",",
            "tags": [{"begin": "<t>", "content": {"type": "regex", "pattern": "x"}, "end": "</t>"}],
        },
        {"type": "qwen_xml_parameter", "json_schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    ],
)
def test_structural_formats_compile(format: Any, dummy: DummyPipeline) -> None:
    ours = format["type"] in (
        "const_string",
        "regex",
        "json_schema",
        "or",
        "tag",
        "tags_with_separator",
        "triggered_tags",
    )
    assert (check(dummy, tagged(format)).kind == "grammar") == (ours or format["type"] == "qwen_xml_parameter")


def test_parameters_of_qwen_have_no_room_for_blanks(dummy: DummyPipeline, own: Tokenizer) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    lowered = check(dummy, tagged({"type": "qwen_xml_parameter", "json_schema": schema}))
    assert own.decode(dummy.generate(lowered, 60)).startswith("<parameter=a>")


@pytest.mark.parametrize(
    ("format", "reason"),
    [
        ({"type": "nope"}, "Format type not recognized: nope"),
        ({"type": "const_string", "value": ""}, "non-empty string"),
        ({"type": "sequence", "elements": []}, "at least one element"),
        ({"type": "or"}, "elements"),
        ({"type": "regex", "pattern": "(("}, "parenthesis is not closed"),
        ({"type": "regex", "pattern": "(?<=a)b"}, "Lookbehind is not supported"),
        ({"type": "regex", "pattern": "a{2,1}"}, "Lower bound is larger"),
        ({"type": "grammar", "grammar": "root ::= "}, "Expect element"),
        ({"type": "grammar", "grammar": "root ::= foo"}, 'Rule "foo" is not defined'),
        ({"type": "grammar", "grammar": 'start ::= "a"'}, "root rule"),
        ({"type": "grammar", "grammar": "root ::= root"}, "it allows no text at all"),
        ({"type": "triggered_tags", "triggers": ["<x>"], "tags": []}, "must be non-empty"),
        (
            {
                "type": "triggered_tags",
                "triggers": ["<x>"],
                "tags": [{"begin": "<y>", "content": {"type": "any_text"}, "end": "e"}],
            },
            "trigger",
        ),
        ({"type": "structural_tag", "format": {"type": "any_text"}}, "not recognized"),
        ("text", "Format must be an object"),
    ],
)
def test_what_does_not_compile_is_refused_in_one_line(format: Any, reason: str, dummy: DummyPipeline) -> None:
    with pytest.raises(ConstraintError, match=reason) as caught:
        check(dummy, tagged(format))
    assert "\n" not in str(caught.value)
    assert ".cc" not in str(caught.value)
    assert ".cpp" not in str(caught.value)
    dummy.generate(LoweredConstraint("grammar", 'root ::= "a"'), 1)  # it still works


@pytest.fixture(scope="module")
def real_stub(smollm2: ModelSource) -> DummyPipeline:
    """On the default model's vocabulary of 49,000 tokens."""
    return DummyPipeline(Tokenizer(smollm2.path))


def test_what_earlier_grammars_left_of_the_memory_judges_none(
    dummy: DummyPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first one of a process has all of it; another is tried again, by a process of its own."""

    def used_up(dummy: DummyPipeline, lowered: LoweredConstraint | None, *_: Any, **__: Any) -> list[int]:
        raise RuntimeError("std::bad_alloc")

    monkeypatch.setattr(DummyPipeline, "generate", used_up)
    question = Trial(7, lower(tagged({"type": "any_text"})))
    with pytest.raises(MemoryUsedUp):
        answer(dummy, question, first=False)
    assert answer(dummy, question, first=True) == ConstraintRefused(7, "compiling it takes too much memory")


def test_a_grammar_that_is_slow_at_each_token_is_refused(real_stub: DummyPipeline) -> None:
    # A rule for each character, which XGrammar can't take apart.
    text = 'root ::= "\\"" (char)* "\\""\nchar ::= [^\\"<] | "<" after\nafter ::= char'
    slow = {"type": "grammar", "grammar": text}
    with pytest.raises(ConstraintError, match="times the CPU time of a plain string"):
        check(real_stub, tagged(slow))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "minLength": 40, "maxLength": 500},
        {"type": "string", "pattern": "^[^@]{1,64}@.+$"},
        {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(20)}},
    ],
)
def test_ours_are_not_slow(schema: dict[str, Any], real_stub: DummyPipeline) -> None:
    check(real_stub, JsonSchema(schema))


def test_every_character_can_be_written(dummy: DummyPipeline, own: Tokenizer) -> None:
    """XGrammar would leave out the last of these, and find no token behind the first byte of one."""
    lowered = lower(JsonSchema({"type": "string", "pattern": "^[\u0800-\ud7ff]{8}$"}))
    texts = [own.decode(dummy.generate(lowered, 100, draw=True)) for _ in range(40)]
    assert all(len(json.loads(text)) == 8 for text in texts)
    assert any(char >= "\ud000" for text in texts for char in text)
