"""What an engine is asked: prompts and how to continue them."""

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
    """One turn. `content` is plain text: parts are joined, and null is the empty text.

    `reasoning` is what the model thought before an earlier assistant turn, for templates that show it.
    """

    role: Role
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class TextPrompt:
    """The model's raw input, without a chat template.

    The tokenizer's special tokens are added, and those that the text spells are recognised: it may hold a whole
    template written by hand.
    """

    text: str


@dataclass(frozen=True, slots=True)
class TokenPrompt:
    """The model's raw input in token ids; nothing is added."""

    ids: tuple[int, ...]


Prompt = Conversation | TextPrompt | TokenPrompt


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen, fully resolved (the request's value, else the model's, else the document's).

    `temperature` 0 and `top_p` 0 are greedy. `top_k` -1 keeps all tokens. `max_tokens` None is the
    model's own limit, or the end of the context.
    `seed` None draws a new one for each prompt; a prompt's choice i uses seed + i, so that choices differ and each can
    be repeated.
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
    """`n` choices for each prompt: those of the first prompt are 0 to n - 1, those of the second go on at n."""

    prompts: tuple[Prompt, ...]
    sampling: Sampling
    n: int = 1
