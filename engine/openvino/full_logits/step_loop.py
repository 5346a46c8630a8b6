"""The steps of the full-logits process: a piece of a prompt is read, and a token of each sequence behind its prompt."""

from collections.abc import Iterator

from specvino.engine.openvino.full_logits.model import FullLogitsModel
from specvino.engine.openvino.full_logits.sequence import Sequence
from specvino.engine.openvino.messages.worker import Cancel, Generate, Output, Step
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.native.fair_queue import FairQueue


class StepLoop:
    """Steps at most `max_sequences`, the others wait. `ends` are the tokens that end a turn; of prompts a step reads
    at most `step_tokens`. All that runs has at most `cache_tokens`, None for any number: what each may come to has its
    place from the beginning on. One that is longer runs alone."""

    def __init__(
        self,
        model: FullLogitsModel,
        ends: frozenset[int],
        max_sequences: int,
        step_tokens: int,
        cache_tokens: int | None = None,
    ) -> None:
        self._model = model
        self._ends = ends
        self._step_tokens = step_tokens
        self._cache_tokens = cache_tokens
        self._queue = FairQueue(max_sequences)
        self._running: dict[int, Sequence] = {}
        self._batch = model.batch()

    @property
    def idle(self) -> bool:
        return not (self._queue or self._running)

    def receive(self, message: Generate | Cancel) -> None:
        match message:
            case Generate():
                for sequence in message.each():
                    self._queue.add(sequence)
            case Cancel() if message.id in self._running:
                self._end(message.id)
            case Cancel():
                self._queue.drop(message.id)

    def step(self) -> Step:
        """Runs one step and returns what came of it."""
        while (request := self._queue.next()) and self._has_room(request):
            self._queue.begin(request)
            read_by = self._leader(request) or self._model.begin()
            self._running[request.id] = Sequence(request, self._ends, self._step_tokens, read_by)
        outputs = [*self._read_tokens(), *self._read_prompts()]
        for output in outputs:
            if output.finish or output.error:
                self._end(output.id)
        self._join()
        return Step(outputs, len(self._running), len(self._queue), 0.0)

    def _read_tokens(self) -> Iterator[Output]:
        """Reads the last tokens of all whose prompts are read, and yields the next ones."""
        tokens = {id: self._running[id].token for id in self._batch.ids}
        if not tokens:
            return
        try:
            found = self._batch.read(tokens)
        except RuntimeError as error:
            yield from (Output(id, [], error=one_line(error)) for id in tokens)
            return
        yield from (self._running[id].next(logits) for id, logits in found.items())

    def _read_prompts(self) -> Iterator[Output]:
        """Reads a piece of one prompt, so that those who get tokens needn't wait for several, and yields what comes
        behind it, of all that have it."""
        reads = None
        for id, sequence in self._running.items():
            if not sequence.reads_prompt or (sequence.leader or sequence) is not (reads := reads or sequence):
                continue
            if sequence.leader is not None and sequence.leader.reads_prompt:
                continue
            try:
                output = sequence.read()
            except RuntimeError as error:  # the others have states of their own
                output = Output(id, [], error=one_line(error))
            if output is not None:
                yield output

    def _join(self) -> None:
        """Has those go on together whose prompts have come to the end."""
        joining = {
            id: sequence.decoder
            for id, sequence in self._running.items()
            if sequence.decoder is not None and not sequence.reads_prompt
        }
        if not joining:
            return
        self._batch.join(joining)
        for decoder in {id(decoder): decoder for decoder in joining.values()}.values():
            self._model.end(decoder)
        for each in joining:
            self._running[each].decoder = None

    def _has_room(self, request: Generate) -> bool:
        if self._cache_tokens is None or not self._running:
            return True
        taken = sum(_most_tokens(sequence.request) for sequence in self._running.values())
        return taken + _most_tokens(request) <= self._cache_tokens

    def _leader(self, request: Generate) -> Sequence | None:
        """Returns who reads the same prompt for the same request."""
        for sequence in self._running.values():
            same = sequence.request.request == request.request and sequence.request.token_ids == request.token_ids
            if same and sequence.leader is None and sequence.reads_prompt:
                return sequence
        return None

    def _end(self, id: int) -> None:
        sequence = self._running.pop(id)
        followers = [each for each in self._running.values() if each.leader is sequence]
        for each in followers:  # it hasn't come to the end of the prompt
            each.leader = followers[0] if each is not followers[0] else None
        if followers:
            followers[0].decoder = self._model.begin()
        if id in self._batch.ids:
            self._batch.leave(id)
        elif sequence.decoder is not None and not any(
            each.decoder is sequence.decoder for each in self._running.values()
        ):
            self._model.end(sequence.decoder)
        self._queue.end(sequence.request)


def _most_tokens(request: Generate) -> int:
    return request.prompt_tokens + request.max_new_tokens
