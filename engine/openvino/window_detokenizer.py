"""Detokenising token by token, for vocabularies whose tokens' text depends on the one before.

TextStreamer gives a token's text some tokens late; here it comes at once, so that a token and its text stay together.
It costs two calls of the tokenizer a token. A character that is unfinished where the text ends is left out, as in
`text_streamer`.
"""

from collections.abc import Sequence

import openvino_genai

# What a tokenizer makes of the beginning of a character.
UNFINISHED = "\ufffd"

# So many of the tokens before are decoded together with the new ones: a tokenizer may treat a text's start apart.
_BEFORE = 4


class WindowDetokenizer:
    """Turns the tokens of one sequence into text by decoding a window of the last ones."""

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
        if text.endswith(UNFINISHED):  # a part of a character
            return ""
        self._before = (self._before + self._new)[-_BEFORE:]
        self._new = []
        return text

    def _text(self) -> str:
        """Returns what the new tokens add to those before."""
        return self._decode(self._before + self._new)[len(self._decode(self._before)) :]

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=not self._special) if ids else ""
