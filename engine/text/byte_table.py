"""Detokenising by table, for byte-level BPE vocabularies: there a token is its bytes, wherever it stands.

It costs about a microsecond a token, where decoding with the tokenizer costs a hundred. Bytes that aren't UTF-8, also
an unfinished code point at the end, become U+FFFD (one for each maximal part, as in browsers and Python). Tokenizers
differ among themselves there: those of safetensors models do the same, those made from GGUF drop such bytes.
"""

import codecs
from collections.abc import Sequence

_Decoder = codecs.getincrementaldecoder("utf-8")


class ByteTableDetokenizer:
    """`table[id]` is the token's bytes: empty for special tokens. Ids beyond the table have no text."""

    def __init__(self, table: Sequence[bytes]) -> None:
        self._table = table
        self._decode = _Decoder("replace").decode

    def push(self, token_ids: Sequence[int]) -> str:
        table = self._table
        try:
            return self._decode(b"".join([table[i] for i in token_ids]))
        except IndexError:  # models pad their output beyond the vocabulary
            return self._decode(b"".join([table[i] for i in token_ids if i < len(table)]))

    def finish(self) -> str:
        return self._decode(b"", final=True)
