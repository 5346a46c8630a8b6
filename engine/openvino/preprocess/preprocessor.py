"""Conversations and texts become token ids, away from the event loop and from the step loop.

One is taken at a time, so that the server knows which one is at fault when it hangs.
"""

import numpy
import numpy.typing
from openvino_genai import Tokenizer

from specvino.engine.openvino.messages import image_tags
from specvino.engine.openvino.messages.preprocess import (
    ENDING,
    Vocabulary,
)
from specvino.engine.openvino.preprocess import chat_template, vocabulary
from specvino.engine.openvino.preprocess.chat_template import TemplateFeatures
from specvino.engine.openvino.preprocess.special_token_escaping import marker, seam_for
from specvino.engine.request import Conversation, Message, ToolCall

# SentencePiece's names of bytes: where a text spells one, the BPE of OpenVINO Tokenizers 2026.4.1 makes it the byte.
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

# Behind this a piece of a text is encoded as its continuation: it merges with nothing.
_BEFORE = "\n"

# GenAI 2026.4.1: tokenizers from GGUF silently keep the last 8,192 tokens, saved as a folder too (decision 017).
_TRUNCATED_LENGTH = 8192


_Ids = numpy.typing.NDArray[numpy.int64]


class Truncated(Exception):
    """The tokenizer dropped a part of a prompt of about `tokens` tokens."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens)
        self.tokens = tokens


class Preprocessor:
    """Turns conversations and texts into token ids. `model_size` is how many tokens the model has, None if that is not
    known apart from its tokenizer.

    `ending` is how the conversation ends that was preprocessed last.
    """

    def __init__(self, tokenizer: Tokenizer, model_size: int | None = None) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = tokenizer.get_vocab()  # raises if the model's folder has no tokenizer
        size = max(self._vocabulary.values()) + 1
        self._special = vocabulary.special_tokens(tokenizer, size)
        self._marked = (*self._special.values(), *(_BYTES if self._shown(_BYTES[0]) != _BYTES[0] else []))
        self._before = self._encode(_BEFORE) if self._shown("x", "x") != "xx" else None
        self._features = self._find_features()
        self._size = min(size, model_size or size)
        self.ending = ""
        self.limit = _TRUNCATED_LENGTH if self._truncates() else None

    def vocabulary(self) -> Vocabulary:
        found = vocabulary.byte_table(self._tokenizer, self._vocabulary, self._special)
        table, drops_space = found or (None, False)
        pad_id = max(0, self._tokenizer.get_pad_token_id())  # -1 if it has none
        return Vocabulary(table, self._size, pad_id, self._special, self._tokenizer.chat_template, drops_space)

    def preprocess(self, prompt: Conversation) -> bytes:
        """Returns the prompt's token ids (int64). Raises ValueError or RuntimeError as a refusal, and Truncated."""
        seam = seam_for(list(chat_template.texts(prompt)))
        rendered = self._render(prompt, marker(self._marked, seam))
        first, *rest = [piece for piece in rendered.split(seam) if piece] or [""]
        return self._checked([self._encode(first), *map(self._encode_behind, rest)], [first, *rest])

    def write(self, prompt: Conversation) -> str:
        """Returns the prompt as the text that the pipeline of a vision-language model tokenizes.

        Raises like `preprocess`.
        """
        mark = marker(self._marked, image_tags.JOINER)
        rendered = self._render(prompt, lambda text: mark(image_tags.cut(text)))
        # The pipeline adds the special tokens that begin a text, which most templates write too.
        beginning = self._tokenizer.decode(self._encode("", add_special_tokens=True), skip_special_tokens=False)
        return rendered.removeprefix(beginning)

    def tokenize(self, text: str, *, add_special_tokens: bool) -> bytes:
        """Returns the text's token ids, special ones where it spells them. Raises like `preprocess`."""
        return self._checked([self._encode(text, add_special_tokens=add_special_tokens)], [text])

    def _render(self, prompt: Conversation, mark: chat_template.Mark) -> str:
        if not self._tokenizer.chat_template:
            raise ValueError("The model has no chat template.")
        turns = chat_template.turns(prompt, self._features, mark)
        variables = chat_template.variables(prompt, mark)
        add_generation_prompt = variables.pop("add_generation_prompt", True)
        rendered: str = self._tokenizer.apply_chat_template(
            turns,
            add_generation_prompt,
            tools=chat_template.tools(prompt, mark) or None,
            extra_context=variables or None,
        )
        self.ending = rendered[-ENDING:]
        return rendered

    def _find_features(self) -> TemplateFeatures:
        template = self._tokenizer.chat_template
        thinking = "thinking" if "message.thinking" in template and "reasoning_content" not in template else None
        features = TemplateFeatures(developer="developer" in template, thinking=thinking or TemplateFeatures().thinking)
        if not template:
            return features
        objects, texts = (self._shows_arguments(features._replace(json_arguments=text)) for text in (False, True))
        return features._replace(json_arguments=texts and not objects)

    def _shows_arguments(self, features: TemplateFeatures) -> bool:
        """Tells whether the template writes the arguments of calls as JSON."""
        call = ToolCall("call_1", "f", '{"needle": "x"}')
        messages = (Message("user", "x"), Message("assistant", "", tool_calls=(call,)))
        turns = chat_template.turns(Conversation(messages), features, str)
        try:
            return '"needle": "x"' in self._tokenizer.apply_chat_template(turns, False).replace('":"', '": "')
        except RuntimeError:
            return False

    def _checked(self, encoded: list[_Ids], pieces: list[str]) -> bytes:
        """Returns the tokens of a text's pieces, if none were dropped and the model has them all."""
        if self.limit and any(len(piece) >= self.limit for piece in encoded):
            raise Truncated(sum(self._count(piece) for piece in pieces))
        ids = numpy.concatenate(encoded)
        # GenAI 2026.4.1: ids that the model lacks, with a repetition penalty, make the step raise (decision 035).
        if ids.size and ids.max() >= self._size:
            raise ValueError(f"It makes the token {ids.max()}, but the model's token ids are 0 to {self._size - 1}.")
        return ids.tobytes()

    def _encode(self, text: str, *, add_special_tokens: bool = False) -> _Ids:
        ids = self._tokenizer.encode(text, add_special_tokens=add_special_tokens).input_ids.data
        return numpy.array(ids[0], numpy.int64)

    def _encode_behind(self, piece: str) -> _Ids:
        """Returns the tokens of a text's further piece: before a text SentencePiece sets a space, which has no place
        here."""
        if self._before is None:
            return self._encode(piece)
        ids, end = self._encode(_BEFORE + piece), len(self._before)
        return ids[end:] if numpy.array_equal(ids[:end], self._before) else self._encode(piece)

    def _shown(self, *pieces: str) -> str:
        """Returns what a text becomes whose pieces are encoded one by one."""
        ids = numpy.concatenate([self._encode(piece) for piece in pieces])
        text: str = self._tokenizer.decode(ids.tolist(), skip_special_tokens=False)
        return text

    def _count(self, text: str) -> int:
        tokens = len(self._encode(text))
        if self.limit is None or tokens < self.limit:
            return tokens
        middle = len(text) // 2
        return self._count(text[:middle]) + self._count(text[middle:])

    def _truncates(self) -> bool:
        return len(self._encode("a\n" * (_TRUNCATED_LENGTH + 8))) == _TRUNCATED_LENGTH
