"""A sequence on the full-logits path: its prompt is read in pieces, then it gets a token a step."""

import time
from dataclasses import dataclass, field

import numpy

from specvino.engine.openvino.full_logits.model_runner import Decoder, Ids, Logits
from specvino.engine.openvino.full_logits.sampler import Sampler, likeliest, log_softmax, rank, those
from specvino.engine.openvino.messages.worker import Generate, Likeliest, Output


@dataclass(slots=True)
class ReadPrompt:
    """Holds what was found of a prompt: the scores of what follows it and, where they are wanted, the logprobs of its
    tokens, the likeliest ones at their places, and their own places among all. Nothing foretold the first one."""

    logits: Logits = field(default_factory=lambda: numpy.zeros(0, numpy.float32))
    logprobs: list[float | None] = field(default_factory=lambda: [None])
    likeliest: list[Likeliest] = field(default_factory=lambda: [[]])
    ranks: list[int] = field(default_factory=lambda: [0])
    told: bool = False


class Sequence:
    """Answers one Generate. Its `decoder` reads the prompt, `piece` tokens at a time at the most; `ends` are the tokens
    that end a turn. Of several with one prompt the others take over what their `leader` has read, in the very step in
    which it comes to the end. Then it has no decoder: its tokens are read with those of others.

    One whose memory was taken away (`pause`) reads its prompt and its own tokens again.
    """

    def __init__(self, request: Generate, ends: frozenset[int], piece: int) -> None:
        self.request = request
        self.leader: Sequence | None = None
        self.decoder: Decoder | None = None
        self.prompt = ReadPrompt()
        self.token = 0
        """The last one that was chosen."""
        self._prompt: Ids = numpy.frombuffer(request.token_ids, numpy.int64)
        self._ids = self._prompt  # what is read in pieces
        self._made: list[int] = []
        self._piece = piece
        self._ends = ends
        self._sampler = Sampler(request.sampling, request.seed, self._prompt, ends, request.bad_word_runs)
        echoed = request.echo and request.logprobs
        self._scores_prompt = echoed or request.prompt_logprobs is not None
        self._most_of_prompt = max(request.top_logprobs if echoed else 0, request.prompt_logprobs or 0)
        self._begun = time.monotonic()

    @property
    def length(self) -> int:
        """Returns how many tokens have to be read before the next one can be chosen."""
        return len(self._prompt) + len(self._made)

    @property
    def resumed(self) -> bool:
        """Tells whether it has tokens of its own already."""
        return bool(self._made)

    @property
    def reads(self) -> bool:
        """Tells whether the prompt, or what is read again, isn't read to its end."""
        return self.leader is not None or (self.decoder is not None and self.decoder.length < len(self._ids))

    def pause(self) -> None:
        """Gives up what was read: all of it has to be read again."""
        self.leader = self.decoder = None
        self._ids = numpy.append(self._prompt, numpy.array(self._made[:-1], numpy.int64))
        if not self._made:
            self.prompt = ReadPrompt()

    def read(self) -> Output | None:
        """Reads the next piece, or takes over what the leader has read to the end; returns what comes behind the
        prompt, None where it isn't at its end."""
        if self.leader is not None:
            self.decoder, self.prompt, self.leader = self.leader.decoder, self.leader.prompt, None
            return self.next(self.prompt.logits)
        assert self.decoder is not None
        place = self.decoder.length
        logits = self.decoder.read(self._ids[place : place + self._piece])
        if self.resumed:
            return None
        if self._scores_prompt:
            self._score(place, logits)
        if self.reads:
            return None
        self.prompt.logits = logits[-1].copy()
        return self.next(self.prompt.logits)

    def next(self, logits: Logits) -> Output:
        """Chooses the next token by the scores of what may come."""
        output = self._output(logits)
        if not self._made:
            output.begun = self._begun
            if self._scores_prompt and not self.prompt.told:  # with several sequences once for all of them
                self.prompt.told = True
                output.prompt_logprobs = self.prompt.logprobs
                output.prompt_top_logprobs = self.prompt.likeliest
                output.prompt_ranks = self.prompt.ranks
        self._made += output.token_ids
        return output

    def _output(self, logits: Logits) -> Output:
        request = self.request
        if not request.max_new_tokens:
            return Output(request.id, [], "length")
        token = self._sampler.choose(logits)
        if token is None:  # none may be drawn
            return Output(request.id, [], "stop")
        self.token = token
        output = Output(request.id, [token])
        if request.logprobs:
            logprobs = log_softmax(logits)
            output.logprobs = [float(logprobs[token])]
            if request.logprob_token_ids or request.top_logprobs == 1:  # a single one is the chosen one
                output.top_logprobs = [those(logprobs, (token, *request.logprob_token_ids))]
            else:
                output.top_logprobs = [likeliest(logprobs, request.top_logprobs)]
        if token in self._ends and not request.sampling.ignore_eos:
            output.finish = "stop"
        elif len(self._made) + 1 == request.max_new_tokens:
            output.finish = "length"
        return output

    def _score(self, place: int, logits: Logits) -> None:
        """Notes how likely the prompt's tokens behind this piece were."""
        foretold = self._ids[place + 1 : place + 1 + len(logits)]
        for token, logprobs in zip(foretold, log_softmax(logits), strict=False):  # the last one foretells the answer
            self.prompt.logprobs.append(float(logprobs[token]))
            self.prompt.ranks.append(rank(logprobs, token))
            self.prompt.likeliest.append(likeliest(logprobs, self._most_of_prompt))
