"""Answers that end at another place than they should."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output
from reference_server.http import Call
from reference_server.requests import Requests
from reference_server.words import Token


class NeverStops(Generation):
    """stop has no effect."""

    breaks = {
        "chat/stop/included",
        "chat/stop/listed",
        "chat/stop/streamed",
        "chat/stop/string",
        "completions/rules/stop-absent",
        "completions/settings/stop",
        "completions/settings/stops",
    }

    def stops(self, body: Mapping[str, Any]) -> list[str]:
        return []


class ForgetsStops(Requests):
    """Of many stop texts the last ones are left out."""

    breaks = {"chat/stop/too-many"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if isinstance(call.body, dict) and isinstance(stop := call.body.get("stop"), list):
            call.body["stop"] = stop[:4]
        return super().accepted(call, component)


class StopsAtTokens(Generation):
    """A stop text is found only within a token."""

    breaks = {"chat/stop/across-tokens", "chat/stop/streamed-across-tokens"}

    def stopped(self, tokens: list[Token], body: Mapping[str, Any]) -> tuple[list[Token], bool]:
        for made, token in enumerate(tokens, 1):
            if any(stop in token.text for stop in self.stops(body)):
                return super().stopped(tokens[:made], body)
        return tokens, False


class DropsTokensWithStops(Generation):
    """Where a stop text begins within a token, the whole token is dropped."""

    breaks = {"chat/stop/within-a-token"}

    def cut(self, tokens: Sequence[Token], kept: int) -> Iterator[Token]:
        at = 0
        for token in tokens:
            at += len(token.text)
            yield token if at <= kept else Token(token.id, "", token.logprob)


class StreamsShowStops(Generation):
    """A stream shows the stop text."""

    breaks = {"chat/stop/streamed", "chat/stop/streamed-across-tokens", "chat/streams/stop"}
    faults = 2

    def kept(self, start: int, stop: str, body: Mapping[str, Any]) -> int:
        return start + len(stop) if body.get("stream") else super().kept(start, stop, body)


class NeverShowsStops(Generation):
    """A stop text is never shown, though the request wants it."""

    breaks = {"chat/stop/included"}

    def kept(self, start: int, stop: str, body: Mapping[str, Any]) -> int:
        return start


class HoldsBackForStops(Generation):
    """The end of a text with which a stop text may begin is never given."""

    breaks = {"chat/stop/half-met", "chat/stop/streamed-half-met"}

    def output(self, asked: Asked, choice: int) -> Output:
        output = super().output(asked, choice)
        text = output.joined("text")
        begun = [n for stop in self.stops(asked.body) for n in range(1, len(stop)) if text.endswith(stop[:n])]
        pieces = output.pieces
        for _ in range(max(begun, default=0)):
            *first, last = pieces
            pieces = (*first, replace(last, text=last.text[:-1])) if len(last.text) > 1 else tuple(first)
        return replace(output, pieces=pieces)


class LosesItsEnd(Generation):
    """Where there is a stop text, the end of an answer is never given."""

    breaks = {"chat/stop/unmet", "chat/unicode/stop"}
    faults = 2

    def stopped(self, tokens: list[Token], body: Mapping[str, Any]) -> tuple[list[Token], bool]:
        shown, stopped = super().stopped(tokens, body)
        return (shown if stopped or not self.stops(body) else shown[:4]), stopped


class OldLimitOnly(Chat):
    """max_completion_tokens has no effect."""

    breaks = {"chat/limits/max-completion-tokens", "chat/limits/newer-name-wins"}

    def chat_limit(self, body: Mapping[str, Any]) -> int | None:
        limit: int | None = body.get("max_tokens")
        return limit


class NewLimitOnly(Chat):
    """max_tokens has no effect."""

    breaks = {"chat/limits/max-tokens", "chat/limits/one-token"}

    def chat_limit(self, body: Mapping[str, Any]) -> int | None:
        limit: int | None = body.get("max_completion_tokens")
        return limit


class SmallWindow(Chat):
    """Of a long prompt the end is cut off in silence."""

    breaks = {"chat/limits/long-prompt"}

    def chat_asked(self, body: Mapping[str, Any]) -> Asked:
        asked = super().chat_asked(body)
        return replace(asked, prompt=asked.prompt[:250])
