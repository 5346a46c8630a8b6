"""Any answer that an engine can give, as segments."""

from typing import Any

from hypothesis import strategies as st

from specvino.engine.segments import (
    Finish,
    PromptText,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)

LOGPROBS = st.builds(
    TokenLogprob,
    text=st.text(max_size=3),
    bytes=st.none() | st.binary(max_size=3),
    logprob=st.floats(-9999, 0),
)


PIECES = st.text(min_size=1, max_size=5)
TEXTS = st.lists(PIECES, max_size=4)


@st.composite
def answers(
    draw: Any, choices: st.SearchStrategy[int], *, echo: bool = False, calls: bool = False
) -> tuple[int, list[Segment]]:
    """How many choices, and the segments: in any interleaving, each choice with any texts and its own finish.

    Half of them have logprobs. With `echo`, half of them begin with a prompt. With `calls` they call tools and think.
    """
    n = draw(choices)
    some = st.lists(LOGPROBS, max_size=3).map(tuple) if draw(st.booleans()) else st.just(())
    left = {choice: draw(_parts(choice, some, calls)) for choice in range(n)}
    prompt_tokens = draw(st.integers(1, 100))
    segments: list[Segment] = [Started(prompt_tokens)]
    if echo and draw(st.booleans()):
        segments += [PromptText(choice, "A prompt: ", draw(some)) for choice in range(n)]
    while left:
        choice = draw(st.sampled_from(sorted(left)))
        if left[choice]:
            segments.append(left[choice].pop(0))
        else:
            reasons = ["stop", "length", "tool_calls"] if calls else ["stop", "length"]
            segments.append(Finish(choice, draw(st.sampled_from(reasons)), draw(some)))
            del left[choice]
    return n, [*segments, Usage(prompt_tokens, draw(st.integers(0, 100)), draw(st.integers(0, 100)) if calls else 0)]


@st.composite
def _parts(draw: Any, choice: int, some: st.SearchStrategy[Any], calls: bool) -> list[Segment]:
    """What a choice consists of."""
    segments: list[Segment] = []
    index = 0
    for kind in draw(st.lists(st.sampled_from(["text", "thoughts", "call"]), max_size=4)) if calls else ["text"]:
        pieces = draw(TEXTS)
        match kind:
            case "text":
                segments += [TextDelta(choice, piece, draw(some)) for piece in pieces]
            case "thoughts":
                segments += [ReasoningDelta(choice, piece, draw(some)) for piece in pieces]
            case _:
                segments.append(ToolCallStart(choice, index, draw(PIECES), draw(some)))
                segments += [ToolCallArguments(choice, index, piece, draw(some)) for piece in pieces]
                segments.append(ToolCallEnd(choice, index, draw(st.booleans())))
                index += 1
    return segments


async def one_by_one(items: list[Any]) -> Any:
    """A list as an asynchronous iterator."""
    for item in items:
        yield item
