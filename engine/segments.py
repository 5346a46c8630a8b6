"""What an engine yields while it answers a request.

A stream of segments is `Started`, then per choice any number of `TextDelta` and exactly one `Finish`
(choices interleave freely), and at last one `Usage`. Streams and unary answers are both made from it.
"""

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Started:
    """The request was admitted: it is valid and each of its prompts fits the context. The count is of all together."""

    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of a choice's text: never empty, never ending inside a code point."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """A choice is complete. `stop`: end of turn or a stop string; `length`: the token limit."""

    choice: int
    reason: FinishReason


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of the whole request: sums over its prompts (each counted once) and over its choices."""

    prompt_tokens: int
    completion_tokens: int


Segment = Started | TextDelta | Finish | Usage
