"""The processes that make tokens, and which of them answers a request."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from specvino.engine.errors import PromptError
from specvino.engine.openvino.admission import AdmittedPrompt
from specvino.engine.openvino.constraints import ResolvedConstraint
from specvino.engine.openvino.memory import available, needed_to_load
from specvino.engine.openvino.messages.preprocess import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import LONGEST_DRAFTED, LoadModel
from specvino.engine.processes.on_demand import OnDemand
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import GenerationRequest

FULL_LOGITS = "full-logits"

_WORKER = "specvino.engine.openvino.worker"
_SCORING = "specvino.engine.openvino.full_logits"

# Seconds for which a process that was started on demand is kept when nobody needs it.
_IDLE = 300.0

# Sequences that the full-logits process has at a time: with each that joins them the states of all are copied.
_FULL_LOGITS = 16


class Workers:
    """Holds the worker, which always runs, and two that are started on demand. `make` makes a process of its name, its
    module and its first message."""

    def __init__(self, load: LoadModel, make: Callable[[str, str, LoadModel], Supervisor]) -> None:
        self._load = load
        self.worker = make("worker", _WORKER, load)
        path = Path(load.path)

        def has_room() -> bool:
            return available() >= needed_to_load(path)

        # Long prompts that a draft model would take in one step go to a second worker, so that nobody waits while it
        # loads, or for its steps (decision 028); so do prompts whose logprobs are wanted beside what only a pipeline
        # can do (decision 029).
        plain = msgspec.structs.replace(load, plain=True)
        self._plain = OnDemand(partial(make, "plain worker", _WORKER, plain), _IDLE, has_room)
        # What needs the scores of all tokens goes to a process that has them (decision 068).
        full = msgspec.structs.replace(load, max_sequences=min(load.max_sequences, _FULL_LOGITS))
        self._full_logits = OnDemand(partial(make, FULL_LOGITS, _SCORING, full), _IDLE, has_room)
        self._full_logits_tokens: int | None = None

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the processes, None for a worker that is being restarted; of the others those that run."""
        return {
            "worker": self.worker.pid,
            **({"plain": self._plain.pid} if self._plain.pid else {}),
            **({"full_logits": self._full_logits.pid} if self._full_logits.pid else {}),
        }

    def bound_full_logits(self, tokens: int) -> None:
        """Notes how many tokens a sequence of the full-logits process may have: so many have room in its memory."""
        self._full_logits_tokens = tokens

    @asynccontextmanager
    async def use(
        self, request: GenerationRequest, prompts: Sequence[AdmittedPrompt], resolved: Sequence[ResolvedConstraint]
    ) -> AsyncIterator[tuple[Supervisor, Sequence[AdmittedPrompt]]]:
        """Gives the process that answers the request, and the prompts as they fit into it. Raises EngineUnavailable
        and PromptError."""
        of_pipeline = request.sampling.best_of > 1 or any(each.lowered for each in resolved)
        # In speculative decoding the pipeline keeps no least length (decision 069).
        least = request.sampling.min_tokens > 0 and self._load.drafting is not None
        long = any(len(prompt.token_ids) > LONGEST_DRAFTED * TOKEN_ID_BYTES for prompt in prompts)
        if (request.needs_full_logits or least) and not of_pipeline:
            async with self._full_logits.use() as worker:
                yield worker, [self._fitted(prompt, request.sampling.max_tokens) for prompt in prompts]
        elif request.echoes_logprobs or (long and self._load.draft_path is not None):
            async with self._plain.use() as worker:
                yield worker, prompts
        else:
            yield self.worker, prompts

    def _fitted(self, prompt: AdmittedPrompt, max_tokens: int | None) -> AdmittedPrompt:
        """Returns a prompt as it fits into the full-logits process. Raises PromptError."""
        most = self._full_logits_tokens
        if most is None:
            return prompt
        length = len(prompt.token_ids) // TOKEN_ID_BYTES
        if length + (1 if max_tokens is None else max_tokens) > most:
            raise PromptError(
                f"The server's cache has room for {most} tokens (--cache-size) of a request that needs the scores of "
                f"the whole vocabulary; this one has {length} tokens in the prompt"
                + (f" and {max_tokens} in the completion." if max_tokens else ".")
            )
        return prompt._replace(max_new_tokens=min(prompt.max_new_tokens, most - length))

    async def close(self) -> None:
        """Ends the processes."""
        await asyncio.gather(self.worker.close(), self._plain.close(), self._full_logits.close())
