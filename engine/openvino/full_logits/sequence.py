"""A sequence of the full-logits process: its prompt is computed in chunks, then it gets a token in each step."""

import time
from dataclasses import dataclass, field

import numpy

from specvino.engine.openvino.full_logits.model_runner import Decoder, Ids, Logits
from specvino.engine.openvino.full_logits.sampler import Sampler, log_softmax, most_likely, named, rank
from specvino.engine.openvino.messages.worker import Generate, Output, TopTokens


@dataclass(slots=True)
class ReadPrompt:
    """The results of a prompt: the logits after it and, if requested, the logprobs of its tokens, the most likely
    tokens at their positions, and their ranks. The first token has none.
    """

    logits: Logits = field(default_factory=lambda: numpy.zeros(0, numpy.float32))
    logprobs: list[float | None] = field(default_factory=lambda: [None])
    most_likely: list[TopTokens] = field(default_factory=lambda: [[]])
    ranks: list[int] = field(default_factory=lambda: [0])
    sent: bool = False


class Sequence:
    """The answer to one Generate message. Its `decoder` computes the prompt in chunks; `ends` are the tokens that end a
    turn. If several sequences have the same prompt, a `leader` computes it, and the others take over the result in the
    step in which it is complete. After its prompt a sequence has no decoder: a batch computes its tokens. A preempted
    sequence (`pause`) recomputes its prompt and its own tokens.
    """

    def __init__(self, request: Generate, ends: frozenset[int]) -> None:
        self.request = request
        self.leader: Sequence | None = None
        self.decoder: Decoder | None = None
        self.prompt = ReadPrompt()
        self.token = 0
        """The last token that was chosen."""
        self.passed = 0
        """How many times other prompts of its client were computed since its own."""
        self._prompt: Ids = numpy.frombuffer(request.token_ids, numpy.int64)
        self._ids = self._prompt  # to be computed in chunks
        self._chosen: list[int] = []
        self._ends = ends
        self._sampler = Sampler(request.sampling, request.seed, self._prompt, ends, request.bad_word_runs)
        echoed = request.echo and request.logprobs
        self._scores_prompt = echoed or request.prompt_logprobs is not None
        self._most_of_prompt = max(request.top_logprobs if echoed else 0, request.prompt_logprobs or 0)
        self._begun = time.monotonic()

    @property
    def length(self) -> int:
        """Returns how many tokens must be computed before the next one can be chosen."""
        return len(self._prompt) + len(self._chosen)

    @property
    def resumed(self) -> bool:
        """Returns whether it has generated tokens already."""
        return bool(self._chosen)

    @property
    def reads(self) -> bool:
        """Returns whether the prompt, or the recomputed part, is incomplete."""
        return self.leader is not None or (self.decoder is not None and self.decoder.length < len(self._ids))

    @property
    def computed(self) -> int:
        """Returns how many tokens are computed."""
        return self.decoder.length if self.decoder else 0

    @property
    def left(self) -> int:
        """Returns how many tokens of the prompt, or of the recomputed part, are left."""
        return len(self._ids) - self.computed

    def pause(self) -> None:
        """Frees its memory: everything must be recomputed."""
        self.leader = self.decoder = None
        self._ids = numpy.append(self._prompt, numpy.array(self._chosen[:-1], numpy.int64))
        if not self._chosen:
            self.prompt = ReadPrompt()

    def read(self, most: int) -> Output | None:
        """Computes the next chunk, of at most so many tokens, or takes over the leader's result. Returns the first
        output after the prompt, None if the prompt is incomplete.
        """
        if self.leader is not None:
            self.decoder, self.prompt, self.leader = self.leader.decoder, self.leader.prompt, None
            return self.next(self.prompt.logits)
        assert self.decoder is not None
        start = self.decoder.length
        logits = self.decoder.read(self._ids[start : start + most])
        if self.resumed:
            return None
        if self._scores_prompt:
            self._score(start, logits)
        if self.reads:
            return None
        self.prompt.logits = logits[-1].copy()
        return self.next(self.prompt.logits)

    def next(self, logits: Logits) -> Output:
        """Chooses the next token by the logits."""
        output = self._output(logits)
        if not self._chosen:
            output.begun = self._begun
            if self._scores_prompt and not self.prompt.sent:  # shared by all sequences of the prompt
                self.prompt.sent = True
                output.prompt_logprobs = self.prompt.logprobs
                output.prompt_top_logprobs = self.prompt.most_likely
                output.prompt_ranks = self.prompt.ranks
        self._chosen += output.token_ids
        return output

    def _output(self, logits: Logits) -> Output:
        request = self.request
        if not request.max_new_tokens:
            return Output(request.id, [], "length")
        token = self._sampler.choose(logits)
        if token is None:  # no token is allowed
            return Output(request.id, [], "stop")
        self.token = token
        output = Output(request.id, [token])
        if request.logprobs:
            logprobs = log_softmax(logits)
            output.logprobs = [float(logprobs[token])]
            if request.logprob_token_ids or request.top_logprobs == 1:  # if there is only one, it is the chosen token
                output.top_logprobs = [named(logprobs, (token, *request.logprob_token_ids))]
            else:
                output.top_logprobs = [most_likely(logprobs, request.top_logprobs)]
        if token in self._ends and not request.sampling.ignore_eos:
            output.finish = "stop"
        elif len(self._chosen) + 1 == request.max_new_tokens:
            output.finish = "length"
        return output

    def _score(self, start: int, logits: Logits) -> None:
        """Adds the logprobs of the prompt's tokens that follow each token of the chunk at `start`."""
        following = self._ids[start + 1 : start + 1 + len(logits)]
        for token, logprobs in zip(following, log_softmax(logits), strict=False):  # the answer follows the last one
            self.prompt.logprobs.append(float(logprobs[token]))
            self.prompt.ranks.append(rank(logprobs, token))
            self.prompt.most_likely.append(most_likely(logprobs, self._most_of_prompt))
