"""Streams and unary answers of other systems are compared in what their documents describe."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from reference_server.bench import judged, message_of
from reference_server.chat import Chat
from reference_server.generation import Asked, Output
from reference_server.http import Event
from reference_server.items import Item, Items
from reference_server.mutants.response_streams import LosesTheFirst
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.words import Token

from specvino.conformance.verdict import Verdict


class CountsMoreInStreams(Chat):
    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            usage = event["usage"]
            more = {name: usage[name] + 1 for name in ("prompt_tokens", "total_tokens")}
            yield {**event, "usage": {**usage, **more}}


class PhaseOnlyInTheBeginning(Items):
    def begun(self, item: Item) -> Item:
        return {**super().begun(item), **({"phase": "commentary"} if item["type"] == "message" else {})}


class DrawsLogprobs(Chat):
    """What is in a list is drawn; whether there is one, and its length, is steady."""

    times: int

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        return {**super().shown_logprob(token), "logprob": -random.random()}

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        repeated = logprobs and {**logprobs, "content": logprobs["content"] * self.times}
        return super().chunk_choice(output, delta, reason, repeated)


class StreamsNoLogprobs(DrawsLogprobs):
    times = 0


class StreamsEachTwice(DrawsLogprobs):
    times = 2


@pytest.mark.parametrize(
    ("part", "case", "difference"),
    [
        (LosesTheFirst, "responses/streams/plain", "output.0.content.0.text is"),
        (CountsMoreInStreams, "chat/streams/plain", "usage.prompt_tokens is"),
        (
            StreamsNoLogprobs,
            "chat/logprobs/streamed-like-unary",
            "choices.0.logprobs is only present when not streamed",
        ),
        (StreamsEachTwice, "chat/logprobs/streamed-like-unary", "choices.0.logprobs.content is"),
        (PhaseOnlyInTheBeginning, "responses/streams/plain", "output.0.phase is only present when streamed"),
    ],
)
def test_what_is_described_differs(part: type[Part], case: str, difference: str) -> None:
    result = judged(part, OpenAIResponses, by="openai", only={case})[case]
    assert result.verdict is Verdict.FAIL
    assert message_of(result).startswith(difference)
