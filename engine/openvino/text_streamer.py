"""Detokenising by the tokenizer itself, for vocabularies whose tokens' text depends on their neighbours.

A character that is unfinished where the text ends is left out. The tokenizer shows one as U+FFFD, which tells nothing
of what it stands for: one that the model wrote itself as the very last character is left out, too.
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType

import openvino_genai

from specvino.engine.openvino.window_detokenizer import UNFINISHED, WindowDetokenizer
from specvino.engine.output.detokenizer import Detokenizer, DetokenizerFactory


class TextStreamerDetokenizer:
    """Turns the tokens of one sequence into text by GenAI's TextStreamer."""

    unfinished = False  # it doesn't tell

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
        return False  # go on

    def _take(self) -> str:
        text = "".join(self._texts)
        self._texts.clear()
        return text


class _Without:
    """Leaves out some tokens, as the tokenizer could only with all special ones."""

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
    """Loads the model's tokenizer into this process. `special` are the special tokens' texts."""
    tokenizer = openvino_genai.Tokenizer(path)
    texts = special

    def make(
        *, special: bool = False, each: bool = False, shown: frozenset[str] = frozenset(), continued: bool = False
    ) -> Detokenizer:
        kind = WindowDetokenizer if each else TextStreamerDetokenizer
        hidden = {id for id, text in texts.items() if text not in shown}
        if special or len(hidden) == len(texts):
            return kind(tokenizer, special=special)
        return _Without(kind(tokenizer, special=True), hidden)

    return make
