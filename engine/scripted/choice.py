"""One choice of the scripted engine, and the logprobs of its tokens."""

import math
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle

from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output.choice_text import ChoiceText
from specvino.engine.output.detokenizer import ByteTableDetokenizer
from specvino.engine.output_parsers import OutputParser
from specvino.engine.request import (
    Conversation,
    GenerationRequest,
    Sampling,
)
from specvino.engine.scripted.mock_tokenizer import VOCABULARY_SIZE, word_id, word_of, words
from specvino.engine.scripted.prompts import prompt_ids, to_be_answered
from specvino.engine.scripted.script import Script
from specvino.engine.segments import (
    Finish,
    FinishReason,
    PromptLogprobs,
    PromptText,
    PromptToken,
    Segment,
    TokenIds,
    TokenLogprob,
    TopToken,
)

_LEAST = -9999.0

# The bias that leaves only its token, by OpenAI's document.
_ONLY = 100

# How likely each other word that is left is to be drawn, where the next one of the text is 1.
_OTHERS = 0.9


class Choice:
    """A choice that is being generated, one token per step; `position` is its index among the choices of its prompt."""

    def __init__(
        self,
        index: int,
        position: int,
        answer: Sequence[bytes],
        request: GenerationRequest,
        script: Script,
        limit: int,
        parser: OutputParser | None,
    ) -> None:
        sampling = request.sampling
        tokens = list(answer)
        if sampling.best_of > 1:  # the best text is the answer itself; each further one begins a token later
            tokens = tokens[position:] + tokens[:position]
        elif not (request.constraint or script.think or script.calls or _calling(answer)):
            if only := [id for id, bias in sampling.logit_bias if bias >= _ONLY][:1]:
                tokens, sampling = [word_of(id).encode() for id in only], replace(sampling, ignore_eos=True)
            elif sampling.temperature > 0:
                _draw(tokens, sampling, position)
        # The end of the turn follows the last token, unless it is ignored or too early: then the text starts again.
        if sampling.ignore_eos or sampling.min_tokens:
            tokens = tokens or [b" "]
        stops = frozenset(index for index, token in enumerate(tokens) if word_id(token) in sampling.stop_token_ids)
        sampling = replace(sampling, stop_token_ids=stops)
        tokens = tokens if sampling.ignore_eos else [*tokens, b""]
        self._source = cycle(range(len(tokens)))
        self._end = -1 if sampling.ignore_eos else len(tokens) - 1
        self._ids = [word_id(token) for token in tokens] if request.token_ids else []
        self._early = sampling.min_tokens
        self._tokens = tokens
        self._logprobs = [_logprob(token) for token in tokens]
        self._most_likely = [_shown(token, request) for token in tokens]
        text = ChoiceText(ByteTableDetokenizer(tokens), sampling, logprobs=request.logprobs)
        self.output = ChoiceOutput(
            index, text, parser, must_call=request.must_call, parallel_calls=request.parallel_calls
        )
        self._left = limit
        self.script = script
        self.finished = False

    def step(self) -> Iterator[Segment]:
        """Yields the segments of the next token."""
        tokens: list[int] = []
        reason: FinishReason | None = "length"
        if self._left:
            self._left -= 1
            tokens = [next(self._source)]
            if tokens == [self._end] and self.output.tokens < self._early:
                tokens = [next(self._source)]
            reason = "stop" if tokens == [self._end] else None if self._left else "length"
        if self._ids and tokens:
            yield TokenIds(self.output.index, tuple(self._ids[token] for token in tokens))
        logprobs = [self._logprobs[token] for token in tokens]
        for segment in self.output.push(tokens, logprobs, reason, [self._most_likely[token] for token in tokens]):
            if isinstance(segment, Finish):
                self.finished = True
                if isinstance(segment.stopped_by, int):
                    segment = replace(segment, stopped_by=word_id(self._tokens[segment.stopped_by]))
            yield segment


def _draw(tokens: list[bytes], sampling: Sampling, position: int) -> None:
    """Draws the order of an answer's tokens: the next one of the text is likelier than each other one that is left."""
    draw = random.Random(None if sampling.seed is None else sampling.seed + position)
    for index in range(len(tokens) - 1):
        candidates = _candidates(len(tokens) - index, sampling)
        drawn = draw.random() * (1 + _OTHERS * (candidates - 1))
        chosen = index + (0 if drawn < 1 else min(1 + int((drawn - 1) / _OTHERS), candidates - 1))
        tokens[index], tokens[chosen] = tokens[chosen], tokens[index]


def _candidates(left: int, sampling: Sampling) -> int:
    """Returns how many of the tokens that are left may be drawn, the next one of the text first."""
    if sampling.min_p > _OTHERS:
        return 1
    needed = sampling.top_p * (1 + _OTHERS * (left - 1))
    most = left if sampling.top_k < 1 else min(left, sampling.top_k)
    return max(1, min(most, 1 + math.ceil((needed - 1) / _OTHERS)))


def split_tokens(text: str, token_bytes: int) -> list[bytes]:
    """Returns the text's tokens: words, or pieces of `token_bytes` bytes if that isn't 0."""
    if token_bytes == 0:
        return [word.encode() for word in words(text)]
    data = text.encode()
    return [data[start : start + token_bytes] for start in range(0, len(data), token_bytes)]


def _calling(answer: Sequence[bytes]) -> bool:
    return b"<tool_call>" in b"".join(answer)


def _logprob(token: bytes) -> float:
    """Returns a token's logprob, which depends on the token only; that of the end of the turn is 0."""
    return -(zlib.crc32(token) % 1024) / 64


def _most_likely(token: bytes, count: int) -> tuple[TopToken, ...]:
    """Returns the token and, with decreasing logprobs, fictitious tokens that are named by their ranks."""
    chosen = TopToken(token.decode(errors="replace"), token, _logprob(token), chosen=True)
    left = 1 - math.exp(chosen.logprob)
    likely = min(chosen.logprob, math.log(left) if left else _LEAST)
    # Their total probability is less than the rest: each is at most a third as likely as the previous one.
    others = (TopToken(f" #{rank}", f" #{rank}".encode(), max(likely - rank, _LEAST)) for rank in range(2, count + 1))
    return (chosen, *others) if count else ()


def _shown(token: bytes, request: GenerationRequest) -> tuple[TopToken, ...]:
    if not request.logprob_token_ids:
        return _most_likely(token, request.top_logprobs)
    chosen = TopToken(token.decode(errors="replace"), token, _logprob(token), chosen=True)
    others = (word_of(id).encode() for id in request.logprob_token_ids if id != word_id(token))
    return (chosen, *(TopToken(word.decode(), word, _logprob(word)) for word in others))


def prompt_logprobs(choice: int, request: GenerationRequest, count: int) -> PromptLogprobs:
    """Returns the logprobs of a choice's prompt, with the `count` most likely tokens at each position."""
    positions: list[tuple[PromptToken, ...]] = []
    for id in prompt_ids(request.prompts[choice // request.n]):
        word = word_of(id)
        most_likely = enumerate(_most_likely(word.encode(), count), 1)
        ranked = [
            PromptToken((id + rank - 1) % VOCABULARY_SIZE, top.text, top.logprob, rank) for rank, top in most_likely
        ]
        positions.append(tuple(ranked) or (PromptToken(id, word, _logprob(word.encode()), 1),))
    return PromptLogprobs(choice, (None, *positions[1:]))


def echo(choice: int, request: GenerationRequest) -> PromptText:
    """Returns the echoed prompt of a choice."""
    prompt = request.prompts[choice // request.n]
    text = "" if isinstance(prompt, Conversation) else to_be_answered(prompt)
    if not request.logprobs:
        return PromptText(choice, text)
    sampling = request.sampling
    if sampling.max_tokens != 0 and (request.constraint or request.must_call or sampling.best_of > 1):
        # Like the real engine, whose pipeline doesn't score prompts.
        return PromptText(choice, text, tuple(TokenLogprob(word, word.encode(), None) for word in words(text)))
    tokens = [
        TokenLogprob(word, word.encode(), _logprob(word.encode()), _most_likely(word.encode(), request.top_logprobs))
        for word in words(text)
    ]
    first = [TokenLogprob(token.text, token.bytes, None) for token in tokens[:1]]
    return PromptText(choice, text, (*first, *tokens[1:]))
