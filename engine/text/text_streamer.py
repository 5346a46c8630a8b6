"""Detokenising by the tokenizer itself, for vocabularies whose tokens' text depends on their neighbours."""

from collections.abc import Sequence
from pathlib import Path

import openvino_genai

from specvino.engine.text.detokenizer import Detokenizer, DetokenizerFactory
from specvino.engine.text.window import WindowDetokenizer


class TextStreamerDetokenizer:
    unfinished = False  # it doesn't tell

    def __init__(self, tokenizer: openvino_genai.Tokenizer, *, special: bool = False) -> None:
        self._texts: list[str] = []
        self._streamer = openvino_genai.TextStreamer(tokenizer, self._collect, {"skip_special_tokens": not special})

    def push(self, token_ids: Sequence[int]) -> str:
        self._streamer.write(token_ids)
        return self._take()

    def finish(self) -> str:
        self._streamer.end()
        return self._take()

    def bytes_of(self, token_id: int) -> None:
        return None

    def _collect(self, text: str) -> bool:
        self._texts.append(text)
        return False  # go on

    def _take(self) -> str:
        text = "".join(self._texts)
        self._texts.clear()
        return text


def load(path: Path) -> DetokenizerFactory:
    """Loads the model's tokenizer into this process."""
    tokenizer = openvino_genai.Tokenizer(path)

    def make(*, special: bool = False, each: bool = False) -> Detokenizer:
        kind = WindowDetokenizer if each else TextStreamerDetokenizer
        return kind(tokenizer, special=special)

    return make
