"""How much of the prompts is still to be computed: the pipeline takes them in the order in which it got them."""


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
