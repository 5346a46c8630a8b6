"""Ends a choice's reasoning where its budget is spent: GenAI 2026.4.1 has no such limit, so that the pipeline gets the
choice anew, with what was made of it and the end of the reasoning in its prompt.

What it has made so far is in the prefix cache. Penalties count it as prompt, and the seed's draws begin again.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.worker import Generate


@dataclass(slots=True)
class BudgetedChoice:
    """Is a choice whose reasoning may have to be ended: what the worker was asked for it, and its tokens since then.

    `closing` are the tokens that end the reasoning, and `lowered` constrains what comes then.
    """

    asked: Generate
    closing: Sequence[int]
    lowered: LoweredConstraint | None
    token_ids: list[int] = field(default_factory=list)
    _before: int = 0  # tokens of the choice before `asked`

    def close(self, id: int, read: int) -> Generate | None:
        """Returns what asks for the answer, under a new id; so many tokens of the choice were `read`. None where the
        limit leaves no room for it."""
        made = [*self.token_ids[: read - self._before], *self.closing]
        left = self.asked.max_new_tokens - len(made)
        if left < 1:
            return None
        sampling = replace(self.asked.sampling, min_tokens=max(0, self.asked.sampling.min_tokens - len(made)))
        self.asked = msgspec.structs.replace(
            self.asked,
            id=id,
            token_ids=self.asked.token_ids + array("q", made).tobytes(),
            max_new_tokens=left,
            sampling=sampling,
            lowered=self.lowered,
            prompt_logprobs=None if read else self.asked.prompt_logprobs,
        )
        self.token_ids = []
        self._before = read + len(self.closing)
        return self.asked
