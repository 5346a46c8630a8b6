"""The messages between the server and the preprocess and template processes."""

import json
from dataclasses import replace
from typing import Literal, Self

import msgspec

from specvino.engine.chat_template.capabilities import Capabilities
from specvino.engine.output_parsers.formats import ShownFormats
from specvino.engine.request import Conversation
from specvino.engine.segments import Hidden

# Characters of a prompt's end, which determine whether the answer begins within the reasoning.
ENDING = 256

Unit = Literal["tokens", "characters"]


class LoadTokenizer(msgspec.Struct, tag=True):
    """The first message to the preprocess process. Prompts of more than `context_length` tokens are refused.
    `chat_template` replaces the model's own."""

    path: str
    context_length: int | None = None
    chat_template: str | None = None


class Cut(msgspec.Struct, frozen=True):
    """The truncation of a prompt: to its last `tokens`, or with `first` to its first ones."""

    tokens: int
    first: bool = False


def without_parameters(prompt: Conversation) -> tuple[Conversation, str]:
    """Returns a conversation without the parameters of its tools, and these as JSON text."""
    parameters = json.dumps([tool.parameters for tool in prompt.tools])
    return replace(prompt, tools=tuple(replace(tool, parameters=None) for tool in prompt.tools)), parameters


def with_parameters(prompt: Conversation, parameters: str) -> Conversation:
    """Reverses `without_parameters`."""
    pairs = zip(prompt.tools, json.loads(parameters), strict=True)
    return replace(prompt, tools=tuple(replace(tool, parameters=schema) for tool, schema in pairs))


class Preprocess(msgspec.Struct, tag=True):
    """A request for the tokens of a conversation, rendered by the chat template.

    `as_text` is for vision-language models: the answer has the text, too. Only the positions of images are needed.
    `parameters` is the JSON text of an array with the parameters of each tool: schemas may contain integers of more
    than 64 bits, beyond MessagePack. `pieces` are the prompt if the template process has rendered it: then only the
    options of the conversation are used. With `most_characters` the conversation isn't a prompt: it may exceed the
    model's context and isn't truncated, but is rejected if its rendered text has more characters.
    """

    id: int
    prompt: Conversation
    as_text: bool = False
    parameters: str = "[]"
    cut: Cut | None = None
    most_characters: int | None = None
    pieces: list[str] | None = None

    @classmethod
    def of(
        cls,
        id: int,
        prompt: Conversation,
        *,
        as_text: bool = False,
        cut: Cut | None = None,
        most_characters: int | None = None,
    ) -> Self:
        bare, parameters = without_parameters(prompt)
        return cls(id, bare, as_text, parameters, cut, most_characters)

    def conversation(self) -> Conversation:
        """Returns the prompt with the parameters of its tools."""
        return with_parameters(self.prompt, self.parameters)


class Tokenize(msgspec.Struct, tag=True):
    """A request for the tokens of a text without a template. A `prompt` must fit the model's context, or is truncated.
    Without `parse_special` special tokens in the text are plain text; in prompts they are always parsed.
    """

    id: int
    text: str
    add_special_tokens: bool
    prompt: bool = False
    cut: Cut | None = None
    parse_special: bool = True


class Detokenize(msgspec.Struct, tag=True):
    """A request for the text of tokens."""

    id: int
    token_ids: bytes
    skip_special_tokens: bool = False


class Spell(msgspec.Struct, tag=True):
    """A request for the bytes of each token."""

    id: int
    token_ids: bytes


class Vocabulary(msgspec.Struct, tag=True):
    """The model's vocabulary and chat template, sent once, before Ready. `table` has each token's bytes, None if
    tokens' texts depend on their neighbors.

    With `drops_space` a space at the beginning of a text is dropped. Ids below `size` exist in both the tokenizer and
    the model. `special` are the special tokens' texts. `chat_template` is the template for conversations with tools,
    empty if the model has none. `capabilities` are its capabilities, None if there is no template or it can't be
    compiled, for the reason `refusal`. `formats` are its formats of calls and reasoning. `variables` and `marked` are
    for templates in requests: the special tokens by their names, and the texts that clients must not be able to forge.
    `limit` is the number of tokens from which the tokenizer truncates a text, None if it doesn't.
    """

    table: list[bytes] | None
    size: int
    pad_id: int
    special: dict[int, str] = {}
    chat_template: str = ""
    drops_space: bool = False
    variables: dict[str, str] = {}
    marked: tuple[str, ...] = ()
    capabilities: Capabilities | None = None
    formats: ShownFormats = ShownFormats()
    refusal: str = ""
    limit: int | None = None


class Preprocessed(msgspec.Struct, tag=True):
    """A prompt's tokens. With images, `text` has a tag for each; `token_ids` are those of the text without the tags.
    `ending` is the end of a rendered conversation; `hidden` are the parts that the template doesn't render.
    """

    id: int
    token_ids: bytes
    text: str | None = None
    ending: str = ""
    hidden: tuple[Hidden, ...] = ()


class Detokenized(msgspec.Struct, tag=True):
    """The text of tokens."""

    id: int
    text: str


class Spelt(msgspec.Struct, tag=True):
    """The bytes of each token."""

    id: int
    pieces: list[bytes]


class PromptTooLong(msgspec.Struct, tag=True):
    """A prompt that doesn't fit the model, that its tokenizer would truncate, or that has more characters than allowed.
    `count` is approximate; with `more` it is a lower bound.
    """

    id: int
    count: int
    limit: int
    unit: Unit = "tokens"
    more: bool = False


class PromptRefused(msgspec.Struct, tag=True):
    """A prompt that can't be rendered or tokenized; `reason` is a sentence for the client."""

    id: int
    reason: str


FromPreprocess = Vocabulary | Preprocessed | Detokenized | Spelt | PromptTooLong | PromptRefused


# Limits of a template in a request: seconds of CPU time, and bytes in addition to those of the idle process.
MOST_COMPUTING = 1.0
MOST_MEMORY = 512 << 20

OUT_OF_BOUNDS = f"It needs more than {MOST_COMPUTING:g} s of computing or {MOST_MEMORY >> 20} MB of memory."


class StartTemplateProcess(msgspec.Struct, tag=True):
    """The first message to the template process: `variables` and `marked` of the model's `Vocabulary`."""

    variables: dict[str, str]
    marked: tuple[str, ...]


class RenderTemplate(msgspec.Struct, tag=True):
    """A request to render a conversation by its own `chat_template`. `as_text` and `parameters` are as in
    `Preprocess`."""

    id: int
    prompt: Conversation
    as_text: bool
    parameters: str

    @classmethod
    def of(cls, id: int, prompt: Conversation, *, as_text: bool) -> Self:
        bare, parameters = without_parameters(prompt)
        return cls(id, bare, as_text, parameters)

    def conversation(self) -> Conversation:
        """Returns the prompt with the parameters of its tools."""
        return with_parameters(self.prompt, self.parameters)


class TemplateRendered(msgspec.Struct, tag=True):
    """The pieces of a rendered prompt, and the parts of the conversation that the template doesn't render."""

    id: int
    pieces: list[str]
    hidden: tuple[Hidden, ...]


class RenderingRefused(msgspec.Struct, tag=True):
    """A conversation that can't be rendered; `reason` is a sentence for the client."""

    id: int
    reason: str
