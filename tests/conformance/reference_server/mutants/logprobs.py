"""How likely tokens were."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reference_server.chat import Chat
from reference_server.completions import Completions
from reference_server.generation import Asked, Output
from reference_server.words import Token

SHOWN = {"chat/logprobs/*", "completions/logprobs/*", "chat/streams/*", "completions/streams/*", "responses/*"}
"""The cases that see logprobs."""

JUDGED = {"chat/rules/logprobs-join", "completions/rules/logprobs-join"}
SHAPES = {f"{endpoint}/rules/{name}-shape" for endpoint in ("chat", "completions") for name in ("answer", "event")}


# In conversations


class OneTopLess(Chat):
    """Of three likeliest tokens and more there is one less than was asked for."""

    breaks = {"chat/logprobs/top"}

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        return super().top_logprobs(token, top - (top > 2))


class NoLogprobs(Chat):
    """logprobs is taken without effect."""

    breaks = {"chat/capabilities/logprobs"}

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        return None


class NoTopLogprobs(Chat):
    """top_logprobs is taken without effect."""

    breaks = {"chat/capabilities/top-logprobs"}

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        return []


class Probabilities(Chat):
    """A logprob is a probability."""

    breaks = {"chat/logprobs/entries", "chat/logprobs/top-entries"}

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        return {**super().shown_logprob(token), "logprob": math.exp(token.logprob or 0)}


class FirstChoiceOnly(Chat):
    """Of several choices the first one has logprobs."""

    breaks = {"chat/logprobs/entries-of-several-choices"}

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        choice = super().chat_choice(asked, output)
        return choice if output.index == 0 else {**choice, "logprobs": None}


class AlwaysLogprobs(Chat):
    """Logprobs come unasked."""

    breaks = {"chat/logprobs/not-asked", "chat/logprobs/not-wanted"}
    faults = 2

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        return super().chat_logprobs(replace(asked, body={**asked.body, "logprobs": True}), tokens)


class LastTokenTwice(Chat):
    """There is an entry more than there are tokens."""

    breaks = {"chat/logprobs/one-for-each-token", "chat/logprobs/one-for-one-token"}

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        return super().chat_logprobs(asked, [*tokens, *tokens[-1:]])


class LogprobsAtTheEnd(Chat):
    """A stream's chunks of text have no logprobs."""

    breaks = {"chat/logprobs/beside-their-text", "chat/logprobs/streamed-like-unary"}

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        return super().chunk_choice(output, delta, reason, logprobs if reason else None)


class WideBytes(Chat):
    """Bytes are those of UTF-16."""

    breaks = {"chat/logprobs/bytes-of-parts", "chat/logprobs/entries", "chat/logprobs/top-entries"}

    def token_bytes(self, token: Token) -> list[int] | None:
        return list(token.text.encode("utf-16-le"))


class LeastFirst(Chat):
    """The least likely token comes first."""

    breaks = {"chat/logprobs/top"}

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        return super().top_logprobs(token, top)[::-1]


class OtherLogprobs(Chat):
    """The chosen token has another logprob in its list."""

    breaks = {"chat/logprobs/top", "chat/logprobs/top-one"}

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        return super().top_logprobs(replace(token, logprob=(token.logprob or 0) - 0.5), top)


class OneMore(Chat):
    """There is a token more than were asked for."""

    breaks = {"chat/logprobs/top", "chat/logprobs/top-one", "chat/logprobs/top-none"}

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        return super().top_logprobs(token, top + 1)


# In text completions


class NoTextLogprobs(Completions):
    """logprobs is taken without effect."""

    breaks = {"completions/capabilities/logprobs"}

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        return None


class TextProbabilities(Completions):
    """A logprob is a probability."""

    breaks = {"completions/logprobs/lists", "completions/logprobs/none"}

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        tokens = [
            replace(token, logprob=None if token.logprob is None else math.exp(token.logprob)) for token in tokens
        ]
        return super().completion_logprobs(asked, tokens, offset)


class NoneIsNothing(Completions):
    """logprobs 0 is taken for no wish at all."""

    breaks = {"completions/logprobs/none"}

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        return super().completion_logprobs(asked, tokens, offset) if asked.body.get("logprobs") else None


class FirstTextOnly(Completions):
    """Of several texts the first one has logprobs."""

    breaks = {"completions/logprobs/lists-of-several-choices", "completions/logprobs/lists-of-several-prompts"}

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        choice = super().completion_choice(asked, output)
        return choice if output.index == 0 else {**choice, "logprobs": None}


class AlwaysTextLogprobs(Completions):
    """Logprobs come unasked."""

    breaks = {"completions/logprobs/not-asked"}

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        return super().completion_logprobs(replace(asked, body={"logprobs": 1, **asked.body}), tokens, offset)


class LastOfTextTwice(Completions):
    """There is an entry more than there are tokens."""

    breaks = {"completions/logprobs/one-for-each-token"}

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        return super().completion_logprobs(asked, [*tokens, *tokens[-1:]], offset)


class OffsetsOfTokens(Completions):
    """text_offset counts tokens."""

    breaks = {"completions/logprobs/offsets", "completions/logprobs/echo-offsets"}

    def text_offsets(self, tokens: Sequence[Token], offset: int) -> list[int]:
        return [offset + number for number in range(len(tokens))]


class OffsetsOfChunks(Completions):
    """text_offset begins anew with each chunk of a stream."""

    breaks = {"completions/logprobs/streamed-like-unary"}

    def text_offsets(self, tokens: Sequence[Token], offset: int) -> list[int]:
        return super().text_offsets(tokens, 0)


class NoLogprobsOfEcho(Completions):
    """The lists lack the prompt's tokens."""

    breaks = {"completions/capabilities/echo-logprobs"}
    faults = 2

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        return super().completion_logprobs(asked, tokens[len(self.echoed(asked)) :] or tokens, offset)


class EchoOfFirst(Completions):
    """Of the prompt's tokens the lists have every other one."""

    breaks = {"completions/logprobs/echo", "completions/logprobs/echo-streamed"}
    faults = 2

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        shown = tokens[::2] if asked.body.get("echo") else tokens
        return super().completion_logprobs(asked, shown, offset)


class NothingOfEcho(Completions):
    """The prompt's tokens have null for logprobs."""

    breaks = {"completions/logprobs/echo-lists", "completions/logprobs/echo-alone"}

    def echoed(self, asked: Asked) -> list[Token]:
        return [replace(token, logprob=None) for token in super().echoed(asked)]


class EchoNeedsAnswer(Completions):
    """Without an answer there is no echo."""

    breaks = {"completions/capabilities/echo-alone"}

    def completion_text(self, asked: Asked, output: Output) -> str:
        return super().completion_text(asked, output) if output.made else ""
