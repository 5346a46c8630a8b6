"""Token ids as the endpoints show them: beside the text that they are, or that follows them."""

from collections import defaultdict

from specvino.engine.segments import TokenIds


class PendingTokens:
    """Holds each choice's tokens until the next chunk, of which they are."""

    def __init__(self) -> None:
        self._waiting: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, segment: TokenIds) -> None:
        self._waiting[segment.choice] += segment.ids

    def take(self, choice: int) -> list[int]:
        """Returns what waits, and forgets it."""
        return self._waiting.pop(choice, [])
