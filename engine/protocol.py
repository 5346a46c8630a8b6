"""The interface of engines for handlers."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol

from specvino.engine.progress import Report, say_nothing
from specvino.engine.request import Conversation, GenerationRequest, ReadImage
from specvino.engine.segments import Segment

# The client of the current request, for fair sharing of scarce slots. The server sets it; without it, all requests
# belong to one client.
CLIENT: ContextVar[str] = ContextVar("client", default="")

# The id of the current request, for the log. The server sets it.
REQUEST: ContextVar[str] = ContextVar("request", default="")

State = Literal["loading", "ready", "idle", "stalled", "restarting", "closed"]
"""An idle engine has unloaded its model, and loads it for the next request. A stalled engine has pending requests and
no output, so a new request would wait."""

Drafting = Literal["draft_model", "prompt_lookup"]
Calling = Literal["strict", "taught", "forced"]
PaddingSide = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The properties of a loaded model.

    `context_length` is in tokens, prompt and completion together. `defaults` are the sampling settings of its
    generation_config.json, by their names in `Sampling`. Token ids are below `vocabulary_size`. `drafting` is the
    source of speculative decoding's drafts, None without it. With `vision` it accepts images. `calling` is how the
    model calls tools: "strict" if its format allows calls to be constrained to strict schemas even if they aren't
    forced, "taught" if it doesn't, "forced" if it only calls when forced, None if it can't call. `thinking_variables`
    are the variables of its chat template that control the reasoning, such as `enable_thinking` and `reasoning_effort`.
    With `thinking_budgets` its reasoning can be ended after a number of tokens. With `full_logits` it returns the most
    likely tokens at each position, scores prompts, and supports `logit_bias` and allowed and bad tokens.
    `template_lacks` are the missing capabilities of its chat template, with their workarounds. `described` are its
    format, its device and other facts for people, in short phrases. `weights` is their size in bytes, 0 without a file
    of them. `drafted_tokens` is the longest prompt that is computed with a draft model, in tokens, None without one.
    `tokenizer_tokens` is the number of tokens from which its tokenizer truncates a text, None if it doesn't.
    """

    context_length: int
    vocabulary_size: int
    defaults: Mapping[str, float | int]
    drafting: Drafting | None = None
    vision: bool = False
    calling: Calling | None = "strict"
    thinking_variables: frozenset[str] = frozenset()
    thinking_budgets: bool = False
    full_logits: bool = True
    template_lacks: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    weights: int = 0
    drafted_tokens: int | None = None
    tokenizer_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Loading:
    """How far a start is: `done` of `total` bytes of the stage, both 0 if that isn't known. The stage began at the
    monotonic time `began`.
    """

    stage: str
    began: float
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Statistics of an engine: `running` and `waiting` count sequences; `restarts` counts lost processes since the
    start. `cache_usage` is the fraction of the KV cache used by running sequences, 0 to 1; `cache_tokens` is how many
    tokens fit into it, None if unknown. `accepted_drafts` counts the accepted draft tokens of speculative decoding,
    None without it. `loading` is the stage of a start that is under way.
    """

    state: State
    running: int
    waiting: int
    restarts: int
    cache_usage: float = 0.0
    cache_tokens: int | None = None
    accepted_drafts: int | None = None
    loading: Loading | None = None


class Engine(Protocol):
    """The interface of engines for handlers: one model answers requests."""

    @property
    def model(self) -> ModelInfo:
        """Returns the properties of the model. Raises EngineUnavailable before the first load."""
        ...

    @property
    def lacks_memory(self) -> tuple[str, ...]:
        """Returns the requests that the server never has memory for, as sentences."""
        ...

    async def start(self, report: Report = say_nothing) -> None:
        """Loads the model; returns when ready. `report` gets each stage, and its bytes; from any thread. Raises
        ModelLoadError.
        """
        ...

    def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        """Answers one request. Raises an EngineError, a PromptError always before the first segment.

        Closing the generator (or cancelling the task that iterates it) cancels the request and frees its memory.
        """
        ...

    async def loaded(self) -> None:
        """Returns when the model is loaded, which it isn't after some time without requests (`--idle-unload`). Raises
        EngineUnavailable.
        """
        ...

    async def check(self, request: GenerationRequest) -> None:
        """Raises the errors that `generate` would raise before its first segment, without generating."""
        ...

    async def tokenize(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool,
        parse_special: bool = True,
        max_length: int | None = None,
        pad: PaddingSide | None = None,
    ) -> list[list[int]]:
        """Returns each text's token ids; special tokens in a text are parsed as such if `parse_special`.

        `add_special_tokens` adds those that the tokenizer puts around a text (many put none). `max_length` keeps the
        first ids only, and `pad` fills up to it on that side with the model's padding token; without `max_length`
        `pad` has no effect. Raises EngineUnavailable, EngineRestarted, and PromptError for a text that the tokenizer
        would truncate.
        """
        ...

    async def render(self, conversation: Conversation, most_characters: int) -> list[int]:
        """Returns the prompt tokens of a conversation without images, which may exceed the model's context. Raises
        EngineUnavailable, EngineRestarted, and PromptError for a conversation that the chat template rejects, whose
        rendered text has more than `most_characters`, or that the tokenizer would truncate.
        """
        ...

    async def detokenize(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Returns the text of tokens.

        Raises EngineUnavailable, EngineRestarted, and PromptError for a token that the model doesn't have.
        """
        ...

    async def token_bytes(self, token_ids: Sequence[int]) -> list[bytes]:
        """Returns the bytes of each token; for special tokens, their names. Raises as `detokenize`."""
        ...

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        """Decodes an image file, given as its bytes or their base64. The image is scaled down if a side has more than
        `longest_side` pixels, and rejected if more than `most_pixels` would have to be decoded. Raises ImageError,
        EngineUnavailable and EngineRestarted.
        """
        ...

    def stats(self) -> EngineStats: ...

    @property
    def generated_tokens(self) -> int:
        """Returns how many tokens were generated since the start, including those of cancelled requests."""
        ...

    async def close(self) -> None:
        """Ends the engine and its processes; running requests raise EngineUnavailable."""
        ...
