"""What an engine yields while it answers a request.

A stream of segments is `Started`, then per choice any number of `TextDelta` and exactly one `Finish`
(choices interleave freely), and at last one `Usage`. Streams and unary answers are both made from it.
"""

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely a token was, as a natural logarithm; None for a prompt's first one, which nothing foretold.

    `text` is what the token gave to the text: empty where it gave nothing (a control token that is left out, a part of
    a character before its last one, what is cut off at a stop string). So the texts of a choice's tokens are its text.
    `bytes` are the token's own, whole in any case; None where the vocabulary doesn't tell them.
    """

    text: str
    bytes: bytes | None
    logprob: float | None


@dataclass(frozen=True, slots=True)
class Started:
    """The request was admitted: it is valid and each of its prompts fits the context. The count is of all together.

    `unenforced` are the places in the constraint's schema, or structural tag, that don't hold the answer.
    """

    prompt_tokens: int
    unenforced: tuple[tuple[str | int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of a choice's text: never empty, never ending inside a code point.

    `logprobs`, where asked for, are those of the tokens that end with it or before it and weren't given yet.
    """

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptText:
    """The prompt that a choice goes on from, where the request wants it repeated: before all else of the choice."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """A choice is complete. `stop`: end of turn or a stop string; `length`: the token limit.

    `logprobs`, where asked for, are those of its last tokens, which gave no text.
    """

    choice: int
    reason: FinishReason
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of the whole request: sums over its prompts (each counted once) and over its choices."""

    prompt_tokens: int
    completion_tokens: int


Segment = Started | PromptText | TextDelta | Finish | Usage
