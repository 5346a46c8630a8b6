"""Segments, which an engine yields while it answers a request. A stream of segments is `Started`, then for each choice
its content and exactly one `Finish` (choices interleave freely), and finally one `Usage`. The content of a choice is
text, reasoning and calls, in order of generation; the segments of its prompt precede them. A call is a `ToolCallStart`,
any number of `ToolCallArguments` and a `ToolCallEnd`, with nothing else of the choice between them. Streams and unary
answers are both built from segments.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

FinishReason = Literal["stop", "length", "tool_calls"]


class TopToken(NamedTuple):
    """One of the most likely tokens at a position: its text and bytes (for a special token, its name) and its logprob.
    The bytes are None if the vocabulary doesn't have them. `chosen` marks the sampled token.
    """

    text: str
    bytes: bytes | None
    logprob: float
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """The logprob of a token (natural logarithm); None for a prompt's first token, which has no context, and for
    prompts that aren't scored.

    `text` is the token's contribution to the text: empty for a control token that is left out, for all but the last
    part of a character, and for text after a stop string. So the joined texts of a choice's tokens are its text.
    `bytes` are always all bytes of the token; None if the vocabulary doesn't have them. `top` are the most likely
    tokens at its position, as many as requested; empty if the engine only returns the sampled one.
    """

    text: str
    bytes: bytes | None
    logprob: float | None
    top: tuple[TopToken, ...] = ()


Hidden = Literal["tools", "content", "arguments", "reasoning"]
"""Parts that a chat template may not render: the tools; the content next to a turn's calls; arguments that aren't a
JSON object; the reasoning of earlier turns.
"""


@dataclass(frozen=True, slots=True)
class Started:
    """The request was admitted: it is valid and each of its prompts fits the context. `prompt_tokens` is the sum over
    all prompts. `prompt_token_ids`, if requested, are those of each prompt; None for a prompt with images, which only
    the pipeline tokenizes.

    `unenforced` are the paths in the constraint's schema, or structural tag, that don't constrain the answer, and
    `unenforced_arguments` those in the parameters of tools, with the tool's index. `hidden` are the parts of a
    conversation that the model's chat template doesn't render.
    """

    prompt_tokens: int
    unenforced: tuple[tuple[str | int, ...], ...] = ()
    unenforced_arguments: tuple[tuple[int, tuple[str | int, ...]], ...] = ()
    prompt_token_ids: tuple[tuple[int, ...] | None, ...] = ()
    hidden: tuple[Hidden, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenIds:
    """A choice's next tokens, if requested, up to and including the one that ended it. Their segments follow."""

    choice: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of a choice's text, never empty and never ending inside a code point.

    `logprobs`, if requested, are those of the tokens up to its end that weren't in an earlier segment.
    """

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of the model's reasoning, otherwise like a `TextDelta`."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """The beginning of a call of a known tool; `index` counts the choice's calls from 0.

    The tokens of a call have the model's texts, which may differ from the arguments' JSON.
    """

    choice: int
    index: int
    name: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """The next piece of the arguments' JSON text, never empty."""

    choice: int
    index: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The end of a call. If it is `complete`, the arguments are an object; otherwise they are incomplete."""

    choice: int
    index: int
    complete: bool


@dataclass(frozen=True, slots=True)
class PromptText:
    """The prompt of a choice, if the request echoes it. It precedes the choice's text."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


class PromptToken(NamedTuple):
    """The token at a position of a prompt, or a likely alternative: its id, its text (for a special token, its name),
    its logprob, and its rank in the vocabulary, 1 for the most likely.
    """

    id: int
    text: str
    logprob: float
    rank: int


@dataclass(frozen=True, slots=True)
class PromptLogprobs:
    """The logprobs of a choice's prompt, if requested: at each position the prompt's token, followed by the most likely
    others in descending order. The first position has none.
    """

    choice: int
    positions: tuple[tuple[PromptToken, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a choice. `stop` is the end of turn or a stop string, `length` the token limit.

    With `tool_calls` it ended as with `stop`, has calls, and all of them are complete. If calls are forced, it is also
    `tool_calls` if it was about to repeat one, or if the token limit was reached before anything of another call was
    sent. `logprobs`, if requested, are those of its last tokens, which added no text. `stopped_by` is the stop string
    that ended it, or the id of the stop token.
    """

    choice: int
    reason: FinishReason
    logprobs: tuple[TokenLogprob, ...] = ()
    stopped_by: str | int | None = None


@dataclass(frozen=True, slots=True)
class Phases:
    """The times of a request, in seconds: until it got a slot (`queue`), from then to its first token (`prefill`), and
    from there to its last one (`decode`); for all its choices together.
    """

    queue: float
    prefill: float
    decode: float


@dataclass(frozen=True, slots=True)
class Usage:
    """The token counts of the whole request: sums over its prompts (each counted once) and over its choices.

    `reasoning_tokens` are the completion's reasoning tokens. `phases` is None if the engine doesn't measure them.
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
