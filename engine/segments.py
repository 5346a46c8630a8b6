"""Segments, which an engine yields while it answers a request.

A stream of segments is `Started`, then per choice what it consists of and exactly one `Finish` (choices interleave
freely), and at last one `Usage`. A choice consists of texts, reasoning and calls, in the order in which they came;
before them comes what is told of its prompt. A call is a `ToolCallStart`, any number of `ToolCallArguments` and a
`ToolCallEnd`, with nothing else of the choice between them. Streams and unary answers are both made from it.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

FinishReason = Literal["stop", "length", "tool_calls"]


class TopToken(NamedTuple):
    """Is one of the likeliest tokens at a place: its own text and bytes, of a special one its name, and its logprob.
    The bytes are None where the vocabulary doesn't tell them. `chosen` says that it is the one that was."""

    text: str
    bytes: bytes | None
    logprob: float
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """Says how likely a token was, as a natural logarithm; None for a prompt's first one, which nothing foretold.

    `text` is what the token gave to the text: empty where it gave nothing (a control token that is left out, a part of
    a character before its last one, what is cut off at a stop string). So the texts of a choice's tokens are its text.
    `bytes` are the token's own, whole in any case; None where the vocabulary doesn't tell them. `top` are the likeliest
    tokens at its place, as many as were asked for; none where the engine knows the chosen one alone.
    """

    text: str
    bytes: bytes | None
    logprob: float | None
    top: tuple[TopToken, ...] = ()


Hidden = Literal["tools", "content", "arguments", "reasoning"]
"""The tools; the content beside a turn's calls; arguments that are no JSON object; the reasoning of earlier turns."""


@dataclass(frozen=True, slots=True)
class Started:
    """Says that the request was admitted: it is valid and each of its prompts fits the context. The count is of all
    together. `prompt_token_ids`, where asked for, are those of each prompt; None for one with images, whose tokens only
    the pipeline knows.

    `unenforced` are the places in the constraint's schema, or structural tag, that don't constrain the answer, and
    `unenforced_arguments` those in the parameters of tools, by the tool's number. `hidden` is what of a conversation
    the model's chat template doesn't show.
    """

    prompt_tokens: int
    unenforced: tuple[tuple[str | int, ...], ...] = ()
    unenforced_arguments: tuple[tuple[int, tuple[str | int, ...]], ...] = ()
    prompt_token_ids: tuple[tuple[int, ...] | None, ...] = ()
    hidden: tuple[Hidden, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenIds:
    """Are a choice's next tokens, where asked for, up to and with the one that ended it: what is made of them comes
    behind."""

    choice: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Is the next piece of a choice's text, never empty and never ending inside a code point.

    `logprobs`, where asked for, are those of the tokens that end with it or before it and weren't given yet.
    """

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Is the next piece of the model's reasoning, otherwise like a `TextDelta`."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """Begins a call of a known tool; `index` counts the choice's calls from 0.

    The tokens of a call have the texts that the model wrote, whatever becomes of them in the arguments' JSON.
    """

    choice: int
    index: int
    name: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """Is the next piece of the arguments' JSON text, never empty."""

    choice: int
    index: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """Ends a call. `complete` says that the arguments are an object; otherwise they break off."""

    choice: int
    index: int
    complete: bool


@dataclass(frozen=True, slots=True)
class PromptText:
    """Is the prompt that a choice goes on from, where the request wants it repeated: it comes before all else of the
    choice."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


class PromptToken(NamedTuple):
    """Is a token at a place of a prompt, or one that is likely there: its id, its own text (of a special one its name),
    its logprob, and its place among all tokens, of which the likeliest has 1."""

    id: int
    text: str
    logprob: float
    rank: int


@dataclass(frozen=True, slots=True)
class PromptLogprobs:
    """Says how likely the tokens of a choice's prompt were, where asked for: at each place the prompt's own token, and
    then the likeliest others, the likeliest first. Nothing foretold the first token."""

    choice: int
    places: tuple[tuple[PromptToken, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Says that a choice is complete. `stop` is the end of turn or a stop string, `length` the token limit.

    `tool_calls` says that it ended as with `stop`, holds calls, and all of them are complete. Where calls must be made,
    also if it was about to repeat one, or the limit cut it before anything was shown of another one. `logprobs`, where
    asked for, are those of its last tokens, which gave no text. `stopped_by` is the stop string that ended it, or the
    id of the stop token.
    """

    choice: int
    reason: FinishReason
    logprobs: tuple[TokenLogprob, ...] = ()
    stopped_by: str | int | None = None


@dataclass(frozen=True, slots=True)
class Phases:
    """Says how long a request waited for a place (`queue`), how long it took from then to its first token (`prefill`),
    and from that to its last one (`decode`), in seconds; of all its choices together."""

    queue: float
    prefill: float
    decode: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Holds the token counts of the whole request: sums over its prompts (each counted once) and over its choices.

    `reasoning_tokens` are those of the completion that were reasoning. `phases` are None where the engine doesn't know
    them.
    """

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0
    phases: Phases | None = field(default=None, compare=False)


Segment = (
    Started
    | PromptLogprobs
    | PromptText
    | TokenIds
    | TextDelta
    | ReasoningDelta
    | ToolCallStart
    | ToolCallArguments
    | ToolCallEnd
    | Finish
    | Usage
)
