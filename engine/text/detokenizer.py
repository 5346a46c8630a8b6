"""What turns a sequence's token ids into text while they come."""

from collections.abc import Callable, Sequence
from typing import Protocol


class Detokenizer(Protocol):
    """Made anew for each sequence."""

    def push(self, token_ids: Sequence[int]) -> str:
        """The text that these ids complete; '' if there is none yet. Never ends inside a code point."""
        ...

    def finish(self) -> str:
        """The text that was held back, now that no more ids come."""
        ...


DetokenizerFactory = Callable[[], Detokenizer]
