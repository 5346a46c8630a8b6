"""The engine as handlers see it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol

from specvino.engine.request import Conversation, GenerationRequest, ReadImage
from specvino.engine.segments import Segment

# Who asks, so that what many wait for is shared out among clients. The server sets it for each request; without it all
# are one client.
CLIENT: ContextVar[str] = ContextVar("client", default="")

State = Literal["loading", "ready", "stalled", "restarting", "closed"]
"""A stalled engine owes answers and gives none: what comes now would wait."""

Drafting = Literal["draft_model", "prompt_lookup"]
Calling = Literal["strict", "taught", "forced"]
PaddingSide = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Holds what a loaded model says of itself.

    `context_length` is in tokens, prompt and completion together. `defaults` are the sampling settings of its
    generation_config.json, by their names in `Sampling`. Token ids are below `vocabulary_size`. `drafting` is the
    source of speculative decoding's drafts, None without it. `vision` says that it takes images.

    `calling` says that the model was taught a way to call tools, in which its calls can be held to strict schemas also
    where nothing forces them; or one in which they can't; or it calls them only where it is forced to. None if not even
    that. `thinking_variables` are those, such as `enable_thinking` and `reasoning_effort`, by which its chat template
    is told whether and how much to think. `thinking_budgets` says that its reasoning can be ended after a number of
    tokens. `full_logits` says that it can show the likeliest tokens at each place and score prompts, and heed
    `logit_bias` and which tokens may be drawn. `template_lacks` is what its chat template doesn't support, each with
    what is done instead.
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


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Counts what an engine does: `running` and `waiting` count sequences; `restarts` counts lost processes since the
    start. `cache_usage` is the share of the KV cache that running sequences hold, 0 to 1; `cache_tokens` is how many
    tokens fit into it, None where nobody knows. `accepted_drafts` counts the tokens of answers that speculative
    decoding had drafted, None without it."""

    state: State
    running: int
    waiting: int
    restarts: int
    cache_usage: float = 0.0
    cache_tokens: int | None = None
    accepted_drafts: int | None = None


class Engine(Protocol):
    """Answers requests with one model: this is what handlers need of every engine."""

    @property
    def model(self) -> ModelInfo:
        """Returns the loaded model. Raises EngineUnavailable before it was first loaded."""
        ...

    async def start(self) -> None:
        """Loads the model; returns when ready. Raises ModelLoadError."""
        ...

    def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        """Answers one request. Raises an EngineError, a PromptError always before the first segment.

        Closing the generator (or cancelling the task that iterates it) cancels the request and frees its memory.
        """
        ...

    async def check(self, request: GenerationRequest) -> None:
        """Raises what `generate` would raise before its first segment, but generates nothing."""
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
        """Returns each text's token ids; special tokens in a text are recognised as such if `parse_special`.

        `add_special_tokens` adds those that the tokenizer puts around a text (many put none). `max_length` keeps the
        first so many ids, and `pad` fills up to it on that side with the model's padding token; without `max_length`
        `pad` has no effect. Raises EngineUnavailable, EngineRestarted, and PromptError for a text that the tokenizer
        can't take whole: nothing is ever cut off silently.
        """
        ...

    async def render(self, conversation: Conversation, most_characters: int) -> list[int]:
        """Returns the tokens that the model reads of a conversation without images, or would read if it fitted the
        model's context.

        Raises EngineUnavailable, EngineRestarted, and PromptError for one that the chat template refuses, that it makes
        more than `most_characters` of, or that the tokenizer can't take whole.
        """
        ...

    async def detokenize(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Returns the text of tokens.

        Raises EngineUnavailable, EngineRestarted, and PromptError for a token that the model doesn't have.
        """
        ...

    async def token_bytes(self, token_ids: Sequence[int]) -> list[bytes]:
        """Returns what each token stands for, of special ones their names. Raises as `detokenize`."""
        ...

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        """Returns the picture in an image file, given as its bytes or their base64.

        It is made smaller if one of its sides has more than `longest_side` pixels, and refused if more than
        `most_pixels` would have to be decoded for it. Raises ImageError, EngineUnavailable
        and EngineRestarted.
        """
        ...

    def stats(self) -> EngineStats: ...

    @property
    def generated_tokens(self) -> int:
        """Counts the tokens that were generated since the start, those of requests that nobody waited for too."""
        ...

    async def close(self) -> None:
        """Ends the engine and its processes; requests under way raise EngineUnavailable."""
        ...
