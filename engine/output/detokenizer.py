"""Detokenizers, which turn a sequence's token ids into text while they come: what one is, and one by table.

The table is for vocabularies where a token is its bytes, wherever it stands: byte-level BPE and most of
SentencePiece's.

It costs a microsecond a token, where GenAI 2026.4.1's tokenizer takes a hundred (decision 036). Bytes that aren't UTF-8
become U+FFFD (one for each maximal part, as in browsers and Python). Tokenizers differ among themselves there: those of
safetensors models do the same, but show one alone for a code point that can't be (E0 80, F5 80) and is cut off; those
made from GGUF drop such bytes. But a code point that is unfinished where the text ends is no mistake of the model,
which was cut: its bytes are left out.
"""

import codecs
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol


class Detokenizer(Protocol):
    """Turns the token ids of one sequence into text; it is made anew for each."""

    @property
    def unfinished(self) -> bool:
        """Tells whether a begun character is held back."""
        ...

    def push(self, token_ids: Sequence[int]) -> str:
        """Returns the text that these ids complete; '' if there is none yet. Never ends inside a code point."""
        ...

    def finish(self) -> str:
        """Returns the text that was held back, now that no more ids come, without a character still unfinished."""
        ...

    def bytes_of(self, token_id: int) -> bytes | None:
        """Returns what the token that was pushed last is in itself; None if it depends on the tokens around it."""
        ...


class DetokenizerFactory(Protocol):
    """Makes a detokenizer for each sequence."""

    def __call__(
        self, *, special: bool = False, each: bool = False, shown: frozenset[str] = frozenset(), continued: bool = False
    ) -> Detokenizer:
        """Returns a detokenizer for one sequence. `special` gives special tokens a text, `shown` those of these texts
        alone; `each` gives every token's text as soon as it is known. `continued`: the text goes on from another one,
        so that a space at its beginning counts; only tables of bytes can tell."""
        ...


class ByteTableDetokenizer:
    """Looks up each token's bytes. `table[id]` is the token's bytes: empty for special tokens. Ids beyond the table
    have no text.

    With `drops_space` a space at the beginning isn't shown: SentencePiece sets one before every text.
    """

    def __init__(self, table: Sequence[bytes], *, drops_space: bool = False) -> None:
        self._table = table
        self._drops_space = drops_space
        self._dropped = False  # just now
        self._rest = b""  # the beginning of a code point

    @property
    def unfinished(self) -> bool:
        return bool(self._rest)

    def push(self, token_ids: Sequence[int]) -> str:
        table = self._table
        try:
            data = b"".join([self._rest, *[table[i] for i in token_ids]])
        except IndexError:  # models pad their output beyond the vocabulary
            data = b"".join([self._rest, *map(self._bytes, token_ids)])
        # What codecs' incremental decoder does, in one call.
        text, decoded = codecs.utf_8_decode(data, "replace", False)
        self._rest = data[decoded:]
        self._dropped = self._drops_space and text.startswith(" ")
        if self._drops_space and text:
            self._drops_space = False
            return text.removeprefix(" ")
        return text

    def finish(self) -> str:
        self._rest = b""
        return ""

    def bytes_of(self, token_id: int) -> bytes:
        token = self._bytes(token_id)
        return token.removeprefix(b" ") if self._dropped else token

    def _bytes(self, token_id: int) -> bytes:
        return self._table[token_id] if token_id < len(self._table) else b""


def byte_table_factory(
    table: Sequence[bytes], special: Mapping[int, str], *, drops_space: bool = False
) -> DetokenizerFactory:
    """Returns a factory of detokenizers. `special` are the special tokens' texts; `drops_space` is as in the
    detokenizer."""

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

    def make(
        *, special: bool = False, each: bool = False, shown: frozenset[str] = frozenset(), continued: bool = False
    ) -> ByteTableDetokenizer:
        drops = drops_space and not continued
        return ByteTableDetokenizer(showing(every if special else shown), drops_space=drops)

    return make
