"""The load that both sides carry: conversations, as a rule of about 300 tokens, 64 new tokens each, greedy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NEW_TOKENS = 64

_TEXT = """
the river runs past an old mill where people of the town meet to talk about weather bread prices and letters from abroad
while children play near the bridge and count boats that carry wood stone and wool to the sea
"""
_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` requests at a time, `rounds` times; the prompts differ, so that no prefix cache helps.

    The first `held` streams ask for the `response_format`, of which no answer of `new_tokens` may come to the end. All
    ask for `top_logprobs`.
    """

    streams: int
    rounds: int
    words: int = 260
    new_tokens: int = NEW_TOKENS
    held: int = 0
    response_format: Mapping[str, Any] | None = None
    top_logprobs: int = 0

    def prompts(self, salt: int) -> list[list[str]]:
        """A prompt for each stream and round, other ones for every salt."""
        return [
            [_prompt(salt * 10_000 + stream * 100 + round_, self.words) for round_ in range(self.rounds)]
            for stream in range(self.streams)
        ]

    def fields(self, stream: int) -> dict[str, Any]:
        """What a stream's requests ask for beside their prompts."""
        structured_output = {"response_format": self.response_format} if stream < self.held else {"ignore_eos": True}
        scores = {"logprobs": True, "top_logprobs": self.top_logprobs} if self.top_logprobs else {}
        return {"temperature": 0, "max_tokens": self.new_tokens, "stream": True, **structured_output, **scores}


LOADS = (Load(1, 1), Load(4, 1), Load(16, 1), Load(64, 1))


def _prompt(number: int, length: int) -> str:
    words = [_WORDS[(number * 7 + i * (number % 11 + 1)) % len(_WORDS)] for i in range(length)]
    return f"Story {number}: " + " ".join(words)
