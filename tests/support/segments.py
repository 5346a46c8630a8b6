"""Any answer that an engine can give, as segments."""

from typing import Any

from hypothesis import strategies as st

from specvino.engine.segments import Finish, PromptText, Segment, Started, TextDelta, TokenLogprob, Usage

LOGPROBS = st.builds(
    TokenLogprob,
    text=st.text(max_size=3),
    bytes=st.none() | st.binary(max_size=3),
    logprob=st.floats(-9999, 0),
)


@st.composite
def answers(draw: Any, choices: st.SearchStrategy[int], *, echo: bool = False) -> tuple[int, list[Segment]]:
    """How many choices, and the segments: in any interleaving, each choice with any texts and its own finish.

    Half of them have logprobs. With `echo`, half of them begin with a prompt.
    """
    n = draw(choices)
    some = st.lists(LOGPROBS, max_size=3).map(tuple) if draw(st.booleans()) else st.just(())
    left = {choice: draw(st.lists(st.text(min_size=1, max_size=5), max_size=4)) for choice in range(n)}
    prompt_tokens = draw(st.integers(1, 100))
    segments: list[Segment] = [Started(prompt_tokens)]
    if echo and draw(st.booleans()):
        segments += [PromptText(choice, "A prompt: ", draw(some)) for choice in range(n)]
    while left:
        choice = draw(st.sampled_from(sorted(left)))
        if left[choice]:
            segments.append(TextDelta(choice, left[choice].pop(0), draw(some)))
        else:
            segments.append(Finish(choice, draw(st.sampled_from(["stop", "length"])), draw(some)))
            del left[choice]
    return n, [*segments, Usage(prompt_tokens, draw(st.integers(0, 100)))]


async def one_by_one(items: list[Any]) -> Any:
    """A list as an asynchronous iterator."""
    for item in items:
        yield item
