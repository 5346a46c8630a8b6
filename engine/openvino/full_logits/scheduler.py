"""The scheduler of the full-logits process: a step computes a chunk of one prompt, and a token of each running
sequence.
"""

from collections.abc import Iterator

from specvino.engine.openvino.full_logits.chunks import chunk_tokens
from specvino.engine.openvino.full_logits.model_runner import Batch, Decoder, ModelRunner
from specvino.engine.openvino.full_logits.sequence import Sequence
from specvino.engine.openvino.messages.worker import Cancel, Generate, Output, Step
from specvino.engine.openvino.native.fair_queue import FairQueue

# OpenVINO 2026.4.1: a state that grows allocates memory for twice as many tokens as it needs.
CAPACITY = 2

# Tokens after a prompt for which there must be memory when it begins.
_AHEAD = 256

# A prompt that was passed over this many times is next, regardless of its remaining length.
_MOST_PASSED = 8


class Scheduler:
    """Runs at most `max_sequences` at a time, the others wait. `ends` are the tokens that end a turn. A step computes
    at most `step_tokens` of prompts, and fewer of long ones, by the model's `hidden_size` (`chunk_tokens`). The states
    of all sequences have memory for `cache_tokens`; None is no limit. Each takes `sequence_tokens` of them for what
    doesn't grow. A single sequence that needs more must be rejected beforehand. If the running sequences need more, the
    newest is preempted: it frees its memory and is recomputed later, as in the worker's pipeline.
    """

    def __init__(
        self,
        model: ModelRunner,
        ends: frozenset[int],
        max_sequences: int,
        step_tokens: int,
        cache_tokens: int | None = None,
        sequence_tokens: int = 0,
        hidden_size: int | None = None,
    ) -> None:
        self._model = model
        self._ends = ends
        self._max_sequences = max_sequences
        self._step_tokens = step_tokens
        self._cache_tokens = cache_tokens
        self._sequence_tokens = sequence_tokens
        self._queue = FairQueue(max_sequences)
        self._running: dict[int, Sequence] = {}  # the newest last
        self._paused: dict[int, Sequence] = {}
        self._batches: list[Batch] = []
        self._hidden_size = hidden_size
        self._turns: dict[str, int] = {}  # by client: the step that last computed one of its prompts
        self._steps = 0

    @property
    def idle(self) -> bool:
        return not (self._queue or self._running or self._paused)

    def receive(self, message: Generate | Cancel) -> None:
        match message:
            case Generate():
                for sequence in message.split():
                    self._queue.add(sequence)
            case Cancel() if message.id in self._running:
                self._end(message.id)
            case Cancel() if message.id in self._paused:
                self._queue.end(self._paused.pop(message.id).request)
            case Cancel():
                self._queue.drop(message.id)

    def step(self) -> Step:
        """Runs one step and returns its outputs. Raises RuntimeError and MemoryError, after which the model is
        unusable.
        """
        self._steps += 1
        self._begin_waiting()
        outputs = [*self._read_tokens(), *self._read_prompts()]
        for output in outputs:
            if output.finish:
                self._end(output.id)
        self._join()
        self._make_room()
        if not self._running:
            self._model.release()
        waiting = len(self._queue) + len(self._paused)
        usage = 100 * self._taken() / self._cache_tokens if self._cache_tokens else 0.0
        return Step(outputs, len(self._running), waiting, usage)

    def _begin_waiting(self) -> None:
        """Resumes preempted sequences, then begins new ones, as far as there is memory."""
        for id, sequence in list(self._paused.items()):
            if not self._has_room(sequence.request, sequence.length):
                return
            self._begin(id, self._paused.pop(id))
        while (request := self._queue.next(self._passed())) and self._has_room(request, request.prompt_tokens):
            self._queue.begin(request)
            self._begin(request.id, Sequence(request, self._ends))

    def _passed(self) -> set[int]:
        """Returns the requests that may not begin, so that prompts of one chunk needn't wait until long ones are
        complete: while half of the slots have long ones, their clients get no slots for more of them.
        """
        most = chunk_tokens(self._step_tokens, self._hidden_size, 0)
        long = [sequence for sequence in self._running.values() if sequence.reads and sequence.left > most]
        if 2 * len(long) < self._max_sequences:
            return set()
        clients = {sequence.request.client for sequence in long}
        waiting = {one.request for one in self._queue.firsts() if one.prompt_tokens > most and one.client in clients}
        return waiting - {sequence.request.request for sequence in long}  # copies share a prompt while it is computed

    def _begin(self, id: int, sequence: Sequence) -> None:
        sequence.leader = None if sequence.resumed else self._leader(sequence.request)
        if sequence.leader is None:
            sequence.decoder = self._model.begin()
        self._running[id] = sequence

    def _read_tokens(self) -> Iterator[Output]:
        """Computes the last token of all sequences whose prompts are complete, and yields their next ones."""
        for batch in self._batches:
            logits_by_id = batch.read({id: self._running[id].token for id in batch.ids})
            yield from (self._running[id].next(logits) for id, logits in logits_by_id.items())

    def _read_prompts(self) -> Iterator[Output]:
        """Computes a chunk of one prompt, so that running sequences don't wait for several. If the prompt is complete,
        yields the first outputs of all sequences with it. Clients take turns.
        """
        reading = [sequence for sequence in self._running.values() if sequence.leader is None and sequence.reads]
        if not reading:
            return
        reader = self._next(reading)
        most = chunk_tokens(self._step_tokens, self._hidden_size, reader.computed)
        for sequence in [reader, *self._followers(reader)]:
            if sequence is not reader and reader.reads:
                return
            output = sequence.read(most)
            if output is not None:
                yield output

    def _next(self, reading: list[Sequence]) -> Sequence:
        """Returns the next sequence: of the client whose turn it is, the one with the fewest tokens left, as in the
        worker. A new client comes before the one that was served last, and after all others.
        """
        clients = dict.fromkeys(sequence.request.client for sequence in reading)
        self._turns = {client: self._turns.get(client, self._steps - 2) for client in clients}
        client = min(clients, key=self._turns.__getitem__)
        self._turns[client] = self._steps
        own = [sequence for sequence in reading if sequence.request.client == client]
        late = [sequence for sequence in own if sequence.passed >= _MOST_PASSED]
        reader = late[0] if late else min(own, key=lambda sequence: sequence.left)
        for sequence in own:
            sequence.passed += 1
        reader.passed = 0
        return reader

    def _join(self) -> None:
        """Puts sequences whose prompts are complete into batches."""
        joining: dict[Decoder, list[int]] = {}
        for id, sequence in self._running.items():
            if sequence.decoder is not None and not sequence.reads:
                joining.setdefault(sequence.decoder, []).append(id)
                sequence.decoder = None
        for decoder, ids in joining.items():
            for batch in self._batches:
                tokens = batch.tokens_with(decoder, ids)
                if tokens is not None and self._holds(CAPACITY * (tokens - batch.tokens)):
                    batch.join(decoder, ids)
                    break
            else:
                self._batches.append(Batch(decoder, ids))

    def _make_room(self) -> None:
        """Preempts the newest sequences until the rest fits into memory."""
        for id, sequence in reversed(list(self._running.items())):
            if len(self._running) == 1 or self._holds(0):
                return
            if sequence.leader is None and not self._followers(sequence):
                self._leave(id)
                sequence.pause()
                self._paused[id] = sequence

    def _has_room(self, request: Generate, length: int) -> bool:
        """Returns whether there is memory for a sequence: its tokens, and the next ones."""
        ahead = min(request.max_new_tokens, _AHEAD)
        return not self._running or self._holds(self._sequence_tokens + CAPACITY * (length + ahead))

    def _holds(self, more: int) -> bool:
        return self._cache_tokens is None or self._taken() + more <= self._cache_tokens

    def _taken(self) -> int:
        """Returns for how many tokens memory is allocated or reserved: all tokens of a prompt count from its start."""
        batched = {id for batch in self._batches for id in batch.ids}
        reading = sum(sequence.length for id, sequence in self._running.items() if id not in batched)
        grown = CAPACITY * (reading + sum(batch.tokens for batch in self._batches))
        return grown + self._sequence_tokens * len(self._running)

    def _leader(self, request: Generate) -> Sequence | None:
        """Returns the sequence that computes the same prompt for the same request."""
        for sequence in self._running.values():
            same = sequence.request.request == request.request and sequence.request.token_ids == request.token_ids
            if same and sequence.leader is None and sequence.reads and not sequence.resumed:
                return sequence
        return None

    def _followers(self, sequence: Sequence) -> list[Sequence]:
        return [follower for follower in self._running.values() if follower.leader is sequence]

    def _end(self, id: int) -> None:
        sequence = self._leave(id)
        followers = self._followers(sequence)
        for follower in followers:  # the prompt isn't complete: the first one computes it again
            follower.leader = followers[0] if follower is not followers[0] else None
        if followers:
            followers[0].decoder = self._model.begin()
        self._queue.end(sequence.request)

    def _leave(self, id: int) -> Sequence:
        """Removes a sequence from its batch."""
        for batch in self._batches:
            if id in batch.ids:
                batch.leave(id)
        self._batches = [batch for batch in self._batches if batch.ids]
        return self._running.pop(id)
