"""What an engine is asked: a conversation and how to continue it."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that an earlier assistant turn made; `arguments` is the JSON text as it was sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `content` is plain text: parts are joined, and null is the empty text."""

    role: Role
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen, fully resolved (the request's value, else the model's, else the document's).

    `temperature` 0 and `top_p` 0 are greedy. `top_k` -1 keeps all tokens. `max_tokens` None is the
    model's own limit, or the end of the context.
    `seed` None draws a new one; choice i uses seed + i, so that choices differ and each can be repeated.
    """

    max_tokens: int | None
    temperature: float
    top_p: float
    top_k: int
    frequency_penalty: float
    presence_penalty: float
    repetition_penalty: float
    seed: int | None = None
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    prompt: Conversation
    sampling: Sampling
    n: int = 1
