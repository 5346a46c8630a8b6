"""The detokenizer, which turns a sequence's token ids into text while they come."""

from collections.abc import Sequence
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
