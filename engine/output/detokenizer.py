"""Detokenizers, which turn a sequence's token ids into text as they arrive: the protocol, and one by a byte table.

The table is for vocabularies in which a token has the same bytes in every context: byte-level BPE and most of
SentencePiece's.

It costs a microsecond per token, while GenAI 2026.4.1's tokenizer takes a hundred (decision 036). Bytes that aren't
UTF-8 become U+FFFD (one for each maximal subpart, as in browsers and Python). Tokenizers differ: those of safetensors
models do the same, but return a single U+FFFD for an invalid code point (E0 80, F5 80) that is cut off; those made from
GGUF drop such bytes. The bytes of an incomplete code point at the end of the text are dropped: its output was cut off,
so it isn't an error of the model.
"""

import codecs
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol


class Detokenizer(Protocol):
    """Turns the token ids of one sequence into text. Each sequence has its own."""

    @property
    def unfinished(self) -> bool:
        """Whether an incomplete character is held back."""
        ...

    def push(self, token_ids: Sequence[int]) -> str:
        """Returns the text that these ids complete, which may be empty. It never ends inside a code point."""
        ...

    def finish(self) -> str:
        """Returns the text that was held back, without an incomplete character; no more ids follow."""
        ...

    def bytes_of(self, token_id: int) -> bytes | None:
        """Returns the bytes of the last pushed token; None if they depend on the surrounding tokens."""
        ...


class DetokenizerFactory(Protocol):
    """A factory of detokenizers, one for each sequence."""

    def __call__(
        self,
        *,
        special: bool = False,
        per_token: bool = False,
        shown: frozenset[str] = frozenset(),
        continued: bool = False,
    ) -> Detokenizer:
        """Returns a detokenizer of one sequence. With `special` all special tokens have a text, with `shown` only those
        with these texts. With `per_token`, every token's text is returned as soon as it is known. `continued` means
        that the text continues another one, so that a space at its beginning is kept; only byte tables support it.
        """
        ...


class ByteTableDetokenizer:
    """A detokenizer that looks up each token's bytes in a table. `table[id]` is empty for special tokens; ids beyond
    the table have no text.

    With `drops_space` a space at the beginning is dropped: SentencePiece puts one before every text.
    """

    def __init__(self, table: Sequence[bytes], *, drops_space: bool = False) -> None:
        self._table = table
        self._drops_space = drops_space
        self._dropped = False  # the last push dropped a space
        self._rest = b""  # the bytes of an incomplete code point

    @property
    def unfinished(self) -> bool:
        return bool(self._rest)

    def push(self, token_ids: Sequence[int]) -> str:
        table = self._table
        try:
            data = b"".join([self._rest, *[table[i] for i in token_ids]])
        except IndexError:  # models have padding logits beyond the vocabulary
            data = b"".join([self._rest, *map(self._bytes, token_ids)])
        # Equivalent to codecs' incremental decoder, in one call.
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
    """Returns a factory of detokenizers that use a table. `special` has the special tokens' texts; `drops_space` is as
    in ByteTableDetokenizer.
    """

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
        *, special: bool = False, per_token: bool = False, shown: frozenset[str] = frozenset(), continued: bool = False
    ) -> ByteTableDetokenizer:
        drops = drops_space and not continued
        return ByteTableDetokenizer(showing(every if special else shown), drops_space=drops)

    return make
