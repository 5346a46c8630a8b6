"""The check of streams that something holds back: a server, a proxy, or the compression between them."""

import asyncio
import time
from bisect import bisect
from collections.abc import Awaitable, Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from specvino.conformance.case_checks.connections import with_ignore_eos
from specvino.conformance.endpoints import token_limits
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.session.session import Session, require_answer
from specvino.conformance.streams.sse import Decoder
from specvino.conformance.verdict import Failed, NotExercised

# The fewest seconds between the end of a control and the next one. It is also no shorter than the control, so that a
# server isn't busy with controls alone.
PAUSE = 0.01

# The largest number of controls during a stream, and of those that are kept. Of KEPT controls, every other one is
# forgotten, and from then on half as many are sent: their number grows with the logarithm of a stream's duration.
MOST = 400
KEPT = 100

# The fewest events of a stream that is judged.
FEWEST = 32

# The fewest controls in the middle half of a stream that show that it comes bit by bit.
LEAST = 4

# A stream is held back if its first quarter takes as many times more controls than a short stream, and as many times
# more than its middle half.
TIMES_SHORT = 4
TIMES_MIDDLE = 8

# Rounds in which streams must be held back for a failure.
ROUNDS = 3


class Progress(NamedTuple):
    """The controls that were answered up to a quarter of a stream's events, from there to three quarters of them, and
    in all. A control counts for those that are left out before it, too."""

    quarter: int
    middle: int
    whole: int


async def stream_sent_as_generated(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], short: int
) -> None:
    """The events of a long answer don't all come at its end. Meanwhile the server is asked for its models, again and
    again, and the answers to these controls that come before an event are counted, instead of seconds: if client,
    network or server are busy, the controls wait, too.
    A stream whose answer isn't limited to `short` tokens is compared with one whose is, so that what takes long before
    any first token isn't taken for a held stream."""
    options = {"stream_options": {"include_usage": True}} if to in ("chat", "completions") else {}
    long = with_ignore_eos(session, to, {**body, "stream": True, **options})
    shorts: list[int] = []
    streams: list[tuple[Exchange, Progress]] = []
    for _ in range(ROUNDS):
        _, progress = await _progress(session, to, {**long, token_limits(to)[0]: short})
        shorts.append(progress.whole)
        stream, progress = await _progress(session, to, long)
        streams.append((stream, progress))
        if len(stream.events) < FEWEST:
            raise NotExercised(f"the stream has {len(stream.events)} events, too few for a verdict")
        if any(has_reasoning(stream, output) and not output.reasoning for output in outputs(stream)):
            raise NotExercised("the model's reasoning isn't shown")
        is_held = progress.quarter >= TIMES_MIDDLE * progress.middle
        if progress.middle >= LEAST and not is_held:
            return
        if not is_held or progress.quarter < TIMES_SHORT * (max(shorts) + 1):
            during = (
                f"{progress.whole} other requests were answered during the stream, {max(shorts)} during a short one"
            )
            raise NotExercised(f"too few for a verdict: {during}")
    stream, progress = streams[-1]
    raise Failed(
        f"the {len(stream.events)} events are held back: {progress.quarter} lists of models were answered before a "
        f"quarter of them came, and {progress.middle} from there to three quarters, {shorts[-1]} during a short stream",
        *(stream for stream, _ in streams),
    )


async def _progress(session: Session, endpoint: str, body: Mapping[str, Any]) -> tuple[Exchange, Progress]:
    """Returns a stream and how it came."""

    async def sent() -> tuple[Exchange, float]:
        stream = await session.send(endpoint, body)
        return stream, time.monotonic() - stream.seconds

    running = asyncio.create_task(sent())
    try:
        async with session.controls() as control:
            answered, weight = await _answered(control, running)
        stream, begun = await running
    finally:
        running.cancel()  # if the run is interrupted, or without a verdict
    require_answer(stream)
    stream.require_stream()
    came = _arrivals(stream)
    if not came:
        raise Failed("the stream has no events", stream)
    quarter, rest = (bisect(answered, begun + came[len(came) * part // 4]) for part in (1, 3))
    return stream, Progress(weight * quarter, weight * (rest - quarter), weight * len(answered))


async def _answered(
    control: Callable[[], Awaitable[int | None]], running: asyncio.Task[Any]
) -> tuple[list[float], int]:
    """Returns the monotonic times at which controls were answered while a task was running, and for how many controls
    each of them counts. Raises NotExercised if one fails, or if they are too many."""
    answered: list[float] = []
    weight, interval = 1, 0.0
    for _ in range(MOST):
        if running.done():
            return answered, weight
        begun = time.monotonic()
        if (status := await control()) != 200:
            raise NotExercised(f"the list of models, asked for during the stream, is {status or 'no answer'}, not 200")
        answered.append(time.monotonic())
        took = answered[-1] - begun
        if len(answered) == KEPT:
            answered = answered[1::2]
            weight, interval = 2 * weight, (answered[-1] - answered[0]) / (len(answered) - 1)
        await asyncio.wait([running], timeout=max(PAUSE, took, interval - took))
    raise NotExercised(f"the stream takes longer than {MOST} other requests")


def _arrivals(stream: Exchange) -> list[float]:
    """Returns the time at which each event was complete, in seconds since the request."""
    decoder = Decoder()
    times: list[float] = []
    for seconds, (begin, end) in zip(stream.times, pairwise((0, *stream.received)), strict=True):
        events = len(list(decoder.feed(stream.content[begin:end])))
        times += [seconds] * events
    return times
