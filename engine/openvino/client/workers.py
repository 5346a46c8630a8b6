"""The processes that generate tokens: the choice of a process for a request, and the queues of their outputs."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from math import ceil
from typing import Literal, NamedTuple

import msgspec

from specvino.engine.errors import (
    EngineError,
    EngineRestarted,
    EngineUnavailable,
    InsufficientMemory,
    ModelLoadError,
    PromptError,
)
from specvino.engine.openvino.client.admission import AdmittedPrompt
from specvino.engine.openvino.client.constraints import ResolvedConstraint
from specvino.engine.openvino.client.memory_budget import MemoryBudget
from specvino.engine.openvino.client.memory_needs import GB, Needs
from specvino.engine.openvino.client.memory_plan import LEAST_STATES, Copy, plan
from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import LONGEST_DRAFTED, Cancel, Loaded, LoadModel, Output, Step
from specvino.engine.processes.on_demand import OnDemand
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import GenerationRequest

_WORKER = "specvino.engine.openvino.worker"
_FULL_LOGITS = "specvino.engine.openvino.full_logits"

# Idle seconds after which a process that was started on demand is ended.
_IDLE = 300.0

_FULL_LOGITS_PURPOSE = (
    "A request that needs the scores of the whole vocabulary (top_logprobs, prompt_logprobs, echo with logprobs, "
    "logit_bias, allowed or bad tokens)"
)
_UNDRAFTED_PURPOSE = f"A prompt of more than {LONGEST_DRAFTED} tokens beside a draft model"

# Running sequences of the full-logits process: each one that joins causes a copy of all states.
_FULL_LOGITS_SEQUENCES = 16

# A worker that computes may be silent for this many times the stall timeout in CPU time, on each core.
_SILENT_WORK = 10

# A worker with pending requests isn't reported as ready after this fraction of the stall timeout.
_SILENT = 0.25


class OutputQueue:
    """The outputs of a `worker` for one request, until the request takes them. An asyncio queue would cost a future and
    a task switch per output.
    """

    def __init__(self, worker: Supervisor) -> None:
        self.worker = worker
        self._outputs: list[Output] = []
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def put(self, output: Output) -> None:
        self._outputs.append(output)
        self._wake()

    def fail(self, error: Exception) -> None:
        """Makes `take` raise this after the previous outputs."""
        self._error = error
        self._wake()

    async def take(self) -> list[Output]:
        """Waits for outputs and returns all available ones."""
        if not self._outputs and self._error is None:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if not self._outputs:
            assert self._error is not None
            raise self._error
        outputs, self._outputs = self._outputs, []
        return outputs

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Assignment(NamedTuple):
    """The process that answers a request, and the request's prompts, adjusted to it. `full_logits` means that the
    process has the scores of the whole vocabulary.
    """

    worker: Supervisor
    prompts: Sequence[AdmittedPrompt]
    full_logits: bool = False


FullLogits = Literal["on-demand", "preload", "off"]
"""When the full-logits process runs: while requests need it, always, or never."""


class Workers:
    """The worker, which always runs, and two processes that are started on demand, if the `budget` has memory for them.
    `vision`: the model accepts images. `on_cache` is called with the number of tokens that fit into the worker's cache,
    if that has a fixed size. A process with pending requests that neither answers nor computes for `stall_timeout`
    seconds is restarted. `needs` is the memory of the processes.
    """

    def __init__(
        self,
        load: LoadModel,
        needs: Needs,
        *,
        vision: bool,
        stall_timeout: float,
        on_cache: Callable[[int], None],
        budget: MemoryBudget,
        full_logits: FullLogits,
    ) -> None:
        self.generated_tokens = 0
        self.accepted_drafts = 0
        self._load = load
        self._vision = vision
        self._stall_timeout = stall_timeout
        self._queues: dict[int, OutputQueue] = {}  # by sequence; the choices of a request share one
        self._heard_at = 0.0  # monotonic time of the last output of a worker with pending requests
        self._steps: dict[str, Step] = {}  # the last one of each worker
        self._next_id = 0
        self._full_logits_tokens: int | None = None
        self._undrafted_tokens: int | None = None
        self.worker = self._supervisor("worker", _WORKER, load, on_cache)
        self._budget = budget
        self.needs = needs
        self._mode = full_logits
        self._preloaded = AsyncExitStack()
        # With a draft model a step computes whole prompts (decision 028): one of 7,500 tokens would block all other
        # requests for 89 s, and the memory of the step grows with it. The full-logits process isn't an alternative: it
        # has no grammars, and a token needs up to eight times as much cache memory. So long prompts go to a second
        # worker without the draft model.
        self._undrafted = OnDemand(self._make_undrafted, _IDLE)
        # Requests that need the scores of all tokens go to a process that has them (decision 068), and so do requests
        # for logprobs of the prompt, which the pipeline doesn't return for cached tokens (decision 029).
        self._full_logits = OnDemand(self._make_full_logits, _IDLE)

    def plan(self) -> list[str]:
        """Returns the plan of the model's memory in sentences."""
        return plan(
            self._budget,
            self.needs,
            self._cache,
            self._copies,
            preloaded=self.has_full_logits and self._mode == "preload",
        )

    @property
    def size(self) -> int:
        """Returns how many bytes the worker may grow to."""
        return self.needs.with_cache(self._cache)

    async def start(self) -> None:
        """Starts the worker, and a full-logits process that is preloaded. Raises ModelLoadError: then none runs."""
        await self.worker.start()
        if self._mode == "preload" and self.has_full_logits:
            try:
                await self._preloaded.enter_async_context(self._full_logits.use())
            except (EngineUnavailable, InsufficientMemory) as error:
                await self.close()  # another attempt would start a second worker
                raise ModelLoadError(f"--full-logits preload: {error}") from error

    @property
    def has_full_logits(self) -> bool:
        """Returns whether the model has a full-logits process, if there is memory for it."""
        return self._mode != "off" and not self._vision

    @property
    def lacks_memory(self) -> tuple[str, ...]:
        """Returns what there is never memory for, as sentences."""
        most = self._budget.most()
        needed = [(copy.size + copy.least, copy.purpose) for copy in self._copies]
        return tuple(self._budget.lack(size, purpose) for size, purpose in needed if size > most)

    @property
    def _copies(self) -> list[Copy]:
        scored = Copy(_FULL_LOGITS_PURPOSE, self.needs.full_logits, LEAST_STATES)
        undrafted = Copy(_UNDRAFTED_PURPOSE, self.needs.undrafted_with(GB) - GB, GB)
        return [scored] * self.has_full_logits + [undrafted] * (self._load.draft_path is not None)

    @property
    def _cache(self) -> int:
        return self.needs.cache_of(self._load.cache_size)

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the process ids: None for a worker that is being restarted; of the others, only those that are
        running.
        """
        return {
            "worker": self.worker.pid,
            **({"undrafted": self._undrafted.pid} if self._undrafted.pid else {}),
            **({"full_logits": self._full_logits.pid} if self._full_logits.pid else {}),
        }

    @property
    def running(self) -> int:
        """Returns how many sequences run."""
        return sum(step.running for step in self._steps.values())

    @property
    def waiting(self) -> int:
        """Returns how many sequences wait for a slot."""
        return sum(step.waiting for step in self._steps.values())

    @property
    def cache_usage(self) -> float:
        """Returns how much of a worker's memory for running sequences is in use, in percent."""
        return max((step.cache_usage for step in self._steps.values()), default=0.0)

    @property
    def silent(self) -> bool:
        """Returns whether there are pending requests, and no output for so long that new requests should go to another
        server.
        """
        return bool(self._queues) and time.monotonic() - self._heard_at > self._stall_timeout * _SILENT

    def bound_full_logits(self, tokens: int) -> None:
        """Sets how many tokens of a sequence fit into the memory of the full-logits process."""
        self._full_logits_tokens = tokens

    def bound_undrafted(self, tokens: int) -> None:
        """Sets how many tokens fit into the cache of the worker without the draft model, which may be smaller than that
        of the other one."""
        self._undrafted_tokens = tokens

    @asynccontextmanager
    async def use(
        self, request: GenerationRequest, prompts: Sequence[AdmittedPrompt], resolved: Sequence[ResolvedConstraint]
    ) -> AsyncIterator[Assignment]:
        """Yields the process that answers the request, once it is ready. Raises EngineUnavailable, InsufficientMemory
        and PromptError.
        """
        sampling = request.sampling
        # An answer without tokens is neither searched nor constrained.
        of_pipeline = sampling.max_tokens != 0 and (
            sampling.best_of > 1 or any(constraint.lowered for constraint in resolved)
        )
        # In speculative decoding the pipeline doesn't honor a minimum length (decision 069).
        minimum = sampling.min_tokens > 0 and self._load.drafting is not None
        if (request.needs_full_logits or minimum) and not of_pipeline and self.has_full_logits:
            async with self._full_logits.use() as worker:
                fitted = [self._fitted_to_full_logits(prompt, sampling.max_tokens) for prompt in prompts]
                yield Assignment(worker, fitted, full_logits=True)
        elif self._load.draft_path is not None and any(map(_is_long, prompts)):
            async with self._undrafted.use() as worker:
                yield Assignment(worker, [self._fitted_to_undrafted(prompt, sampling.max_tokens) for prompt in prompts])
        else:
            yield Assignment(self.worker, prompts)

    def new_ids(self, count: int) -> range:
        """Returns unique ids for this many sequences."""
        first, self._next_id = self._next_id, self._next_id + count
        return range(first, self._next_id)

    def listen(self, id: int, queue: OutputQueue) -> None:
        """Starts putting the outputs of a sequence into a queue."""
        if not self._queues:
            self._heard_at = time.monotonic()
        self._queues[id] = queue

    def forget(self, id: int, *, finished: bool, listen: bool = False) -> None:
        """Cancels a sequence unless it is finished, or was lost with its worker. With `listen` its outputs are still
        queued.
        """
        queue = self._queues.get(id) if listen else self._queues.pop(id, None)
        if queue and not finished:
            queue.worker.send(Cancel(id))

    def fail(self, error: EngineError, worker: Supervisor | None = None) -> None:
        """Fails the requests of a worker, or all requests."""
        lost = [id for id, queue in self._queues.items() if worker is None or queue.worker is worker]
        for id in lost:
            self._queues.pop(id).fail(error)

    async def close(self) -> None:
        """Ends the processes."""
        await self._preloaded.aclose()
        await asyncio.gather(self.worker.close(), self._undrafted.close(), self._full_logits.close())
        self._steps.clear()

    def _fitted_to_full_logits(self, prompt: AdmittedPrompt, max_tokens: int | None) -> AdmittedPrompt:
        """Returns a prompt that the process has memory for. Raises PromptError."""
        most = self._full_logits_tokens
        if most is not None and _least(prompt, max_tokens) > most:
            raise PromptError(
                f"The server's cache has room for {most} tokens (--cache-size) of a request that needs the scores of "
                f"the whole vocabulary; {_shown(prompt, max_tokens)}."
            )
        return _bounded(prompt, most)

    def _fitted_to_undrafted(self, prompt: AdmittedPrompt, max_tokens: int | None) -> AdmittedPrompt:
        """Returns a prompt that the worker's cache has room for, since one that doesn't fit by itself would end all
        that run there (decision 057). Raises EngineUnavailable, as the cache may be larger after the next start.
        """
        most = self._undrafted_tokens
        if most is not None and _least(prompt, max_tokens) > most:
            raise EngineUnavailable(
                f"{_UNDRAFTED_PURPOSE} has room for {most} tokens now; {_shown(prompt, max_tokens)}.",
                retry_after=round(_IDLE),
            )
        return _bounded(prompt, most)

    def _make_undrafted(self) -> Supervisor:
        copy = self._copies[-1]
        room = self._budget.require(copy.size + copy.least, copy.purpose)
        cache = ceil(self._load.cache_size)
        while cache > 1 and self.needs.undrafted_with(cache * GB) > room:
            cache -= 1
        needed = self.needs.undrafted_with(cache * GB)
        load = msgspec.structs.replace(self._load, draft_path=None, cache_size=cache, expendable=True)
        self._budget.add(lambda: needed, lambda: self._undrafted.pid, lambda: self._undrafted.wanted)
        return self._supervisor("undrafted worker", _WORKER, load, self.bound_undrafted)

    def _make_full_logits(self) -> Supervisor:
        copy = self._copies[0]
        states = self._budget.require(copy.size + copy.least, copy.purpose) - copy.size
        if self._load.cache_size:
            states = min(states, max(LEAST_STATES, int(self._load.cache_size * GB)))
        needed = copy.size + states
        load = msgspec.structs.replace(
            self._load,
            max_sequences=min(self._load.max_sequences, _FULL_LOGITS_SEQUENCES),
            state_size=states,
            expendable=True,
        )
        self._budget.add(lambda: needed, lambda: self._full_logits.pid, lambda: self._full_logits.wanted)
        return self._supervisor("full-logits", _FULL_LOGITS, load, self.bound_full_logits)

    def _supervisor(
        self, name: str, module: str, load: LoadModel, on_cache: Callable[[int], None] = lambda tokens: None
    ) -> Supervisor:
        supervisor = Supervisor(
            name,
            module,
            load,
            incoming=Loaded | Step,
            on_message=partial(self._receive, name, on_cache),
            on_lost=lambda reason, _: self._lost(name, supervisor, reason),
            busy=lambda: any(queue.worker is supervisor for queue in self._queues.values()),
            stall_timeout=self._stall_timeout,
            silent_work=_SILENT_WORK * self._stall_timeout * (os.cpu_count() or 1),
        )
        return supervisor

    def _receive(self, name: str, on_cache: Callable[[int], None], message: Loaded | Step) -> None:
        if isinstance(message, Loaded):
            on_cache(message.cache_tokens)
            return
        self._heard_at = time.monotonic()
        self._steps[name] = message
        self.accepted_drafts += message.accepted_drafts
        for output in message.outputs:
            self.generated_tokens += len(output.token_ids)
            if queue := self._queues.get(output.id):
                queue.put(output)

    def _lost(self, name: str, worker: Supervisor, reason: str) -> None:
        self._steps.pop(name, None)
        self.fail(EngineRestarted(f"The request was lost: {reason}."), worker)


def _is_long(prompt: AdmittedPrompt) -> bool:
    return _length(prompt) > LONGEST_DRAFTED


def _length(prompt: AdmittedPrompt) -> int:
    return len(prompt.token_ids) // TOKEN_ID_BYTES


def _least(prompt: AdmittedPrompt, max_tokens: int | None) -> int:
    """Returns how many tokens have to fit into a cache."""
    return _length(prompt) + (1 if max_tokens is None else max_tokens)


def _shown(prompt: AdmittedPrompt, max_tokens: int | None) -> str:
    completion = f" and {max_tokens} in the completion" if max_tokens else ""
    return f"this one has {_length(prompt)} tokens in the prompt{completion}"


def _bounded(prompt: AdmittedPrompt, most: int | None) -> AdmittedPrompt:
    """Returns a prompt with at most as many tokens after it as a cache of `most` tokens has room for."""
    if most is None:
        return prompt
    return prompt._replace(max_new_tokens=min(prompt.max_new_tokens, most - _length(prompt)))
