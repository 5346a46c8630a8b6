"""Prompts that are cut, or come as tokens, and the tokens of answers."""

import asyncio
from dataclasses import replace
from typing import Literal

import pytest
from support.conversation import answer, ask, ask_all, prompt_tokens, text

from specvino.engine.errors import PromptError
from specvino.engine.request import Conversation, GenerationRequest, Message, TextPrompt, TokenPrompt, Truncation
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.scripted.mock_tokenizer import VOCABULARY_SIZE, word_ids
from specvino.engine.segments import Segment, Started, TokenIds

CONTEXT_LENGTH = 4096


def asked(request: GenerationRequest) -> list[Segment]:
    async def run() -> list[Segment]:
        engine = ScriptedEngine(context_length=CONTEXT_LENGTH)
        await engine.start()
        return await answer(engine, request)

    return asyncio.run(run())


@pytest.mark.parametrize(("side", "kept"), [("left", " c d"), ("right", "a b")])
def test_a_text_is_cut(side: Literal["left", "right"], kept: str) -> None:
    request = replace(ask_all(TextPrompt("a b c d")), truncation=Truncation(2, side))
    assert text(asked(request)) == kept


def test_as_much_as_leaves_room() -> None:
    long = TokenPrompt((7,) * CONTEXT_LENGTH)
    cut = replace(ask_all(long, max_tokens=3), truncation=Truncation(None))
    assert prompt_tokens(asked(cut)) == CONTEXT_LENGTH - 3
    assert prompt_tokens(asked(replace(ask("a b"), truncation=Truncation(1)))) == 1


def test_the_tokens_of_prompts_and_choices() -> None:
    segments = asked(replace(ask_all(TextPrompt("a b"), TokenPrompt((5,))), token_ids=True))
    started = segments[0]
    assert isinstance(started, Started)
    assert started.prompt_token_ids == (tuple(word_ids("a b")), (5,))
    ids = [id for segment in segments if isinstance(segment, TokenIds) and segment.choice == 0 for id in segment.ids]
    assert ids[:-1] == word_ids("a b")


def test_a_conversation_that_is_rendered() -> None:
    conversation = Conversation((Message("user", "a"),))
    written = replace(conversation, rendered="b c")
    assert text(asked(ask_all(written))) == "b c"
    with pytest.raises(PromptError, match="no token"):
        asked(ask_all(replace(conversation, rendered=(VOCABULARY_SIZE,))))
