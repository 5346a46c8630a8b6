"""A prompt has the tokens that its maker's tokenizer makes of the text that the independent environment renders."""

import json
from collections.abc import Mapping
from typing import Any

import numpy
import pytest
from tokenizers import Tokenizer

from specvino.engine.chat_template.capabilities import read_capabilities
from specvino.engine.chat_template.template import Template
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.request import Conversation, Message, Tool, ToolCall
from templates import conversations, independent
from templates.style import Style, style_of
from templates.vocabularies import VOCABULARIES, Vocabulary

# The engine gets no null and no parts, and calls the developer by the name that the template knows.
OTHERS = {"content null", "content in parts", "developer"}
NAMES = [name for name in conversations.NAMES if name not in OTHERS]


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return VOCABULARIES[request.param]


@pytest.fixture(scope="module")
def preprocessor(vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Preprocessor:
    folder = tmp_path_factory.mktemp("vocabulary")
    vocabulary.build(folder)
    return Preprocessor(load_tokenizer(folder))


@pytest.fixture(scope="module")
def reference(vocabulary: Vocabulary) -> Tokenizer:
    return vocabulary.reference()


def as_message(turn: Mapping[str, Any]) -> Message:
    functions = [(call["id"], call["function"]) for call in turn.get("tool_calls", ())]
    calls = [
        ToolCall(id, function["name"], json.dumps(function["arguments"], ensure_ascii=False))
        for id, function in functions
    ]
    return Message(
        turn["role"],
        turn["content"],
        name=turn.get("name"),
        tool_calls=tuple(calls),
        tool_call_id=turn.get("tool_call_id"),
        reasoning=turn.get("reasoning_content"),
    )


def as_prompt(given: conversations.Conversation) -> Conversation:
    """What the engine gets of it."""
    tools = [Tool(**tool["function"]) for tool in given.tools]
    return Conversation(tuple(map(as_message, given.messages)), tuple(tools), json.dumps(given.variables))


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_has_the_makers_tokens(
    name: str, vocabulary: Vocabulary, preprocessor: Preprocessor, reference: Tokenizer
) -> None:
    template = vocabulary.chat_template
    style = style_of(Template(template, vocabulary.tokens)) or Style()
    if name == "parallel calls" and not read_capabilities(Template(template, vocabulary.tokens)).parallel_calls:
        pytest.skip("the template shows one call per turn: the engine gives each call a turn of its own")
    given = conversations.conversations(style)[name]
    variables = {**vocabulary.tokens, **given.variables}
    try:
        text = independent.rendered(template, given.messages, list(given.tools) or None, True, variables)
    except Exception:  # whatever a template raises
        pytest.skip("the template refuses it")
    # Its arguments are objects, which the preprocessor makes of JSON texts if the template expects them.
    ids = preprocessor.preprocess(as_prompt(conversations.conversations(Style())[name]))
    assert numpy.frombuffer(ids, numpy.int64).tolist() == reference.encode(text, add_special_tokens=False).ids
