"""Streams that nothing holds back, however they come."""

import asyncio
import math

import pytest
from reference_server.bench import BY_REQUESTS, judged, message_of
from reference_server.http import Call, Http, Stream

from specvino.conformance.verdict import Verdict


class ReadsForLong(Http):
    """A prompt takes as long as 40 requests, and an answer no time."""

    async def stream(self, call: Call, stream: Stream) -> None:
        for _ in range(40):
            await self.wait(call, math.inf)
        await super().stream(call, stream)

    async def work(self, call: Call, tokens: int) -> None:
        await asyncio.sleep(0)


class GathersALittle(Http):
    """Events are sent when there are enough for a few packets."""

    def is_due(self, ready: bytes) -> bool:
        return len(ready) > 4_000


@pytest.mark.parametrize(("parts", "pace"), [((), 0.0), ((ReadsForLong,), math.inf)])
def test_an_answer_at_once_is_not_judged(parts, pace) -> None:
    results = judged(*parts, pace=pace, only=BY_REQUESTS)
    assert {rule: results[rule].verdict for rule in BY_REQUESTS} == dict.fromkeys(BY_REQUESTS, Verdict.NOT_EXERCISED)
    assert {message_of(results[rule]).partition(":")[0] for rule in BY_REQUESTS} == {"too few for a verdict"}


def test_a_small_buffer_is_no_fault() -> None:
    results = judged(GathersALittle, pace=math.inf, only=BY_REQUESTS)
    assert {rule: message_of(results[rule]) for rule in BY_REQUESTS} == dict.fromkeys(BY_REQUESTS, "")
