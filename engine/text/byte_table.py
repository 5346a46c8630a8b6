"""Detokenising by table, for byte-level BPE vocabularies: there a token is its bytes, wherever it stands.

It costs about a microsecond a token, where decoding with the tokenizer costs a hundred. Bytes that aren't UTF-8 become
U+FFFD (one for each maximal part, as in browsers and Python). Tokenizers differ among themselves there: those of
safetensors models do the same, those made from GGUF drop such bytes. But a code point that is unfinished where the text
ends is no mistake of the model, which was cut: its bytes are left out.
"""

import codecs
from collections.abc import Mapping, Sequence
from functools import cache

from specvino.engine.text.detokenizer import DetokenizerFactory

_Decoder = codecs.getincrementaldecoder("utf-8")


class ByteTableDetokenizer:
    """`table[id]` is the token's bytes: empty for special tokens. Ids beyond the table have no text."""

    def __init__(self, table: Sequence[bytes]) -> None:
        self._table = table
        self._decoder = _Decoder("replace")
        self._decode = self._decoder.decode

    @property
    def unfinished(self) -> bool:
        return bool(self._decoder.getstate()[0])

    def push(self, token_ids: Sequence[int]) -> str:
        table = self._table
        try:
            return self._decode(b"".join([table[i] for i in token_ids]))
        except IndexError:  # models pad their output beyond the vocabulary
            return self._decode(b"".join([self.bytes_of(i) for i in token_ids]))

    def finish(self) -> str:
        self._decoder.reset()
        return ""

    def bytes_of(self, token_id: int) -> bytes:
        return self._table[token_id] if token_id < len(self._table) else b""


def factory(table: Sequence[bytes], special: Mapping[int, str]) -> DetokenizerFactory:
    """`special` are the special tokens' texts."""

    @cache
    def showing(texts: frozenset[str]) -> Sequence[bytes]:
        ids = {i: text for i, text in special.items() if text in texts}
        if not ids:
            return table
        own = list(table)
        for i, text in ids.items():
            own[i] = text.encode()
        return own

    every = frozenset(special.values())

    def make(*, special: bool = False, each: bool = False, shown: frozenset[str] = frozenset()) -> ByteTableDetokenizer:
        return ByteTableDetokenizer(showing(every if special else shown))

    return make
