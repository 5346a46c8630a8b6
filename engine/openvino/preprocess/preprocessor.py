"""Turns conversations and texts into token ids, one at a time, so that the server can tell which one made the process
hang.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy
import numpy.typing
from openvino_genai import Tokenizer

from specvino.engine.chat_template.files import TemplateTexts
from specvino.engine.chat_template.special_token_escaping import TooManyMarks, marker, seam_for, split
from specvino.engine.openvino.messages.images import without_image_tags
from specvino.engine.openvino.messages.preprocess import (
    ENDING,
    Cut,
    Vocabulary,
)
from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.native.rendering import render
from specvino.engine.openvino.native.tokenizer import TRUNCATED_LENGTH
from specvino.engine.openvino.preprocess import vocabulary
from specvino.engine.openvino.preprocess.length import MARGIN, TooLong, batches, beginnings, endings
from specvino.engine.openvino.preprocess.own_templates import OwnTemplates
from specvino.engine.request import Conversation

if TYPE_CHECKING:
    from specvino.engine.segments import Hidden

# SentencePiece's names of bytes: the BPE of OpenVINO Tokenizers 2026.4.1 parses them in texts as bytes.
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

# A piece of a text is encoded after this character, as a continuation; it doesn't merge with any other.
_BEFORE = "\n"


_Ids = numpy.typing.NDArray[numpy.int64]


def special_variables(tokenizer: Tokenizer) -> dict[str, str]:
    """Returns the special tokens that are variables of chat templates, empty if the model lacks them."""
    named = {"bos": tokenizer.get_bos_token(), "eos": tokenizer.get_eos_token(), "pad": tokenizer.get_pad_token()}
    return {f"{name}_token": token for name, token in named.items()}


class Preprocessor:
    """Turns conversations and texts into token ids. `model_size` is the vocabulary size of the model, None if only the
    tokenizer's is known. Prompts of more than `context_length` tokens are rejected without being encoded completely.
    `templates` are the model's chat templates, None if there is only the tokenizer's.

    They render conversations, unless another process has rendered one into `pieces`. `ending` is the end of the last
    conversation's text, and `hidden` are the parts that the template doesn't render.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        model_size: int | None = None,
        context_length: int | None = None,
        templates: TemplateTexts | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = tokenizer.get_vocab()  # raises if the folder has no tokenizer
        size = max(self._vocabulary.values()) + 1
        self._special = vocabulary.special_tokens(tokenizer, size)
        self._marked = (*self._special.values(), *(_BYTES if self._shown(_BYTES[0]) != _BYTES[0] else []))
        self._before = self._encode(_BEFORE) if self._shown("x", "x") != "xx" else None
        tokens = special_variables(tokenizer)
        texts = templates or TemplateTexts(tokenizer.get_original_chat_template())
        self._templates = OwnTemplates(texts, tokens, self._special.values())
        self._size = min(size, model_size or size)
        self._context_length = context_length
        self._longest_token = max(map(len, self._vocabulary))
        self._begin, self._end = self._framing()
        self._spelt: dict[int, bytes] = {}  # loaded on first use
        self.ending = ""
        self.hidden: tuple[Hidden, ...] = ()
        self.limit = TRUNCATED_LENGTH if self._truncates() else None

    def vocabulary(self) -> Vocabulary:
        """Returns the message about the vocabulary and the chat template."""
        byte_table = vocabulary.byte_table(self._tokenizer, self._vocabulary, self._special)
        table, drops_space = byte_table or (None, False)
        pad_id = max(0, self._tokenizer.get_pad_token_id())  # -1 if it has none
        return Vocabulary(
            table,
            self._size,
            pad_id,
            self._special,
            self._templates.shown,
            drops_space,
            special_variables(self._tokenizer),
            self._marked,
            self._templates.capabilities,
            self._templates.formats,
            self._templates.refusal,
            self.limit,
        )

    def preprocess(self, prompt: Conversation, cut: Cut | None = None, pieces: list[str] | None = None) -> bytes:
        """Returns the prompt's token ids (int64). Raises TooLong, and ValueError or RuntimeError if the prompt is
        rejected.
        """
        pieces = self._pieces(prompt, pieces, None if cut else self._context_length)
        if cut is not None:
            return self._encode_cut(pieces, cut, add_special_tokens=prompt.add_special_tokens)
        ids = self._encode_prompt(pieces)
        return self._begin.tobytes() + ids + self._end.tobytes() if prompt.add_special_tokens else ids

    def render(
        self, prompt: Conversation, most_characters: int, pieces: list[str] | None = None, *, as_text: bool = False
    ) -> bytes:
        """Returns the tokens of a conversation with at most `most_characters` of rendered text, which may exceed the
        model's context; with `as_text`, the tokens of the text that a vision-language model's pipeline receives. Raises
        like `preprocess`.
        """
        if as_text:
            pieces = [without_image_tags(self.write(prompt, pieces, must_fit=False))]
        else:
            pieces = self._pieces(prompt, pieces)
        if (count := sum(map(len, pieces))) > most_characters:
            raise TooLong(count, most_characters, "characters", more=False)
        encoded = self._encode_untruncated(pieces)
        return self._checked([self._begin, *encoded, self._end] if as_text or prompt.add_special_tokens else encoded)

    def write(self, prompt: Conversation, pieces: list[str] | None = None, *, must_fit: bool = True) -> str:
        """Returns the prompt as the text that the pipeline of a vision-language model tokenizes, which adds the special
        tokens around a text.

        Raises like `preprocess`; with `must_fit` TooLong for one that is longer than the model's context.
        """
        most = self._context_length if must_fit else None
        rendered = "".join(self._pieces(prompt, pieces, most, as_text=True))
        if prompt.add_special_tokens:
            return rendered
        # The pipeline adds the special tokens that begin a text, which most templates also write.
        beginning = self._tokenizer.decode(self._encode("", add_special_tokens=True), skip_special_tokens=False)
        return rendered.removeprefix(beginning)

    def tokenize_prompt(self, text: str, *, add_special_tokens: bool = True, cut: Cut | None = None) -> bytes:
        """Returns the token ids of a prompt without a template. Raises like `preprocess`."""
        if cut is not None:
            return self._encode_cut([text], cut, add_special_tokens=add_special_tokens)
        self._require_characters(len(text), self._context_length)
        return self._encode_prompt([text], add_special_tokens=add_special_tokens)

    def tokenize(self, text: str, *, add_special_tokens: bool, parse_special: bool = True) -> bytes:
        """Returns the text's token ids; special tokens in it are parsed if `parse_special`. Raises like
        `preprocess`."""
        if parse_special:
            return self._checked(self._encode_untruncated([text], add_special_tokens=add_special_tokens))
        seam = seam_for([text])
        encoded = self._encode_untruncated(split(marker(self._marked, seam)(text), seam))
        return self._checked([self._begin, *encoded, self._end] if add_special_tokens else encoded)

    def detokenize(self, token_ids: bytes, *, skip_special_tokens: bool = False) -> str:
        """Returns the text of tokens."""
        ids = numpy.frombuffer(token_ids, numpy.int64).tolist()
        text: str = self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens) if ids else ""
        return text

    def token_bytes(self, token_ids: bytes) -> list[bytes]:
        """Returns the bytes of each token, of special ones their names."""
        if not self._spelt:
            self._spelt = {id: token for token, id in self._vocabulary.items()}
        ids = numpy.frombuffer(token_ids, numpy.int64).tolist()
        # The vocabulary has only one of two tokens with the same bytes.
        return [self._spelt[id] if id in self._spelt else self.detokenize(_one(id)).encode() for id in ids]

    def _pieces(
        self, prompt: Conversation, rendered: list[str] | None, most: int | None = None, *, as_text: bool = False
    ) -> list[str]:
        """Returns the rendered conversation, split where no control token may be: `rendered` by another process, or
        rendered by the model's own template.
        """
        if rendered is None:
            self._require_characters(sum(len(message.content) for message in prompt.messages), most)
            template = self._templates.of(prompt)
            self.hidden = template.hidden(prompt)
            try:
                pieces = render(
                    template, prompt, self._marked, most, as_text=as_text, write_call=self._templates.write_call
                )
            except TooManyMarks as error:
                assert most is not None
                raise TooLong(error.count, most) from None  # each is split into at least two tokens
        else:
            pieces = rendered
            self.hidden = ()  # the other process has reported it
            self._require_characters(sum(map(len, pieces)), most)
        self.ending = _end(pieces)
        return pieces

    def _require_characters(self, count: int, most: int | None) -> None:
        """Raises TooLong for a text that would be too long even if it consisted of the longest tokens."""
        if most is not None and (tokens := count // self._longest_token) > most:
            raise TooLong(tokens, most)

    def _encode_cut(self, pieces: Sequence[str], cut: Cut, *, add_special_tokens: bool) -> bytes:
        """Returns the last tokens of a prompt's pieces, or the first ones. Encodes only what is needed."""
        # Each piece has at least one token.
        near = pieces[: cut.tokens] if cut.first else pieces[-cut.tokens :]
        dropped = len(near) < len(pieces)
        for part, complete in (beginnings if cut.first else endings)(near, cut.tokens):
            encoded = self._encode_untruncated(part, more=not complete)
            if complete or sum(map(len, encoded)) - MARGIN >= cut.tokens:
                break
        framed = [self._begin, *encoded, self._end] if add_special_tokens else encoded
        ids = self._checked(framed)
        kept = TOKEN_ID_BYTES * cut.tokens
        if cut.first and (dropped or len(ids) > kept):
            self.ending = self.detokenize(ids[:kept][-TOKEN_ID_BYTES * ENDING :])
        return ids[:kept] if cut.first else ids[-kept:]

    def _framing(self) -> tuple[_Ids, _Ids]:
        """Returns the special tokens that the tokenizer adds before and after a text."""
        bare, framed = (self._encode("a", add_special_tokens=special) for special in (False, True))
        starts = (i for i in range(len(framed)) if numpy.array_equal(framed[i : i + len(bare)], bare))
        start = next(starts, len(framed))
        return framed[:start], framed[start + len(bare) :]

    def _encode_prompt(self, pieces: Sequence[str], *, add_special_tokens: bool = False) -> bytes:
        """Returns the tokens of a prompt's pieces. A prompt that is too long is encoded only until that is certain."""
        if self._context_length is not None and len(pieces) > self._context_length:
            raise TooLong(len(pieces), self._context_length)  # each has at least one token
        for beginning, complete in beginnings(pieces, self._context_length):
            if complete:
                break
            assert self._context_length is not None
            encoded = self._encode_untruncated(beginning, more=True, add_special_tokens=add_special_tokens)
            if (tokens := sum(map(len, encoded)) - MARGIN) > self._context_length:
                raise TooLong(tokens, self._context_length)
        return self._checked(self._encode_untruncated(pieces, add_special_tokens=add_special_tokens))

    def _encode_untruncated(
        self, pieces: Sequence[str], *, more: bool = False, add_special_tokens: bool = False
    ) -> list[_Ids]:
        """Returns the tokens of a text's pieces. Raises TooLong if the tokenizer dropped some. With `more` the text
        goes on."""
        encoded = self._encode_pieces(pieces, add_special_tokens=add_special_tokens)
        if self.limit and any(len(ids) >= self.limit for ids in encoded):
            limit = min(self.limit, self._context_length or self.limit)
            raise TooLong(sum(map(self._count, pieces)), limit, more=more)
        return encoded

    def _checked(self, encoded: Sequence[_Ids]) -> bytes:
        """Returns the tokens. Raises ValueError if the model lacks one."""
        ids = numpy.concatenate(encoded)
        # GenAI 2026.4.1: unknown ids make the step raise if there is a repetition penalty (decision 035).
        if ids.size and ids.max() >= self._size:
            raise ValueError(f"It makes the token {ids.max()}, but the model's token ids are 0 to {self._size - 1}.")
        return ids.tobytes()

    def _encode(self, text: str, *, add_special_tokens: bool = False) -> _Ids:
        return self._encode_all([text], add_special_tokens=add_special_tokens)[0]

    def _encode_all(self, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[_Ids]:
        """Returns each text's tokens. The overhead of a tokenizer call equals the cost of hundreds of short texts."""
        encoded: list[_Ids] = []
        for batch in batches(texts):
            inputs = self._tokenizer.encode(batch, add_special_tokens=add_special_tokens)
            rows = zip(inputs.input_ids.data, inputs.attention_mask.data != 0, strict=True)
            encoded += [ids[real].astype(numpy.int64, copy=False) for ids, real in rows]
        return encoded

    def _encode_pieces(self, pieces: Sequence[str], *, add_special_tokens: bool = False) -> list[_Ids]:
        """Returns the tokens of a text's pieces. SentencePiece adds a space before a text, but it must not be added
        before further pieces.
        """
        if self._before is None or len(pieces) == 1:
            return self._encode_all(pieces, add_special_tokens=add_special_tokens)
        first, *rest = pieces
        encoded = self._encode_all([first, *(_BEFORE + piece for piece in rest)])
        end = len(self._before)
        merged = [i for i, ids in enumerate(encoded) if i and not numpy.array_equal(ids[:end], self._before)]
        behind = [encoded[0], *(ids[end:] for ids in encoded[1:])]
        for i, ids in zip(merged, self._encode_all([pieces[i] for i in merged]) if merged else (), strict=True):
            behind[i] = ids
        return behind

    def _shown(self, *pieces: str) -> str:
        """Returns the decoded text of pieces that are encoded one by one."""
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
        return len(self._encode("a\n" * (TRUNCATED_LENGTH + 8))) == TRUNCATED_LENGTH


def _one(token_id: int) -> bytes:
    return numpy.array([token_id], numpy.int64).tobytes()


def _end(pieces: Sequence[str]) -> str:
    ending = ""
    for piece in reversed(pieces):
        ending = piece[-ENDING:] + ending
        if len(ending) >= ENDING:
            break
    return ending[-ENDING:]
