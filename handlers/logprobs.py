"""Logprobs in the formats of the endpoints: a list in chat and responses, parallel lists in completions."""

from collections.abc import Iterable, Iterator
from itertools import islice

from specvino.engine.segments import PromptLogprobs, PromptToken, TokenLogprob
from specvino.generated import wire

# For the first token of a prompt, which has no context. Only completions return prompts.
_NONE = 0.0


def chat_logprobs(tokens: Iterable[TokenLogprob], top: int) -> wire.ChatLogprobs | None:
    """Returns the tokens' logprobs, None if there are none, with the `top` most likely tokens at each position: only
    the sampled one if the engine returns no others.
    """
    content = [_token(token, top) for token in tokens]
    return {"content": content, "refusal": None} if content else None


def output_logprobs(tokens: Iterable[TokenLogprob], top: int) -> list[wire.OutputLogprob]:
    """Returns the logprobs of a response's tokens; `top` as in `chat_logprobs`."""
    return [_output(token, top) for token in tokens]


def completion_logprobs(tokens: Iterable[TokenLogprob], top: int, offset: int) -> wire.CompletionLogprobs | None:
    """Returns parallel lists, None if there are no tokens; `offset` is the offset of the first token, in characters.

    The most likely tokens always include the sampled one, so there may be one more than `top`.
    """
    tokens = list(tokens)
    if not tokens:
        return None
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token.text)
    return {
        "tokens": [token.text for token in tokens],
        "token_logprobs": [token.logprob for token in tokens],
        "top_logprobs": [_by_text(token) for token in tokens] if top else None,
        "text_offset": offsets,
    }


Positions = list[dict[str, wire.PromptTokenLogprob] | None]


class PendingPromptLogprobs:
    """Logprobs of prompts for the next chunk of each choice: at each position tokens by id, the prompt's own first. The
    choices of a prompt share them.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Positions] = {}
        self._last: PromptLogprobs | None = None
        self._positions: Positions = []

    def add(self, segment: PromptLogprobs) -> None:
        if self._last is None or self._last.positions is not segment.positions:
            self._last = segment
            self._positions = [None if tokens is None else _of_prompt(tokens) for tokens in segment.positions]
        self.waiting[segment.choice] = self._positions

    def give(self, choice: wire.ChatChunkChoice | wire.CompletionChunkChoice) -> None:
        """Adds the pending logprobs of the prompt, if there are any, to a chunk's choice."""
        if choice["index"] in self.waiting:
            choice["prompt_logprobs"] = self.waiting.pop(choice["index"])


def _of_prompt(tokens: tuple[PromptToken, ...]) -> dict[str, wire.PromptTokenLogprob]:
    return {
        str(token.id): {"logprob": token.logprob, "rank": token.rank, "decoded_token": token.text} for token in tokens
    }


def _by_text(token: TokenLogprob) -> dict[str, float] | None:
    if token.logprob is None:
        return None
    by_text: dict[str, float] = {}
    for text, _, logprob in most_likely(token):
        by_text.setdefault(text, logprob)  # parts of characters have the same text: the most likely one is shown
    return by_text | {token.text: token.logprob}


def most_likely(token: TokenLogprob) -> Iterator[tuple[str, bytes | None, float]]:
    """Yields text, bytes and logprob of the most likely tokens at a position; the sampled one has the answer's text."""
    if token.logprob is not None and not token.top:
        yield token.text, token.bytes, token.logprob
    for likely in token.top:
        text, bytes = (token.text, token.bytes) if likely.chosen else (likely.text, likely.bytes)
        yield text, bytes, likely.logprob


def _token(token: TokenLogprob, top: int) -> wire.TokenLogprob:
    return {
        "token": token.text,
        "logprob": token.logprob or _NONE,
        "bytes": _bytes(token.bytes),
        "top_logprobs": [
            {"token": text, "logprob": logprob, "bytes": _bytes(bytes)}
            for text, bytes, logprob in islice(most_likely(token), top)
        ],
    }


def _output(token: TokenLogprob, top: int) -> wire.OutputLogprob:
    return {
        "token": token.text,
        "logprob": token.logprob or _NONE,
        "bytes": _own_bytes(token.text, token.bytes),
        "top_logprobs": [
            {"token": text, "logprob": logprob, "bytes": _own_bytes(text, bytes)}
            for text, bytes, logprob in islice(most_likely(token), top)
        ],
    }


def _bytes(bytes: bytes | None) -> list[int] | None:
    return None if bytes is None else list(bytes)


def _own_bytes(text: str, bytes: bytes | None) -> list[int]:
    return list(text.encode() if bytes is None else bytes)
