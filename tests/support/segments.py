"""Any answer that an engine can give, as segments."""

from typing import Any

from hypothesis import strategies as st

from specvino.engine.segments import Finish, Segment, Started, TextDelta, Usage


@st.composite
def answers(draw: Any, choices: st.SearchStrategy[int]) -> tuple[int, list[Segment]]:
    """How many choices, and the segments: in any interleaving, each choice with any texts and its own finish."""
    n = draw(choices)
    left = {choice: draw(st.lists(st.text(min_size=1, max_size=5), max_size=4)) for choice in range(n)}
    prompt_tokens = draw(st.integers(1, 100))
    segments: list[Segment] = [Started(prompt_tokens)]
    while left:
        choice = draw(st.sampled_from(sorted(left)))
        if left[choice]:
            segments.append(TextDelta(choice, left[choice].pop(0)))
        else:
            segments.append(Finish(choice, draw(st.sampled_from(["stop", "length"]))))
            del left[choice]
    return n, [*segments, Usage(prompt_tokens, draw(st.integers(0, 100)))]


async def one_by_one(items: list[Any]) -> Any:
    """A list as an asynchronous iterator."""
    for item in items:
        yield item
