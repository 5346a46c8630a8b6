"""Logprobs as the endpoints show them: chat and responses as a list, completions as parallel lists."""

from collections.abc import Iterable

from specvino.engine.segments import TokenLogprob
from specvino.generated import wire

# What nothing foretold has no logprob: the first token of a prompt. Only completions show prompts.
_NONE = 0.0


def chat_logprobs(tokens: Iterable[TokenLogprob], top: bool) -> wire.ChatLogprobs | None:
    """Returns the tokens' logprobs, None if there are none.

    `top` shows the chosen tokens as the likeliest ones, too: the engine knows no others.
    """
    content = [_token(token, top) for token in tokens]
    return {"content": content, "refusal": None} if content else None


def output_logprobs(tokens: Iterable[TokenLogprob], top: bool) -> list[wire.OutputLogprob]:
    """Returns the logprobs of a response's tokens; `top` as in `chat_logprobs`."""
    return [_output(token, top) for token in tokens]


def completion_logprobs(tokens: Iterable[TokenLogprob], top: bool, offset: int) -> wire.CompletionLogprobs | None:
    """Returns parallel lists, None if there are no tokens; `offset` is where the first begins, in characters."""
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
        "top_logprobs": [_alone(token) for token in tokens] if top else None,
        "text_offset": offsets,
    }


def _alone(token: TokenLogprob) -> dict[str, float] | None:
    return None if token.logprob is None else {token.text: token.logprob}


def _token(token: TokenLogprob, top: bool) -> wire.TokenLogprob:
    bytes = None if token.bytes is None else list(token.bytes)
    shown: wire.TopLogprob = {"token": token.text, "logprob": token.logprob or _NONE, "bytes": bytes}
    return {
        "token": token.text,
        "logprob": token.logprob or _NONE,
        "bytes": bytes,
        "top_logprobs": [shown] if top else [],
    }


def _output(token: TokenLogprob, top: bool) -> wire.OutputLogprob:
    bytes = list(token.text.encode() if token.bytes is None else token.bytes)
    shown: wire.OutputTopLogprob = {"token": token.text, "logprob": token.logprob or _NONE, "bytes": bytes}
    return {
        "token": token.text,
        "logprob": token.logprob or _NONE,
        "bytes": bytes,
        "top_logprobs": [shown] if top else [],
    }
