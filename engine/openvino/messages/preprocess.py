"""The messages between the server and the preprocess process.

Token ids of prompts travel as bytes (int64, the machine's order): the server only counts and forwards them.
"""

import json
from dataclasses import replace
from typing import Literal, Self

import msgspec

from specvino.engine.output_parsers.registry import ShownFormats
from specvino.engine.request import Conversation

TOKEN_ID_BYTES = 8

# So many characters of a prompt's end tell whether an answer begins within the reasoning.
ENDING = 256

Unit = Literal["tokens", "characters"]


class LoadTokenizer(msgspec.Struct, tag=True):
    """Is the first message to the preprocess process. Prompts of more than `context_length` tokens will be refused."""

    path: str
    context_length: int | None = None


class Cut(msgspec.Struct, frozen=True):
    """Asks for the last `tokens` of a prompt that has more, or with `first` for the first ones."""

    tokens: int
    first: bool = False


class Preprocess(msgspec.Struct, tag=True):
    """Asks for the tokens of a conversation, rendered by the chat template.

    `as_text` is for vision-language models: the answer brings the text too. Of images only the places are needed.
    `parameters` is the JSON text of an array with the parameters of each tool: MessagePack has no integers beyond 64
    bits, which schemas may hold. With `most_characters` it needn't fit the model's context, and is cut nowhere: it is
    refused if the template makes more characters of it.
    """

    id: int
    prompt: Conversation
    as_text: bool = False
    parameters: str = "[]"
    cut: Cut | None = None
    most_characters: int | None = None

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
        parameters = json.dumps([tool.parameters for tool in prompt.tools])
        tools = tuple(replace(tool, parameters=None) for tool in prompt.tools)
        return cls(id, replace(prompt, tools=tools), as_text, parameters, cut, most_characters)

    def conversation(self) -> Conversation:
        """Returns the prompt with its tools whole again."""
        parameters = json.loads(self.parameters)
        tools = (replace(tool, parameters=each) for tool, each in zip(self.prompt.tools, parameters, strict=True))
        return replace(self.prompt, tools=tuple(tools))


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
    tokenizer and the model have. `special` are the special tokens' texts. `chat_template` is empty where the model has
    none, and `formats` are those that it shows.
    """

    table: list[bytes] | None
    size: int
    pad_id: int
    special: dict[int, str] = {}
    chat_template: str = ""
    drops_space: bool = False
    formats: ShownFormats = ShownFormats()


class Preprocessed(msgspec.Struct, tag=True):
    """Carries a prompt's tokens. With images, `text` has a tag where each stands; `token_ids` are those of the text
    without the tags. `ending` is how a rendered conversation ends."""

    id: int
    token_ids: bytes
    text: str | None = None
    ending: str = ""


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
