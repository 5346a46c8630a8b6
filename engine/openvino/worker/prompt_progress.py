"""Progress of prompts in the pipeline: what is still to be computed, and what is probably in the prefix cache. The
pipeline computes prompts in the order in which it receives them. GenAI 2026.4.1 reports neither its progress nor the
contents of its prefix cache (decision 061).
"""

from collections.abc import Iterator

from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import CACHE_BLOCK, STEP_CONTEXTS, Generate


class PromptBacklog:
    """The prompts that the pipeline hasn't computed yet, limited to what fills a step of `step_tokens`. So a new
    request waits for the prompt that is being computed, not for all prompts before it. The choices of a request also
    find their prompt in the prefix cache, so that it is computed once. Cached tokens don't count as work, so requests
    with a common prefix start together, as far as there is memory for their contexts.
    """

    def __init__(self, step_tokens: int) -> None:
        self._step_tokens = step_tokens
        self._left: dict[int, int] = {}  # tokens, by sequence, the oldest first
        self._contexts: dict[int, int] = {}

    @property
    def has_room(self) -> bool:
        """Returns whether the next step could compute more."""
        return sum(self._left.values()) < self._step_tokens

    def fits(self, context: int) -> bool:
        """Returns whether there is memory for a further prompt of this many tokens, computed or not."""
        contexts = [context, *self._contexts.values()]
        return len(contexts) == 1 or len(contexts) * max(contexts) <= STEP_CONTEXTS

    def add(self, id: int, tokens: int, context: int) -> None:
        """Adds a prompt of `context` tokens, of which `tokens` are to compute."""
        self._left[id], self._contexts[id] = tokens, context

    def stepped(self) -> None:
        """Subtracts the maximum that a step computes."""
        room = self._step_tokens
        for id, left in list(self._left.items()):
            if left > room:
                self._left[id] = left - room
                return
            room -= left
            self.done(id)

    def done(self, id: int) -> None:
        """Removes a sequence that has its first token, or has ended: its prompt may have been in the cache."""
        self._left.pop(id, None)
        self._contexts.pop(id, None)


_MOST_TOKENS = 2**21


class ComputedPrompts:
    """The blocks of tokens of recent prompts, at most `most_tokens`. The cache may have evicted them, or contain more.
    So this only estimates the work of a prompt, and must only affect the order of requests.
    """

    def __init__(self, most_tokens: int | None = None) -> None:
        self._most_blocks = min(most_tokens or _MOST_TOKENS, _MOST_TOKENS) // CACHE_BLOCK
        self._known: dict[int, None] = {}  # hashes of prompts up to the end of a block, the most recent last

    def add(self, token_ids: bytes) -> None:
        """Adds a prompt that was computed."""
        # From the end, so that the beginning of a prompt, which others may share, is dropped last.
        for block in reversed(list(_blocks(token_ids))):
            self._known.pop(block, None)
            self._known[block] = None
        while len(self._known) > self._most_blocks:
            del self._known[next(iter(self._known))]

    def tokens(self, token_ids: bytes) -> int:
        """Returns the length of the prefix of a prompt that was computed before."""
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


class UncomputedPrompts:
    """The prompts that may still be incomplete, whose requests can't be cancelled yet. GenAI 2026.4.1 puts a block into
    the prefix cache before all its tokens are computed. If a request ends between two steps of its prompt, the
    incomplete block stays there and corrupts the answers of other requests (decision 062). A prompt stays until it is
    `done` (its first token was generated) or has had enough steps, each of which computes at least `tokens` of all
    prompts together: a beam search returns no token before its end.
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = max(1, tokens)
        self._left: dict[int, int] = {}  # tokens to compute up to the last one of the prompt

    def __contains__(self, id: int) -> bool:
        return id in self._left

    def add(self, request: Generate) -> None:
        # The number of tokens of images is unknown here.
        own = request.prompt_tokens if request.vision_prompt is None else request.vision_prompt.context_length
        self._left[request.id] = max(self._left.values(), default=0) + own

    def stepped(self) -> None:
        self._left = {id: left - self._tokens for id, left in self._left.items() if left > self._tokens}

    def done(self, id: int) -> None:
        self._left.pop(id, None)
