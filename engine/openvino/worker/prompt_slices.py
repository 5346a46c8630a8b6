"""Long prompts are computed in slices of one step, so that a new request waits for a step and not for a whole prompt.
GenAI 2026.4.1 computes one prompt completely before the next. So a slice is sent as a separate request, which ends
after one token, and the next slice finds it in the prefix cache (decision 063). Other engines call this chunked
prefill.
"""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from openvino_genai import GenerationStatus

from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import CACHE_BLOCK, Generate

if TYPE_CHECKING:
    from openvino_genai.py_openvino_genai import GenerationHandle

# If a slice takes more steps, the previous slices weren't in the cache, which is full: then the prompt is computed as a
# whole.
_MOST_STEPS = 4

# A prompt that was passed over this many times is next, regardless of its remaining length.
_MOST_PASSED = 8

# OpenVINO 2026.4.1 on a CPU, keys and values of 8 bits: at a context of `hidden_size` tokens, within a factor of two,
# the attention of a prompt takes as long as the rest of the model: at 860 tokens for Qwen3 0.6B (1,024), and at 3,900
# for 1.7B (2,048).
_HIDDEN_SIZE = 2048  # if the model doesn't state it

# The most work of a slice, as a multiple of a full step's at the beginning of a prompt. Small slices have a price: at
# contexts of 8,000 and 16,000 tokens a prompt takes 18 % longer in slices of 64 tokens than in those of 256, and 34 and
# 44 % in those of 32. So they are larger while no answer waits for them, and small only while short requests come: the
# first token of one takes 0.12 s of CPU time with SmolLM2, and a slice of this work 0.1 to 0.2 s up to a context of
# 4,000 tokens, where it is a single block, and 0.4 s at 7,700.
_WORK = 2
_WORK_ALONE = 4
_WORK_BESIDE_SHORT = 0.5

# So many slices are small after a short request: it is expected that the next one comes within them.
_SMALL_SLICES = 64

# Larger than all ids of sequences.
_FIRST_ID = 2**62


@dataclass(slots=True)
class SlicedPrompt:
    """A request with `computed` tokens of its prompt. While there is a `handle`, the pipeline computes a slice up to
    `end`.
    """

    request: Generate
    computed: int
    slice_id: int = 0
    handle: "GenerationHandle | None" = None
    end: int = 0
    steps: int = 0
    passed: int = 0
    unsliced: bool = False
    cancelled: bool = False
    begun: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> int:
        """Returns how many tokens are left to compute."""
        return self.request.prompt_tokens - self.computed

    @property
    def done(self) -> bytes:
        """Returns the computed ids."""
        return self.request.token_ids[: self.computed * TOKEN_ID_BYTES]


class PromptSlices:
    """The requests whose prompts are computed in slices.

    The prompt with the fewest tokens left is next, so that a short one needn't wait for a long one, and equal ones
    finish one after the other; no prompt is passed over forever.
    """

    def __init__(self, step_tokens: int, hidden_size: int | None = None) -> None:
        self.step_tokens = step_tokens
        self._hidden_size = hidden_size or _HIDDEN_SIZE
        self._prompts: dict[int, SlicedPrompt] = {}
        self._last_id = _FIRST_ID
        self._small_left = 0  # slices

    def __len__(self) -> int:
        return len(self._prompts)

    def __contains__(self, id: int) -> bool:
        return id in self._prompts

    def __getitem__(self, id: int) -> SlicedPrompt:
        return self._prompts[id]

    def tokens(self, running: int, context: int) -> int:
        """Returns how many tokens of a prompt, of which `context` are computed, a step computes along with this number
        of running sequences, in whole blocks of the cache.

        The longer the context, the more work is a token: slices get smaller, so that a step doesn't take ten times as
        long at 26,000 tokens as at the beginning.
        """
        work = _WORK_BESIDE_SHORT if self._small_left else _WORK if running else _WORK_ALONE
        most = work * self._hidden_size / (self._hidden_size + context)
        blocks = min((self.step_tokens - running) // CACHE_BLOCK, round(self.step_tokens * most / CACHE_BLOCK))
        return max(1, blocks) * CACHE_BLOCK

    def make_way(self) -> None:
        """Makes the next slices small. Call it when a request begins that isn't computed in slices itself."""
        if self._prompts:
            self._small_left = _SMALL_SLICES

    @property
    def under_way(self) -> bool:
        """Returns whether the pipeline has a slice."""
        return any(prompt.handle is not None for prompt in self._prompts.values())

    def has_of(self, request: int) -> bool:
        """Returns whether a prompt of this request is being computed, which its other choices may find in the cache."""
        return any(prompt.request.request == request for prompt in self._prompts.values())

    def add(self, request: Generate, computed: int) -> None:
        self._prompts[request.id] = SlicedPrompt(request, computed)

    def new_id(self) -> int:
        """Returns an id for a slice that no sequence has."""
        self._last_id += 1
        return self._last_id

    def next(self, passed: Collection[int]) -> SlicedPrompt | None:
        """Returns the next prompt; requests in `passed` are skipped."""
        waiting = [
            prompt
            for prompt in self._prompts.values()
            if prompt.handle is None and not prompt.cancelled and prompt.request.request not in passed
        ]
        late = [prompt for prompt in waiting if prompt.passed >= _MOST_PASSED]
        return late[0] if late else min(waiting, key=lambda prompt: prompt.left, default=None)

    def began(self, prompt: SlicedPrompt, slice_id: int, handle: "GenerationHandle", end: int) -> None:
        """Records that the pipeline has the slice up to `end`."""
        for other in self._prompts.values():
            other.passed += 1
        self._small_left = max(0, self._small_left - 1)
        prompt.slice_id, prompt.handle, prompt.end = slice_id, handle, end
        prompt.steps = prompt.passed = 0

    def remove(self, prompt: SlicedPrompt) -> None:
        del self._prompts[prompt.request.id]

    def stepped(self) -> Iterator[SlicedPrompt]:
        """Yields the prompts whose slice has ended."""
        for prompt in list(self._prompts.values()):
            if prompt.handle is None:
                continue
            prompt.steps += 1
            while prompt.handle.can_read():
                prompt.handle.read()
            status = prompt.handle.get_status()
            if status == GenerationStatus.RUNNING:
                continue
            prompt.handle = None
            if status == GenerationStatus.FINISHED and prompt.steps <= _MOST_STEPS:
                prompt.computed = prompt.end
            else:
                prompt.unsliced = True
            yield prompt

    def cancelled(self) -> list[SlicedPrompt]:
        """Returns the cancelled prompts. A slice is completed first (decision 062)."""
        return [prompt for prompt in self._prompts.values() if prompt.cancelled and prompt.handle is None]
