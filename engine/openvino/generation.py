"""The generation of one request: it is sent to a worker, and the worker's outputs become segments."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import chain

from specvino.engine.errors import ContextLengthExceeded, EngineError, PromptError
from specvino.engine.openvino.client.constraints import ResolvedConstraint
from specvino.engine.openvino.client.images import sent_images
from specvino.engine.openvino.client.running_choice import BudgetedChoice, ChoiceFactory, RunningChoice
from specvino.engine.openvino.client.workers import Assignment, OutputQueue, Workers
from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import Generate, Output
from specvino.engine.protocol import CLIENT
from specvino.engine.request import GenerationRequest
from specvino.engine.segments import Finish, Phases, Segment, Started, Usage

# Choices that are made without a pause for other requests.
_CHOICES = 32


class RequestTimes:
    """The times of one request, since it was sent to the worker. `clock` is for tests. The worker sends its start time
    by the monotonic clock, which all processes of a machine share.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sent = clock()
        self._begun: float | None = None  # the first of its choices
        self._first = self._last = 0.0

    def push(self, outputs: Sequence[Output]) -> None:
        """Records outputs; the first output of a choice marks its start."""
        self._last = self._clock()
        if self._begun is None:
            self._begun = next((output.begun for output in outputs if output.begun is not None), None)
            self._first = self._last

    @property
    def phases(self) -> Phases | None:
        """Returns the duration of each phase so far; None if nothing started."""
        if self._begun is None:
            return None
        return Phases(self._begun - self._sent, self._first - self._begun, self._last - self._first)


class Generation:
    """The answer to an admitted request by the process that `assigned` names; `constraints` has one for each prompt."""

    def __init__(
        self,
        request: GenerationRequest,
        assigned: Assignment,
        constraints: Sequence[ResolvedConstraint],
        *,
        workers: Workers,
        factory: ChoiceFactory,
        context_length: int,
    ) -> None:
        self._request = request
        self._assigned = assigned
        self._constraints = constraints
        self._workers = workers
        self._factory = factory
        self._context_length = context_length
        self._queue = OutputQueue(assigned.worker)
        self._choices: dict[int, RunningChoice] = {}  # by sequence id, until they are finished
        self._ids: list[int] = []  # of all sequences that were sent initially

    async def segments(self) -> AsyncGenerator[Segment]:
        """Sends the request and yields its answer. Closing the generator cancels what isn't finished.

        Raises an EngineError; of a single prompt that the worker refuses before the first segment.
        """
        request, prompts, choices = self._request, self._assigned.prompts, self._choices
        images = [prompt.prompt_images for prompt in prompts if prompt.prompt_images is not None]
        times = RequestTimes()
        try:
            async with sent_images(self._assigned.worker, images):
                await self._send()
            # Only the worker can decide whether a prompt fits with its images, and has only their tags.
            outputs = await self._queue.take() if any(prompt.vision_prompt for prompt in prompts) else []
            self._check(outputs)
            prompt_tokens = sum(len(prompt.token_ids) for prompt in prompts) // TOKEN_ID_BYTES
            yield self._started(prompt_tokens)
            if request.thinking_budget is not None:  # there may be none if the prompt started the reasoning
                outputs = [Output(id, []) for id, choice in choices.items() if choice.output.overspent]
            counted = None
            completion_tokens = reasoning_tokens = 0
            while choices or (images and counted is None):
                outputs = outputs or await self._queue.take()
                times.push(outputs)
                self._check(outputs)
                for output in outputs:
                    counted = output.prompt_tokens or counted
                    choice = choices.get(output.id)
                    if choice is None:
                        continue  # tokens after a stop string
                    if output.error is not None:
                        raise EngineError(output.error)
                    for segment in chain(choice.push(output), self._closed(output, choice)):
                        if isinstance(segment, Finish):
                            choices.pop(output.id, None)
                            self._workers.forget(output.id, finished=output.finish is not None, listen=bool(images))
                            completion_tokens += choice.output.tokens
                            reasoning_tokens += choice.output.reasoning_tokens
                        yield segment
                outputs = []
            # The texts of a beam search arrive at its end, so the time of the first token is unknown.
            phases = times.phases if request.sampling.best_of == 1 else None
            yield Usage(counted or prompt_tokens, completion_tokens, reasoning_tokens, phases)
        finally:
            for id in {*self._ids, *choices}:
                self._workers.forget(id, finished=id not in choices)

    def _check(self, outputs: Sequence[Output]) -> None:
        """Raises PromptError if the worker refuses a prompt."""
        for output in outputs:
            match output.refusal:
                case "too_long":
                    tokens = self._request.sampling.max_tokens or 1
                    raise ContextLengthExceeded(None, tokens, self._context_length)
                case "image_tags":
                    raise PromptError("The prompt contains the tag of an image that the request doesn't have there.")

    def _started(self, prompt_tokens: int) -> Started:
        prompts, constraint = self._assigned.prompts, self._constraints[0]
        return Started(
            prompt_tokens,
            constraint.unenforced,
            constraint.unenforced_arguments,
            tuple(prompt.ids() for prompt in prompts) if self._request.token_ids else (),
            tuple(dict.fromkeys(hidden for prompt in prompts for hidden in prompt.hidden)),
        )

    async def _send(self) -> None:
        """Sends a message for each prompt: sequences for its choices, or one beam search."""
        request, sampling = self._request, self._request.sampling
        scored = self._assigned.full_logits
        ids = self._workers.new_ids(len(self._assigned.prompts) * request.n)
        for prompt, constraint in zip(self._assigned.prompts, self._constraints, strict=True):
            seed = secrets.randbits(31) if sampling.seed is None else sampling.seed
            search = sampling.best_of > 1 and prompt.max_new_tokens > 0
            first = ids[len(self._ids)]
            shown = self._factory.shown_prompt(request, prompt, scored=scored)
            for _ in range(request.n):
                index = len(self._ids)
                if index % _CHOICES == _CHOICES - 1:
                    await asyncio.sleep(0)
                self._ids.append(ids[index])
                self._choices[ids[index]] = self._factory.choice(index, request, prompt, shown)
                self._workers.listen(ids[index], self._queue)
            message = Generate(
                id=first,
                request=ids[0],
                token_ids=prompt.token_ids,
                sampling=sampling,
                max_new_tokens=prompt.max_new_tokens,
                seed=seed,
                n=request.n,
                copies=1 if search else request.n,
                logprobs=request.logprobs,
                top_logprobs=request.top_logprobs,
                logprob_token_ids=request.logprob_token_ids,
                prompt_logprobs=request.prompt_logprobs,
                bad_word_runs=prompt.bad_word_runs,
                # A prompt without an answer can only be returned.
                echo=(request.echoes_logprobs and scored) or not prompt.max_new_tokens,
                vision_prompt=prompt.vision_prompt,
                lowered=constraint.lowered,
                owner=request.owner,
                client=CLIENT.get(),
                priority=request.priority,
            )
            if prompt.closing:
                for sequence in message.split():
                    self._choices[sequence.id].budgeted = BudgetedChoice(
                        sequence, prompt.closing, constraint.behind_reasoning
                    )
            self._queue.worker.send(message)

    def _closed(self, output: Output, choice: RunningChoice) -> Iterator[Segment]:
        """Ends the reasoning of a choice that has used up its budget, and continues the choice under another id."""
        if not choice.output.overspent:
            return
        assert choice.budgeted is not None
        del self._choices[output.id]
        self._workers.forget(output.id, finished=output.finish is not None)
        [id] = self._workers.new_ids(1)
        message = choice.budgeted.close(id, choice.output.tokens)
        if message is None:
            yield from choice.output.push([], None, "length")
            return
        closing = choice.budgeted.closing
        self._choices[id] = choice
        self._workers.listen(id, self._queue)
        for segment in choice.output.close_reasoning(closing, [0.0] * len(closing) if message.logprobs else None):
            if isinstance(segment, Finish):  # the closing text contains a stop string
                del self._choices[id]
                self._workers.forget(id, finished=True)
            yield segment
        if id in self._choices:
            self._queue.worker.send(message)
