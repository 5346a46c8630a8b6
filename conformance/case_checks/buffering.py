"""The check of streams that something holds back: a server, a proxy, or the compression between them."""

from bisect import bisect
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from specvino.conformance.case_checks.controls import beside
from specvino.conformance.endpoints import token_limits
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.session.session import Session, require_answer, with_ignore_eos
from specvino.conformance.streams.sse import Decoder
from specvino.conformance.verdict import Failed, NotExercised

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
    stream, controls = await beside(session, session.send(endpoint, body))
    require_answer(stream)
    stream.require_stream()
    came = arrivals(stream)
    quarter, rest = (bisect(controls.answered, came[len(came) * part // 4]) for part in (1, 3))
    return stream, Progress(controls.weight * quarter, controls.weight * (rest - quarter), controls.count)


def arrivals(stream: Exchange) -> list[float]:
    """Returns the time at which each event was complete, in seconds since the request. Raises Failed without events."""
    decoder = Decoder()
    times: list[float] = []
    for seconds, (begin, end) in zip(stream.times, pairwise((0, *stream.received)), strict=True):
        events = len(list(decoder.feed(stream.content[begin:end])))
        times += [seconds] * events
    if not times:
        raise Failed("the stream has no events", stream)
    return times
