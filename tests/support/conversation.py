"""Short ways to ask an engine and to look at its answer."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

from specvino.engine.protocol import Engine
from specvino.engine.request import Conversation, GenerationRequest, Message, Prompt, Sampling
from specvino.engine.segments import Finish, Segment, Started, TextDelta, Usage

GREEDY = Sampling(
    max_tokens=None,
    temperature=0,
    top_p=1,
    top_k=-1,
    frequency_penalty=0,
    presence_penalty=0,
    repetition_penalty=1,
)


def conversation(*contents: str) -> Conversation:
    """User and assistant in turns."""
    return Conversation(tuple(Message("assistant" if i % 2 else "user", text) for i, text in enumerate(contents)))


def ask(text: str, n: int = 1, **sampling: Any) -> GenerationRequest:
    """Greedy, unless `sampling` says otherwise."""
    return ask_all(conversation(text), n=n, **sampling)


def ask_all(*prompts: Prompt, n: int = 1, **sampling: Any) -> GenerationRequest:
    return GenerationRequest(prompts, replace(GREEDY, **sampling), n)


async def answer(engine: Engine, request: GenerationRequest) -> list[Segment]:
    return [segment async for segment in engine.generate(request)]


def text(segments: list[Segment], choice: int = 0) -> str:
    return "".join(s.text for s in segments if isinstance(s, TextDelta) and s.choice == choice)


def reasons(segments: list[Segment]) -> dict[int, str]:
    return {s.choice: s.reason for s in segments if isinstance(s, Finish)}


def prompt_tokens(segments: list[Segment]) -> int:
    """As an answer's first segment counts them."""
    assert isinstance(segments[0], Started)
    return segments[0].prompt_tokens


def completion_tokens(segments: list[Segment]) -> int:
    """As a whole answer's last segment counts them."""
    assert isinstance(segments[-1], Usage)
    return segments[-1].completion_tokens


async def until_text(answering: AsyncGenerator[Segment]) -> None:
    """Reads up to the first piece of text."""
    async for segment in answering:
        if isinstance(segment, TextDelta):
            return
