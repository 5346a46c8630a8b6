"""The messages between the server and the processes that generate tokens: worker and full-logits process."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.protocol import Drafting
from specvino.engine.request import Image, Sampling
from specvino.engine.segments import FinishReason

# With a draft model, the longest prompt (tokens) that gets drafts: a prompt is computed in one step, and all requests
# would wait for a long one (decision 028).
LONGEST_DRAFTED = 1024

# The number of a step's prompts, times the longest context among them, is at most this many tokens unless it is a
# single prompt: their keys and values are unpacked together (decision 086).
STEP_CONTEXTS = 8_192

# The largest block size of the cache, in tokens: that of a CPU (OpenVINO 2026.4.1).
CACHE_BLOCK = 32


TopTokens = list[tuple[int, float]]
"""Tokens by id with their logprobs, the most likely first."""


class LoadModel(msgspec.Struct, tag=True):
    """The first message to a worker. `draft_path` is that of a smaller model for speculative decoding.

    `cache_size` (GB) bounds the memory of a worker's running sequences; 0 lets it grow. `state_size` (bytes) bounds
    that of the full-logits process. The kernel kills an `expendable` process first if memory runs out. `hidden_size` is
    the model's.
    """

    path: str
    max_sequences: int
    draft_path: str | None = None
    prompt_lookup: bool = False
    cache_size: float = 0
    state_size: int = 0
    expendable: bool = False
    hidden_size: int | None = None
    options: PipelineOptions = PipelineOptions()

    @property
    def prefix_cache(self) -> bool:
        """Returns whether the prefix cache is enabled. GenAI 2026.4.1: together with a draft model, a rejected draft
        would make the step raise (decision 027).
        """
        return self.options.prefix_cache and self.draft_path is None

    @property
    def drafting(self) -> Drafting | None:
        if self.draft_path is not None:
            return "draft_model"
        return "prompt_lookup" if self.prompt_lookup else None


class SendImage(msgspec.Struct, tag=True):
    """The next image for the Generate messages with `key`, or a chunk of it."""

    key: int
    image: Image
    more: bool = False


class ReleaseImages(msgspec.Struct, tag=True):
    """No further Generate message refers to the images of `key`."""

    key: int


class VisionPrompt(msgspec.Struct):
    """A prompt for a vision-language model: a text with a tag for each of the images that were sent under `key`.

    Only the pipeline can count the tokens of images. Prompt and answer must fit `context_length`. With `yields` the
    request has no token limit, and the answer may be shorter than `max_new_tokens`.
    """

    text: str
    context_length: int
    yields: bool
    key: int | None = None


class Generate(msgspec.Struct, tag=True):
    """A request for one sequence, or for a beam search, whose `n` best texts have the ids from `id` on. With `copies`
    it is for this many sequences, with ids from `id` and seeds from `seed` on. `request` is the same for all sequences
    of a client's request, `owner` for all of a key, and `client` for all of a key or, without keys, of an address.
    `sampling` has the settings of the request. `max_new_tokens` and `seed` belong to the sequence, since the request
    may not set them, and its choices must differ. `echo` returns the prompt's tokens; with `logprobs` the full-logits
    process scores them. Only that process returns the `top_logprobs` most likely tokens and those of
    `logprob_token_ids`, scores a prompt with its `prompt_logprobs` most likely tokens, and bans the last token of each
    of the `bad_word_runs` after the others. `vision_prompt` replaces `token_ids` for a vision-language model.
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
        """Returns the width of the beam search, 1 without one; a prompt without an answer has none."""
        return self.sampling.best_of if self.max_new_tokens else 1

    @property
    def prompt_tokens(self) -> int:
        """Returns the length of the prompt, without its images."""
        return len(self.token_ids) // TOKEN_ID_BYTES

    def split(self) -> Iterator["Generate"]:
        """Yields a message for each copy; they share the prompt's memory."""
        for i in range(self.copies):
            yield msgspec.structs.replace(self, id=self.id + i, seed=(self.seed + i) % 2**64, copies=1)


class Cancel(msgspec.Struct, tag=True):
    """Ends a sequence whose client left."""

    id: int


ToWorker = LoadModel | Generate | Cancel | SendImage | ReleaseImages


class Loaded(msgspec.Struct, tag=True):
    """The first message of a worker with a cache of fixed size: how many tokens of a sequence fit into it."""

    cache_tokens: int


Refusal = Literal["too_long", "image_tags"]
"""A prompt doesn't fit with its images, or its tags of images aren't those of its images."""


class Output(msgspec.Struct, array_like=True):
    """A sequence's new tokens. Its last output has a `finish`, or the reason why it failed (`error`).

    `logprobs`, if requested, has one for each token, and `top_logprobs` the ids and logprobs of the most likely tokens
    at its position. Those of the prompt are sent once, in the first output, with the ranks of its tokens
    (`prompt_ranks`). For a prompt with images there is one more output, even if the sequence was cancelled while it
    ran: `prompt_tokens` is the number of its tokens. The only output of a prompt that the pipeline of a vision-language
    model doesn't take has a `refusal`. `begun`, in a sequence's first output, is the monotonic time at which the
    pipeline received it.
    """

    id: int
    token_ids: list[int]
    finish: FinishReason | None = None
    error: str | None = None
    logprobs: list[float] | None = None
    prompt_logprobs: list[float | None] | None = None
    prompt_tokens: int | None = None
    refusal: Refusal | None = None
    begun: float | None = None
    top_logprobs: list[TopTokens] | None = None
    prompt_top_logprobs: list[TopTokens] | None = None
    prompt_ranks: list[int] | None = None


class Step(msgspec.Struct, tag=True):
    """The result of a step. It is sent after every step, even without outputs, as a heartbeat. `cache_usage` is in
    percent; `accepted_drafts` counts the accepted draft tokens of the step.
    """

    outputs: list[Output]
    running: int
    waiting: int
    cache_usage: float
    accepted_drafts: int = 0
