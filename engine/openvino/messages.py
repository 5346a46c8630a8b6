"""What the server and its two child processes say to each other.

Token ids of prompts travel as bytes (int64, the machine's order): the server only counts and forwards them.
"""

import msgspec

from specvino.engine.request import Conversation
from specvino.engine.segments import FinishReason

TOKEN_ID_BYTES = 8


class LoadTokenizer(msgspec.Struct, tag=True):
    """The first message to the prepare process."""

    path: str


class Prepare(msgspec.Struct, tag=True):
    """A conversation to be rendered by the chat template and tokenized."""

    id: int
    prompt: Conversation


class Tokenize(msgspec.Struct, tag=True):
    """A text to be tokenized as it is."""

    id: int
    text: str
    add_special_tokens: bool


class Vocabulary(msgspec.Struct, tag=True):
    """Sent once, before Ready. `table` is each token's bytes, None if tokens' texts depend on their neighbours.

    Ids below `size` are those that both the tokenizer and the model have.
    """

    table: list[bytes] | None
    size: int
    pad_id: int


class Prepared(msgspec.Struct, tag=True):
    id: int
    token_ids: bytes


class PromptTooLong(msgspec.Struct, tag=True):
    """The tokenizer truncates such a prompt or text. `tokens` was counted piecewise and may be a few off."""

    id: int
    tokens: int
    limit: int


class PromptRefused(msgspec.Struct, tag=True):
    """`reason` is a sentence for the client."""

    id: int
    reason: str


FromPrepare = Vocabulary | Prepared | PromptTooLong | PromptRefused


class LoadModel(msgspec.Struct, tag=True):
    """The first message to the worker."""

    path: str
    max_sequences: int


class Generate(msgspec.Struct, tag=True):
    """One sequence. `temperature` 0 and `top_p` 0 are greedy, `top_k` -1 keeps all tokens."""

    id: int
    token_ids: bytes
    max_new_tokens: int
    temperature: float
    top_p: float
    top_k: int
    frequency_penalty: float
    presence_penalty: float
    repetition_penalty: float
    seed: int
    ignore_eos: bool


class Cancel(msgspec.Struct, tag=True):
    id: int


ToWorker = LoadModel | Generate | Cancel


class Output(msgspec.Struct, array_like=True):
    """A sequence's new tokens; its last output has a `finish`, or says in `error` why it failed."""

    id: int
    token_ids: list[int]
    finish: FinishReason | None = None
    error: str | None = None


class Step(msgspec.Struct, tag=True):
    """Sent after every step, also without outputs: it is the heartbeat. `cache_usage` is in percent."""

    outputs: list[Output]
    running: int
    waiting: int
    cache_usage: float
