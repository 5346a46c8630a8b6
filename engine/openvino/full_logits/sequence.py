"""A sequence on the full-logits path: its prompt is read in pieces, then it gets a token a step."""

import time
from dataclasses import dataclass, field

import numpy

from specvino.engine.openvino.full_logits.model import Decoder, Ids, Logits
from specvino.engine.openvino.full_logits.sampler import Sampler
from specvino.engine.openvino.full_logits.scores import likeliest, log_softmax
from specvino.engine.openvino.messages.worker import Generate, Likeliest, Output


@dataclass(slots=True)
class ReadPrompt:
    """Holds what was found of a prompt: the scores of what follows it and, where they are wanted, the logprobs of its
    tokens and the likeliest ones at their places."""

    logits: Logits = field(default_factory=lambda: numpy.zeros(0, numpy.float32))
    logprobs: list[float | None] = field(default_factory=lambda: [None])
    likeliest: list[Likeliest] = field(default_factory=lambda: [[]])


class Sequence:
    """Answers one Generate with what `decoder` reads. A piece of its prompt has `piece` tokens at the most; `ends` are
    the tokens that end a turn. Of several with one prompt the others take over what their `leader` has read, in the
    very step in which it comes to the end."""

    def __init__(
        self,
        request: Generate,
        decoder: Decoder,
        ends: frozenset[int],
        piece: int,
        leader: "Sequence | None" = None,
    ) -> None:
        self.request = request
        self.decoder = decoder
        self.leader = leader
        self._unread: Ids = numpy.frombuffer(request.token_ids, numpy.int64)
        self._ids = self._unread
        self._piece = piece
        self._ends = ends
        self._sampler = Sampler(request.sampling, request.seed, self._ids, ends)
        self._scores_prompt = request.echo and request.logprobs
        self.prompt = ReadPrompt()
        self._made = 0
        self._begun = time.monotonic()

    @property
    def reads_prompt(self) -> bool:
        """Tells whether the prompt isn't read to its end."""
        return self.decoder.length < len(self._ids)

    def step(self) -> Output | None:
        """Reads the next piece, or the last token; returns what came of it, None for a piece with others behind it."""
        if self.leader is not None:
            leader, self.leader = self.leader, None
            self.decoder.take(leader.decoder)
            self.prompt = leader.prompt
            return self._next(self.prompt.logits)
        piece, self._unread = self._unread[: self._piece], self._unread[self._piece :]
        place = self.decoder.length
        logits = self.decoder.read(piece)
        if self._scores_prompt and place < len(self._ids):
            self._score(place, logits)
        if len(self._unread):
            return None
        if not self._made:
            self.prompt.logits = logits[-1].copy()
        return self._next(logits[-1])

    def _next(self, logits: Logits) -> Output:
        output = self._output(logits)
        if not self._made:
            output.begun = self._begun
            if self._scores_prompt:
                output.prompt_logprobs = self.prompt.logprobs
                output.prompt_top_logprobs = self.prompt.likeliest
        self._made += len(output.token_ids)
        self._unread = numpy.array(output.token_ids, numpy.int64)
        return output

    def _output(self, logits: Logits) -> Output:
        request = self.request
        if not request.max_new_tokens:
            return Output(request.id, [], "length")
        token = self._sampler.choose(logits)
        output = Output(request.id, [token])
        if request.logprobs:
            logprobs = log_softmax(logits)
            output.logprobs = [float(logprobs[token])]
            output.top_logprobs = [likeliest(logprobs, request.top_logprobs)]
        if token in self._ends and not request.sampling.ignore_eos:
            output.finish = "stop"
        elif self._made + 1 == request.max_new_tokens:
            output.finish = "length"
        return output

    def _score(self, place: int, logits: Logits) -> None:
        """Notes how likely the prompt's tokens behind this piece were."""
        foretold = self._ids[place + 1 : place + 1 + len(logits)]
        for token, logprobs in zip(foretold, log_softmax(logits), strict=False):  # the last one foretells the answer
            self.prompt.logprobs.append(float(logprobs[token]))
            self.prompt.likeliest.append(likeliest(logprobs, self.request.top_logprobs))
