"""Sampling by the logits of the whole vocabulary, and logprobs.

The settings have the same meanings as in GenAI's pipeline, so that both processes give the same answers. Only this
module supports `logit_bias`, allowed and bad tokens.
"""

from collections.abc import Iterable, Iterator

import numpy
import numpy.typing

from specvino.engine.openvino.full_logits.model_runner import Ids, Logits
from specvino.engine.openvino.messages.worker import TopTokens
from specvino.engine.request import Sampling

Probabilities = numpy.typing.NDArray[numpy.float64]

# For smaller values the most likely token is chosen, as in the pipeline (decision 022).
_SMALLEST = 1e-6

# Tokens that are sorted first: they nearly always include all tokens within top_p.
_NEAREST = 1024


class Sampler:
    """Chooses the tokens of one sequence. `ends` are the tokens that end its turn. The last token of each of the
    `bad_word_runs` can't be chosen after the others.
    """

    def __init__(
        self,
        sampling: Sampling,
        seed: int,
        prompt: Ids,
        ends: frozenset[int],
        bad_word_runs: Iterable[tuple[int, ...]] = (),
    ) -> None:
        self._sampling = sampling
        self._ends = sorted(ends)
        self._random = numpy.random.Generator(numpy.random.PCG64(seed))
        self._bias_ids = numpy.array([id for id, _ in sampling.logit_bias], numpy.int64)
        self._bias = numpy.array([value for _, value in sampling.logit_bias], numpy.float64)
        self._allowed = numpy.unique(numpy.array(sampling.allowed_token_ids, numpy.int64))
        barred = [*sampling.bad_words_token_ids]
        self._bad_runs: dict[int, list[tuple[int, ...]]] = {}  # by the last token but one
        for run in bad_word_runs:
            if len(run) == 1:
                barred += run
            else:
                self._bad_runs.setdefault(run[-2], []).append(run)
        self._barred = numpy.unique(numpy.array(barred, numpy.int64))
        self._prompt = numpy.unique(prompt)
        self._counts: dict[int, int] = {}  # how often each token was chosen
        self._text: list[int] = []  # all chosen tokens, in their order

    @property
    def is_greedy(self) -> bool:
        return min(self._sampling.temperature, self._sampling.top_p) < _SMALLEST

    def choose(self, logits: Logits) -> int | None:
        """Returns the next token's id; None if no token may be chosen."""
        scores = self.adjusted(logits)
        most_likely = int(scores.argmax())
        if scores[most_likely] == -numpy.inf:
            return None
        token = most_likely if self.is_greedy else self._drawn(scores)
        self._counts[token] = self._counts.get(token, 0) + 1
        self._text.append(token)
        return token

    def _drawn(self, scores: Probabilities) -> int:
        bounds = self.probabilities(scores).cumsum()
        return int(bounds.searchsorted(self._random.random() * bounds[-1], side="right"))

    def adjusted(self, logits: Logits) -> Probabilities:
        """Returns the scores with bias and penalties.

        - `logit_bias` is added to a token's score (OpenAI API reference).
        - `repetition_penalty` r divides the score of a token that occurs in the prompt or the text if it is positive,
          and multiplies it if it is negative (Keskar et al. 2019, CTRL, section 4.1, with Hugging Face's correction for
          the sign).
        - `presence_penalty` is subtracted once from the score of each token in the text, and `frequency_penalty` once
          per occurrence (OpenAI API reference). The prompt doesn't count.
        - Before `min_tokens`, tokens that end the turn can't be chosen; nor can those that aren't among
          `allowed_token_ids` if there are any, `bad_words_token_ids`, and tokens that would complete a bad word (vLLM
          0.33.0, v1/sample/ops/bad_words.py).
        """
        sampling = self._sampling
        scores = logits.astype(numpy.float64)
        scores[self._bias_ids] += self._bias
        chosen = numpy.fromiter(self._counts.keys(), numpy.int64, len(self._counts))
        if sampling.repetition_penalty != 1:
            seen = numpy.union1d(self._prompt, chosen)
            old = scores[seen]
            penalty = sampling.repetition_penalty
            scores[seen] = numpy.where(old > 0, old / penalty, old * penalty)
        if len(chosen):
            counts = numpy.fromiter(self._counts.values(), numpy.float64, len(self._counts))
            scores[chosen] -= sampling.presence_penalty + sampling.frequency_penalty * counts
        scores[self._barred] = -numpy.inf
        scores[list(self._barred_next())] = -numpy.inf
        if len(self._allowed):
            allowed = scores[self._allowed]
            scores[:] = -numpy.inf
            scores[self._allowed] = allowed
        return scores

    def _barred_next(self) -> Iterator[int]:
        """Yields the tokens that can't be chosen next."""
        if len(self._text) < self._sampling.min_tokens:
            yield from self._ends
        for run in self._bad_runs.get(self._text[-1], ()) if self._text else ():
            if tuple(self._text[1 - len(run) :]) == run[:-1]:
                yield run[-1]

    def probabilities(self, adjusted: Probabilities) -> Probabilities:
        """Returns the probabilities of the tokens, given the adjusted scores.

        They are the softmax of the scores divided by `temperature`. The filters then keep the `top_k` most likely
        tokens (Fan et al. 2018); of these the smallest set of the most likely tokens with a total probability of
        `top_p` (Holtzman et al. 2020, nucleus sampling); and those with at least `min_p` times the probability of the
        most likely one (Nguyen et al. 2024). The result isn't normalized again.
        """
        sampling = self._sampling
        scores = adjusted / sampling.temperature
        probabilities: Probabilities = numpy.exp(scores - scores.max())
        probabilities /= probabilities.sum()
        kept = self._kept(probabilities)
        if len(kept) < len(probabilities):
            drawn = numpy.zeros_like(probabilities)
            drawn[kept] = probabilities[kept]
            return drawn
        return probabilities

    def _kept(self, probabilities: Probabilities) -> Ids:
        sampling = self._sampling
        order = numpy.arange(len(probabilities))
        if 0 < sampling.top_k < len(probabilities):
            order = _sorted(probabilities, sampling.top_k)
        if sampling.top_p < 1:
            most = sampling.top_p * probabilities[order].sum()
            near = _sorted(probabilities, min(_NEAREST, len(order)))
            if probabilities[near].sum() < most:
                near = _sorted(probabilities, len(order))
            order = near[: int(probabilities[near].cumsum().searchsorted(most)) + 1]
        if sampling.min_p > 0:
            order = order[probabilities[order] >= sampling.min_p * probabilities.max()]
        return order


def _sorted(probabilities: Probabilities, count: int) -> Ids:
    """Returns the ids of the `count` most likely tokens in descending order; in case of a tie, the lower id first."""
    if count < len(probabilities):
        least = numpy.partition(probabilities, -count)[-count]
        ids = numpy.flatnonzero(probabilities >= least)
    else:
        ids = numpy.arange(len(probabilities))
    return ids[numpy.lexsort((ids, -probabilities[ids]))][:count]


def log_softmax(logits: Logits) -> Logits:
    """Returns the logarithms of the tokens' probabilities: log p(i) = x(i) - log(sum(exp(x))), in rows of the
    vocabulary."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    normalized: Logits = shifted - numpy.log(numpy.exp(shifted).sum(axis=-1, keepdims=True, dtype=numpy.float64))
    return normalized.astype(numpy.float32)


def rank(logprobs: Logits, token: int) -> int:
    """Returns a token's rank in the vocabulary, 1 for the most likely; in case of a tie, the lower id first."""
    likelier = logprobs > logprobs[token]
    return int(likelier.sum() + (logprobs[:token] == logprobs[token]).sum()) + 1


def named(logprobs: Logits, ids: Iterable[int]) -> TopTokens:
    """Returns these tokens with their logprobs, without duplicates."""
    return [(id, float(logprobs[id])) for id in dict.fromkeys(ids)]


def most_likely(logprobs: Logits, count: int) -> TopTokens:
    """Returns the `count` most likely tokens with their logprobs, in descending order; in case of a tie, the lower id
    first.
    """
    if not count:
        return []
    count = min(count, len(logprobs))
    least = numpy.partition(logprobs, -count)[-count]
    ids = numpy.flatnonzero(logprobs >= least)
    order = ids[numpy.lexsort((ids, -logprobs[ids]))][:count]
    return [(int(id), float(logprobs[id])) for id in order]
