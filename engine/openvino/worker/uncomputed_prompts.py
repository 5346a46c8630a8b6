"""Which prompts aren't computed to their end: their requests can't be cancelled yet.

GenAI 2026.4.1 puts a block into the prefix cache under the name of all its tokens before the last of them are computed.
If a request ends between two steps of its prompt, the block stays there half done, and spoils the answers of other
requests (decision 062).
"""

from specvino.engine.openvino.messages.worker import Generate


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
