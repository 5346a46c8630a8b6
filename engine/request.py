"""Requests to an engine: prompts, and the settings of their continuation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Role = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in an earlier assistant turn; `arguments` is the JSON text as it was sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """A decoded image: `rgb` holds `height` rows of `width` pixels of three bytes."""

    width: int
    height: int
    rgb: bytes


MAX_IMAGE_RATIO = 100
"""How many times the longer side of an image may be as long as the shorter one: models scale an image up to a minimum
shorter side, so a line would fill the memory."""


class ReadImage(NamedTuple):
    """An image read from a file. `pixels` is the number of decoded pixels: more than the image has if it was scaled
    down.
    """

    image: Image
    pixels: int


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An image before the character at index `at` of its message's content, or at its end."""

    at: int
    image: Image


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `content` is plain text: parts are joined, and null is the empty text.

    `reasoning` is that of an earlier assistant turn, for templates that render it. `images` are in the order of their
    positions.
    """

    role: Role
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: str | None = None
    images: tuple[PlacedImage, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call. `parameters` is the JSON Schema of its arguments, None if it takes none.

    With `strict` a forced call is rejected if a keyword of the schema can't be enforced; otherwise `Started` lists the
    keyword. With `held` a call that isn't forced is constrained to the schema, too.
    """

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """A prompt of messages. `tools` are the functions that the model may call: the chat template renders them, and
    calls of them are parsed in the answer.

    `variables` is the JSON text of an object, whose members are variables of the chat template; `chat_template`
    replaces the model's own. `add_special_tokens` adds the tokenizer's special tokens around the rendered text.
    `continue_final_message` leaves the last message open for the answer to continue. `rendered` is the prompt itself,
    instead of the rendered messages: a text with control tokens, or token ids.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    variables: str = "{}"
    chat_template: str | None = None
    add_special_tokens: bool = False
    continue_final_message: bool = False
    rendered: str | tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextPrompt:
    """The model's raw input, without a chat template.

    Special tokens in it are parsed, since it may be a manually rendered chat template. `add_special_tokens` adds the
    tokenizer's special tokens around the text.
    """

    text: str
    add_special_tokens: bool = True


@dataclass(frozen=True, slots=True)
class TokenPrompt:
    """The model's raw input in token ids; nothing is added."""

    ids: tuple[int, ...]


Prompt = Conversation | TextPrompt | TokenPrompt


@dataclass(frozen=True, slots=True)
class Truncation:
    """Truncation of a prompt to `tokens`, on one `side`; None keeps as many as possible with room for the answer."""

    tokens: int | None
    side: Literal["left", "right"] = "left"


# The settings of `Sampling` that only the full-logits process supports: those of the group `full_logits` in
# openapi/conditions.yaml (a test compares them, since the engine doesn't read documents). A setting is in use if it is
# truthy, so their defaults must be falsy.
FULL_LOGITS_SETTINGS = ("logit_bias", "allowed_token_ids", "bad_words", "bad_words_token_ids")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling settings, fully resolved (the request's value, else the model's, else the document's). The defaults
    have no effect: tokens are sampled as the model scores them.

    They are passed unchanged from the handler to the process that runs the model. Each part reads its own settings:

    - Both processes that sample (`openvino/worker/generation_config.py`, `openvino/full_logits/sampler.py`) read
      `temperature`, `top_p`, `top_k`, `min_p`, the penalties, `ignore_eos` and `min_tokens`.
    - Only the pipeline reads `best_of`, `length_penalty`, `num_assistant_tokens`, `assistant_confidence_threshold` and
      `max_ngram_size`.
    - Only the server process, which converts tokens to text (`output/choice_text.py`), reads `stop`, `stop_token_ids`,
      `include_stop_str_in_output` and `skip_special_tokens`.
    - Only the full-logits process reads FULL_LOGITS_SETTINGS; the server tokenizes `bad_words` for it.
    - The server reads `min_tokens`, too: the other processes for the end of the turn, the server for stop strings and
      tokens.
    - The server resolves `max_tokens` and `seed` for each sequence before the pipeline receives them.

    `temperature` 0 and `top_p` 0 mean greedy decoding. `top_k` -1 keeps all tokens. `max_tokens` None is the model's
    own limit, or the end of the context; 0 is for requests that only echo their prompts. `seed` None draws a random
    seed for each prompt; a prompt's choice i uses seed + i, so that choices differ and can be reproduced. `stop`,
    `stop_token_ids` and the end of the turn end a choice, but not before it has `min_tokens`. `best_of` above 1 is a
    beam search of that width, whose `n` best texts are the choices. There is no sampling and there are no penalties;
    stop strings truncate the finished texts. `length_penalty` applies to beam searches only. `logit_bias` is added to
    the scores of tokens, by their ids. Only `allowed_token_ids` may be sampled, if there are any, but none of
    `bad_words_token_ids`, nor the last token of a sequence that forms one of `bad_words`. The last three
    attributes are for speculative decoding (`ModelInfo.drafting`); None leaves them to the engine.
    """

    max_tokens: int | None
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: frozenset[int] = frozenset()
    min_tokens: int = 0
    ignore_eos: bool = False
    min_p: float = 0.0
    best_of: int = 1
    length_penalty: float = 1.0
    include_stop_str_in_output: bool = False
    skip_special_tokens: bool = True
    logit_bias: tuple[tuple[int, float], ...] = ()
    allowed_token_ids: tuple[int, ...] = ()
    bad_words_token_ids: tuple[int, ...] = ()
    bad_words: tuple[str, ...] = ()
    num_assistant_tokens: int | None = None
    assistant_confidence_threshold: float | None = None
    max_ngram_size: int | None = None

    @property
    def needs_full_logits(self) -> bool:
        """Returns whether the settings change scores in a way that the pipeline doesn't support."""
        return any(getattr(self, name) for name in FULL_LOGITS_SETTINGS)


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A constraint of the answer to JSON that satisfies a schema (an object, or a boolean).

    With `strict` a schema with keywords that can't be enforced is rejected; otherwise `Started` lists them.
    """

    schema: Mapping[str, Any] | bool
    strict: bool = False


@dataclass(frozen=True, slots=True)
class StructuralTag:
    """A constraint of the answer to an XGrammar structural tag: `{"type": "structural_tag", "format": …}`.

    `strict` applies to the JSON Schemas in it.
    """

    tag: Mapping[str, Any]
    strict: bool = False


Constraint = JsonSchema | StructuralTag


@dataclass(frozen=True, slots=True)
class ThinkingBudget:
    """A limit of the reasoning of each choice, in tokens. `message` is appended to the reasoning; then the answer
    follows. Only for conversations without a beam search, and for models that support budgets (`ModelInfo`).
    """

    tokens: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A request for `n` choices for each prompt: those of the first prompt are 0 to n - 1, those of the second begin at
    n.

    `truncation` shortens prompts that are too long. `echo` repeats the prompt before each choice. `logprobs` adds the
    logprobs of the tokens, including those of an echoed prompt, and `top_logprobs` those of the most likely tokens at
    each position; `logprob_token_ids` replace the most likely ones in the answer, after the sampled one.
    `prompt_logprobs` adds the logprobs of the prompt's tokens, and of this many most likely ones at each position. With
    `token_ids` the segments include the tokens.

    `top_logprobs` above 1, `logprob_token_ids`, `prompt_logprobs`, and the settings of `Sampling.needs_full_logits` are
    for models with `full_logits` (`ModelInfo`), without a beam search or a constraint. With a beam search or a
    constraint, the tokens of an echoed prompt have no logprobs, either.

    `constraint` is the structure of every choice. It can't be combined with `ignore_eos`, `min_tokens` or a beam
    search: the pipeline would ignore it. `must_call` constrains every choice to calls of the conversation's tools, with
    the same restrictions; `constraint` then has no effect. A choice ends before it repeats a call. Without
    `parallel_calls` it ends after its first call.

    `owner` is the owner of the request: the engine's slots are shared fairly among owners. Requests with an empty owner
    are independent of each other. Waiting requests with the lowest `priority` value are next.
    """

    prompts: tuple[Prompt, ...]
    sampling: Sampling
    n: int = 1
    echo: bool = False
    logprobs: bool = False
    top_logprobs: int = 0
    logprob_token_ids: tuple[int, ...] = ()
    prompt_logprobs: int | None = None
    token_ids: bool = False
    truncation: Truncation | None = None
    constraint: Constraint | None = None
    must_call: bool = False
    parallel_calls: bool = True
    owner: str = ""
    priority: int = 0
    thinking_budget: ThinkingBudget | None = None

    @property
    def echoes_logprobs(self) -> bool:
        """Returns whether the prompt is echoed with the logprobs of its tokens."""
        return self.echo and self.logprobs

    @property
    def needs_full_logits(self) -> bool:
        """Returns whether the scores of the whole vocabulary are needed, for the answer or for a prompt."""
        of_tokens = self.logprobs and (self.top_logprobs > 1 or bool(self.logprob_token_ids))
        of_prompt = self.echoes_logprobs or self.prompt_logprobs is not None
        return of_tokens or of_prompt or self.sampling.needs_full_logits
