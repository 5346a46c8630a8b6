"""What an engine yields while it answers a request.

A stream of segments is `Started`, then per choice what it consists of and exactly one `Finish` (choices interleave
freely), and at last one `Usage`. A choice consists of texts, reasoning and calls, in the order in which they came. A
call is a `ToolCallStart`, any number of `ToolCallArguments` and a `ToolCallEnd`, with nothing else of the choice
between them. Streams and unary answers are both made from it.
"""

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "tool_calls"]


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

    `unenforced` are the places in the constraint's schema, or structural tag, that don't hold the answer, and
    `unenforced_arguments` those in the parameters of tools, by the tool's number.
    """

    prompt_tokens: int
    unenforced: tuple[tuple[str | int, ...], ...] = ()
    unenforced_arguments: tuple[tuple[int, tuple[str | int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of a choice's text: never empty, never ending inside a code point.

    `logprobs`, where asked for, are those of the tokens that end with it or before it and weren't given yet.
    """

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of what the model thinks, otherwise like a `TextDelta`."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call of a known tool begins; `index` counts the choice's calls from 0.

    The tokens of a call have the texts that the model wrote, whatever becomes of them in the arguments' JSON.
    """

    choice: int
    index: int
    name: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """The next piece of the arguments' JSON text: never empty."""

    choice: int
    index: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """`complete`: the arguments are an object. Otherwise they break off."""

    choice: int
    index: int
    complete: bool


@dataclass(frozen=True, slots=True)
class PromptText:
    """The prompt that a choice goes on from, where the request wants it repeated: before all else of the choice."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """A choice is complete. `stop`: end of turn or a stop string; `length`: the token limit.

    `tool_calls`: it ended as with `stop`, holds calls, and all of them are complete. Where calls must be made, also if
    it was about to repeat one, or the limit cut it before anything was shown of another one.
    `logprobs`, where asked for, are those of its last tokens, which gave no text.
    """

    choice: int
    reason: FinishReason
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of the whole request: sums over its prompts (each counted once) and over its choices.

    `reasoning_tokens` are those of the completion that were reasoning.
    """

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0


Segment = (
    Started | PromptText | TextDelta | ReasoningDelta | ToolCallStart | ToolCallArguments | ToolCallEnd | Finish | Usage
)
