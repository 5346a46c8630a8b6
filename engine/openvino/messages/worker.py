"""The messages between the server and the worker process."""

from collections.abc import Iterator

import msgspec

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.preprocess import TOKEN_ID_BYTES
from specvino.engine.protocol import Drafting
from specvino.engine.request import Image, Sampling
from specvino.engine.segments import FinishReason

# With a draft model, the longest prompt (tokens) that drafts are made for: it is one step, whatever its length, and a
# long one would keep all others waiting (decision 028).
LONGEST_DRAFTED = 1024

# The most tokens of a block of the cache: those on a CPU (OpenVINO 2026.4.1).
CACHE_BLOCK = 32


Likeliest = list[tuple[int, float]]
"""Tokens by their ids, the likeliest first, with their logprobs."""


class LoadModel(msgspec.Struct, tag=True):
    """Is the first message to a worker. `draft_path` is that of a smaller model for speculative decoding.

    `cache_size` (GB) bounds the memory of running sequences; 0 lets it grow. A `plain` worker has neither prefix cache
    nor speculative decoding.
    """

    path: str
    max_sequences: int
    draft_path: str | None = None
    prompt_lookup: bool = False
    cache_size: int = 0
    plain: bool = False
    options: PipelineOptions = PipelineOptions()

    @property
    def prefix_cache(self) -> bool:
        """Tells whether prompts that begin as others did are computed from there on.

        GenAI 2026.4.1: with a draft model, a draft that is rejected would make the step raise (decision 027).
        """
        return not self.plain and self.draft_path is None

    @property
    def drafting(self) -> Drafting | None:
        if self.draft_path is not None:
            return "draft_model"
        return "prompt_lookup" if self.prompt_lookup else None


class SendImage(msgspec.Struct, tag=True):
    """Carries the next image of those that Generates refer to by `key`, or the next piece of it, as in Decoded."""

    key: int
    image: Image
    more: bool = False


class ReleaseImages(msgspec.Struct, tag=True):
    """Says that no further Generate refers to the images of `key`."""

    key: int


class VisionPrompt(msgspec.Struct):
    """Is a prompt for a vision-language model: a text, which has a tag for each of the images shown under `key`.

    Only the pipeline knows how many tokens images are. Prompt and answer must fit `context_length`; `yields` says that
    `max_new_tokens` was not asked for: then the answer may end earlier.
    """

    text: str
    context_length: int
    yields: bool
    key: int | None = None


class Generate(msgspec.Struct, tag=True):
    """Asks for one sequence, or for a beam search: then the ids of its `n` best texts follow `id`.

    With `copies` it asks for so many sequences, whose ids and seeds follow `id` and `seed`.

    `request` is the same for all that one client's request asks for, `owner` for all that one key asks for, and
    `client` for all that one key asks for or, without keys, one address.
    `sampling` is the request's. `max_new_tokens` and `seed` are this sequence's own, where that leaves them open or the
    choices of a request must differ. `echo` asks for the prompt's `logprobs` too. Only the full-logits process knows
    the `top_logprobs` likeliest tokens and those of `logprob_token_ids`, scores a prompt with so many of the likeliest
    tokens as `prompt_logprobs` says, and bars the last token of each of the `bad_word_runs` behind the others.
    `vision_prompt` takes the place of `token_ids` for a vision-language model.
    """

    id: int
    request: int
    token_ids: bytes
    sampling: Sampling
    max_new_tokens: int
    seed: int
    n: int = 1
    copies: int = 1
    logprobs: bool = False
    top_logprobs: int = 0
    logprob_token_ids: tuple[int, ...] = ()
    prompt_logprobs: int | None = None
    bad_word_runs: tuple[tuple[int, ...], ...] = ()
    echo: bool = False
    vision_prompt: VisionPrompt | None = None
    lowered: LoweredConstraint | None = None
    owner: str = ""
    client: str = ""
    priority: int = 0

    @property
    def beams(self) -> int:
        """Returns the width of its beam search, 1 where it is none: a prompt that nothing follows is only given
        back."""
        return self.sampling.best_of if self.max_new_tokens else 1

    @property
    def prompt_tokens(self) -> int:
        """Returns the length of the prompt, without that of its images."""
        return len(self.token_ids) // TOKEN_ID_BYTES

    def each(self) -> Iterator["Generate"]:
        """Yields a message for each of the copies; their prompt is in the memory once."""
        for i in range(self.copies):
            yield msgspec.structs.replace(self, id=self.id + i, seed=(self.seed + i) % 2**64, copies=1)


class Cancel(msgspec.Struct, tag=True):
    """Ends a sequence whose client has gone."""

    id: int


ToWorker = LoadModel | Generate | Cancel | SendImage | ReleaseImages


class Loaded(msgspec.Struct, tag=True):
    """Is the first message of a worker whose cache has a size: so many tokens of a sequence fit into it."""

    cache_tokens: int


class Output(msgspec.Struct, array_like=True):
    """Carries a sequence's new tokens; its last output has a `finish`, or says in `error` why it failed.

    `logprobs`, where asked for, has one for each token, and `top_logprobs` the ids and logprobs of the likeliest tokens
    at its place. Those of the prompt come once, in the first output, with the places of its tokens among all
    (`prompt_ranks`). Of a prompt with images there is one more output, also for a sequence that was cancelled while it
    ran: `prompt_tokens` is how many tokens it was. `too_long` says that such a prompt doesn't fit. `begun`, in a
    sequence's first output, is when the pipeline got it, by the monotonic clock.
    """

    id: int
    token_ids: list[int]
    finish: FinishReason | None = None
    error: str | None = None
    logprobs: list[float] | None = None
    prompt_logprobs: list[float | None] | None = None
    prompt_tokens: int | None = None
    too_long: bool = False
    begun: float | None = None
    top_logprobs: list[Likeliest] | None = None
    prompt_top_logprobs: list[Likeliest] | None = None
    prompt_ranks: list[int] | None = None


class Step(msgspec.Struct, tag=True):
    """Is sent after every step, also without outputs: it is the heartbeat. `cache_usage` is in percent;
    `accepted_drafts` counts the tokens of the step that speculative decoding had drafted."""

    outputs: list[Output]
    running: int
    waiting: int
    cache_usage: float
    accepted_drafts: int = 0
