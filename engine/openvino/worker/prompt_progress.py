"""How much of the prompts is still to be computed: the pipeline takes them in the order in which it got them."""

from collections.abc import Iterator

from specvino.engine.openvino.messages.preprocess import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import CACHE_BLOCK, Generate


class PromptBacklog:
    """Keeps the pipeline's own queue of prompts so short that a step of `step_tokens` is just full.

    So the turn of a newcomer comes after the prompt that is being computed, and not after all those that others brought
    before. It also lets the choices of a prompt find it in the prefix cache, computed once: what the cache has of a
    prompt is no work, so that many who share their first tokens begin together.
    """

    def __init__(self, step_tokens: int) -> None:
        self._step_tokens = step_tokens
        self._left: dict[int, int] = {}  # tokens, by sequence, the oldest first

    @property
    def has_room(self) -> bool:
        """Tells whether the next step could compute more than it has to."""
        return sum(self._left.values()) < self._step_tokens

    def add(self, id: int, tokens: int) -> None:
        """Notes a prompt of which so many tokens have to be computed."""
        self._left[id] = tokens

    def stepped(self) -> None:
        """Counts what a step computes at the most."""
        room = self._step_tokens
        for id, left in list(self._left.items()):
            if left > room:
                self._left[id] = left - room
                return
            room -= left
            del self._left[id]

    def done(self, id: int) -> None:
        """Notes that a sequence has its first token, or will have none: what the cache held took no time."""
        self._left.pop(id, None)


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


class UncomputedPrompts:
    """Holds them until they are `done`, which a first token shows, or have had their steps, in each of which prompts
    get at least so many `tokens` together: a beam search shows none before its end."""

    def __init__(self, tokens: int) -> None:
        self._tokens = max(1, tokens)
        self._left: dict[int, int] = {}  # tokens that may be computed before the last one of the prompt, and that

    def __contains__(self, id: int) -> bool:
        return id in self._left

    def add(self, request: Generate) -> None:
        # How many tokens images are isn't known here.
        own = request.prompt_tokens if request.vision_prompt is None else request.vision_prompt.context_length
        self._left[request.id] = max(self._left.values(), default=0) + own

    def stepped(self) -> None:
        self._left = {id: left - self._tokens for id, left in self._left.items() if left > self._tokens}

    def done(self, id: int) -> None:
        self._left.pop(id, None)
