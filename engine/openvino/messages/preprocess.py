"""The messages between the server and the preprocess process.

Token ids of prompts travel as bytes (int64, the machine's order): the server only counts and forwards them.
"""

import json
from dataclasses import replace
from typing import Literal, Self

import msgspec

from specvino.engine.chat_template.capabilities import Capabilities
from specvino.engine.output_parsers.formats import ShownFormats
from specvino.engine.request import Conversation
from specvino.engine.segments import Hidden

TOKEN_ID_BYTES = 8

# So many characters of a prompt's end tell whether an answer begins within the reasoning.
ENDING = 256

Unit = Literal["tokens", "characters"]


class LoadTokenizer(msgspec.Struct, tag=True):
    """Is the first message to the preprocess process. Prompts of more than `context_length` tokens will be refused.
    `chat_template` stands in place of the model's own."""

    path: str
    context_length: int | None = None
    chat_template: str | None = None


class Cut(msgspec.Struct, frozen=True):
    """Asks for the last `tokens` of a prompt that has more, or with `first` for the first ones."""

    tokens: int
    first: bool = False


def without_parameters(prompt: Conversation) -> tuple[Conversation, str]:
    """Returns a conversation without the parameters of its tools, and these as JSON text."""
    parameters = json.dumps([tool.parameters for tool in prompt.tools])
    return replace(prompt, tools=tuple(replace(tool, parameters=None) for tool in prompt.tools)), parameters


def with_parameters(prompt: Conversation, parameters: str) -> Conversation:
    """Returns the conversation that `without_parameters` was given."""
    whole = zip(prompt.tools, json.loads(parameters), strict=True)
    return replace(prompt, tools=tuple(replace(tool, parameters=each) for tool, each in whole))


class Preprocess(msgspec.Struct, tag=True):
    """Asks for the tokens of a conversation, rendered by the chat template.

    `as_text` is for vision-language models: the answer brings the text too. Of images only the places are needed.
    `parameters` is the JSON text of an array with the parameters of each tool: MessagePack has no integers beyond 64
    bits, which schemas may hold. `pieces` are the prompt where the template process has rendered it: of the
    conversation only its options are needed then. With `most_characters` it needn't fit the model's context, and is cut
    nowhere: it is refused if the template makes more characters of it.
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
        """Returns the prompt with its tools whole again."""
        return with_parameters(self.prompt, self.parameters)


class Tokenize(msgspec.Struct, tag=True):
    """Asks for the tokens of a text as it is. With `prompt` it has to fit the model's context, or is cut.

    Without `parse_special`, which no prompt is, special tokens in it are but text.
    """

    id: int
    text: str
    add_special_tokens: bool
    prompt: bool = False
    cut: Cut | None = None
    parse_special: bool = True


class Detokenize(msgspec.Struct, tag=True):
    """Asks for the text of tokens."""

    id: int
    token_ids: bytes
    skip_special_tokens: bool = False


class Spell(msgspec.Struct, tag=True):
    """Asks for what each of these tokens stands for."""

    id: int
    token_ids: bytes


class Vocabulary(msgspec.Struct, tag=True):
    """Is sent once, before Ready. `table` is each token's bytes, None if tokens' texts depend on their neighbours.

    `drops_space` says that a space at the beginning of a text isn't shown. Ids below `size` are those that both the
    tokenizer and the model have. `special` are the special tokens' texts. `chat_template` is the template for
    conversations with tools, empty where the model has none; `capabilities` are what it can, None where there is none
    or, for the reason `refusal`, it can't be compiled, and `formats` are those that it shows. `variables` and `marked`
    are for templates that requests bring: the special tokens by their names, and the texts that no client may forge.
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


class Preprocessed(msgspec.Struct, tag=True):
    """Carries a prompt's tokens. With images, `text` has a tag where each stands; `token_ids` are those of the text
    without the tags. `ending` is how a rendered conversation ends; `hidden` is what of it the template doesn't
    show."""

    id: int
    token_ids: bytes
    text: str | None = None
    ending: str = ""
    hidden: tuple[Hidden, ...] = ()


class Detokenized(msgspec.Struct, tag=True):
    """Carries the text of tokens."""

    id: int
    text: str


class Spelt(msgspec.Struct, tag=True):
    """Carries the bytes of each token."""

    id: int
    pieces: list[bytes]


class PromptTooLong(msgspec.Struct, tag=True):
    """Says that a prompt doesn't fit the model, that its tokenizer truncates such a text, or that it has more
    characters than were asked for. `count` may be a few off; with `more` it is how many there are at the least."""

    id: int
    count: int
    limit: int
    unit: Unit = "tokens"
    more: bool = False


class PromptRefused(msgspec.Struct, tag=True):
    """Says that a prompt can't be had; `reason` is a sentence for the client."""

    id: int
    reason: str


FromPreprocess = Vocabulary | Preprocessed | Detokenized | Spelt | PromptTooLong | PromptRefused
