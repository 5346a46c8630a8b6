"""Limits of speculative decoding: which sequences may run concurrently in GenAI 2026.4.1 (decisions 028, 060)."""

from specvino.engine.openvino.messages.worker import CACHE_BLOCK, Generate
from specvino.engine.protocol import Drafting

# OpenVINO Model Server's default.
_ASSISTANT_TOKENS = 5

# The minimum per sequence and step: its own token and one draft.
_LEAST = 2


def draft_tokens(max_sequences: int) -> int:
    """Returns how many tokens of a step are reserved for drafts and the tokens before them."""
    return (1 + _ASSISTANT_TOKENS) * max_sequences


class DraftBudget:
    """Decides which sequences may run, and how many drafts they get. Without speculative decoding all may run.

    - The drafts of all sequences fit into a step: later sequences get fewer, which only affects speed.
    - Running sequences fit into the cache completely, so the pipeline never preempts one.
    """

    def __init__(self, kind: Drafting | None, max_sequences: int, cache_tokens: int | None) -> None:
        self.kind = kind
        self._max_sequences = max_sequences
        self._cache_tokens = cache_tokens
        self._drafts: dict[int, int] = {}  # by sequence
        self._cache: dict[int, int] = {}  # by sequence, its maximum number of tokens

    def admits(self, sequence: Generate) -> bool:
        if self._cache_tokens is None or not self._cache:
            return True
        return sum(self._cache.values()) + self._most(sequence) <= self._cache_tokens

    def begin(self, sequence: Generate) -> int:
        """Adds the sequence, and returns how many tokens may be drafted for it per step."""
        if self.kind is None:
            return 0
        others = self._max_sequences - len(self._drafts) - 1
        left = draft_tokens(self._max_sequences) - sum(self._drafts.values()) - others * _LEAST
        drafts = min(sequence.sampling.num_assistant_tokens or _ASSISTANT_TOKENS, left - 1)
        self._drafts[sequence.id] = 1 + drafts
        self._cache[sequence.id] = self._most(sequence)
        return drafts

    def end(self, sequence: Generate) -> None:
        self._drafts.pop(sequence.id, None)
        self._cache.pop(sequence.id, None)

    def _most(self, sequence: Generate) -> int:
        # Drafts may need another block.
        drafts = sequence.sampling.num_assistant_tokens or _ASSISTANT_TOKENS
        return sequence.prompt_tokens + sequence.max_new_tokens + drafts + CACHE_BLOCK
