"""Detokenizers that use the tokenizer itself, for vocabularies where a token's text depends on its neighbors. An
incomplete character at the end of the text is left out.
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType

import openvino_genai

from specvino.engine.output.detokenizer import Detokenizer, DetokenizerFactory

# A tokenizer's text for the beginning of a character. It is dropped at the end of a text: the tokenizer doesn't
# distinguish an incomplete character from U+FFFD in the model's output.
UNFINISHED = "\ufffd"

# Previous tokens that are decoded again with the new ones: a tokenizer may treat the start of a text differently.
_BEFORE = 4


class WindowDetokenizer:
    """Turns the tokens of one sequence into text by decoding a window of the last ones.

    TextStreamer returns a token's text some tokens later; this one returns it at once, so that a token and its text
    stay together. It costs two tokenizer calls per token.
    """

    def __init__(self, tokenizer: openvino_genai.Tokenizer, *, special: bool = False) -> None:
        self._tokenizer = tokenizer
        self._special = special
        self._before: list[int] = []
        self._new: list[int] = []

    @property
    def unfinished(self) -> bool:
        return bool(self._new)

    def push(self, token_ids: Sequence[int]) -> str:
        return "".join(self._push(token_id) for token_id in token_ids)

    def finish(self) -> str:
        text = self._text() if self._new else ""
        self._new = []
        return text.removesuffix(UNFINISHED)

    def bytes_of(self, token_id: int) -> None:
        return None

    def _push(self, token_id: int) -> str:
        self._new.append(token_id)
        text = self._text()
        if text.endswith(UNFINISHED):  # part of a character
            return ""
        self._before = (self._before + self._new)[-_BEFORE:]
        self._new = []
        return text

    def _text(self) -> str:
        """Returns the text that the new tokens add."""
        return self._decode(self._before + self._new)[len(self._decode(self._before)) :]

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=not self._special) if ids else ""


class TextStreamerDetokenizer:
    """Turns the tokens of one sequence into text by GenAI's TextStreamer."""

    unfinished = False  # unknown

    def __init__(self, tokenizer: openvino_genai.Tokenizer, *, special: bool = False) -> None:
        self._texts: list[str] = []
        self._streamer = openvino_genai.TextStreamer(tokenizer, self._collect, {"skip_special_tokens": not special})

    def push(self, token_ids: Sequence[int]) -> str:
        self._streamer.write(token_ids)
        return self._take()

    def finish(self) -> str:
        self._streamer.end()
        return self._take().removesuffix(UNFINISHED)

    def bytes_of(self, token_id: int) -> None:
        return None

    def _collect(self, text: str) -> bool:
        self._texts.append(text)
        return False  # continue

    def _take(self) -> str:
        text = "".join(self._texts)
        self._texts.clear()
        return text


class _Without:
    """A detokenizer that leaves out some tokens; the tokenizer itself can only leave out all special ones."""

    def __init__(self, detokenizer: Detokenizer, hidden: Set[int]) -> None:
        self._detokenizer = detokenizer
        self._hidden = hidden

    @property
    def unfinished(self) -> bool:
        return self._detokenizer.unfinished

    def push(self, token_ids: Sequence[int]) -> str:
        ids = [id for id in token_ids if id not in self._hidden]
        return self._detokenizer.push(ids) if ids else ""

    def finish(self) -> str:
        return self._detokenizer.finish()

    def bytes_of(self, token_id: int) -> bytes | None:
        return self._detokenizer.bytes_of(token_id)


def load(path: Path, special: Mapping[int, str] = MappingProxyType({})) -> DetokenizerFactory:
    """Loads the model's tokenizer into this process, for vocabularies without a byte table. `special` are the texts of
    special tokens by their ids."""
    tokenizer = openvino_genai.Tokenizer(path)
    texts = special

    def make(
        *, special: bool = False, per_token: bool = False, shown: frozenset[str] = frozenset(), continued: bool = False
    ) -> Detokenizer:
        kind = WindowDetokenizer if per_token else TextStreamerDetokenizer
        hidden = {id for id, text in texts.items() if text not in shown}
        if special or len(hidden) == len(texts):
            return kind(tokenizer, special=special)
        return _Without(kind(tokenizer, special=True), hidden)

    return make
