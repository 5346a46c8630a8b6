"""Which prompts begin like one that was computed: GenAI 2026.4.1 doesn't tell what its prefix cache has (decision
061)."""

from collections.abc import Iterator

from specvino.engine.openvino.messages.preprocess import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import CACHE_BLOCK

_MOST_TOKENS = 2**21


class ComputedPrompts:
    """Remembers the blocks of tokens with which prompts began, the `most_tokens` that were met last.

    The cache may have lost them, or have more. So this is no more than an estimate of the work that a prompt is, by
    which nothing but the order of requests may go.
    """

    def __init__(self, most_tokens: int | None = None) -> None:
        self._most_blocks = min(most_tokens or _MOST_TOKENS, _MOST_TOKENS) // CACHE_BLOCK
        self._known: dict[int, None] = {}  # hashes of a prompt up to the end of a block, those met last at the end

    def add(self, token_ids: bytes) -> None:
        """Notes a prompt that is computed."""
        # From its end: of a prompt that is forgotten in part, the beginning is what others have, too.
        for block in reversed(list(_blocks(token_ids))):
            self._known.pop(block, None)
            self._known[block] = None
        while len(self._known) > self._most_blocks:
            del self._known[next(iter(self._known))]

    def tokens(self, token_ids: bytes) -> int:
        """Returns how many of a prompt's first tokens were computed before."""
        known = 0
        for block in _blocks(token_ids):
            if block not in self._known:
                break
            known += CACHE_BLOCK
        return known


def _blocks(token_ids: bytes) -> Iterator[int]:
    size = CACHE_BLOCK * TOKEN_ID_BYTES
    before = 0
    for start in range(0, len(token_ids) - size + 1, size):
        before = hash((before, token_ids[start : start + size]))
        yield before
