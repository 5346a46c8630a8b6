"""Reasoning is ended where its budget is spent, wherever the tokens come from, and all goes on as one choice."""

from array import array
from dataclasses import replace
from typing import Any

import pytest
from support.conversation import answer, ask, completion_tokens, reasons, text
from support.engines import Sharing
from support.templates import THINKING
from support.tools import WEATHER, calls, with_tools
from support.worker_requests import generate

from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.running_choice import BudgetedChoice
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.request import GenerationRequest, JsonSchema, ThinkingBudget
from specvino.engine.segments import ReasoningDelta, Segment, Usage

THOUGHT = "Let me see. Two plus two is four."


def with_budget(request: GenerationRequest, tokens: int, message: str = "") -> GenerationRequest:
    return replace(request, thinking_budget=ThinkingBudget(tokens, message))


def thought(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments if isinstance(segment, ReasoningDelta))


def usage(segments: list[Segment]) -> Usage:
    last = segments[-1]
    assert isinstance(last, Usage)
    return last


@pytest.mark.parametrize("drafts", [{}, {"prompt_lookup": True}])
def test_reasoning_that_the_prompt_has_begun(tiny_text: ModelSource, sharing: Sharing, drafts: dict[str, Any]) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        for budget in (0, 1, 4, 9):
            segments = await answer(engine, with_budget(ask("think", max_tokens=60), budget))
            assert THOUGHT.startswith(thought(segments))
            assert text(segments)
            # Beside the budget the line break before the tag that ends it.
            assert usage(segments).reasoning_tokens == (budget + 1 if budget else 0)
        whole = await answer(engine, with_budget(ask("think", max_tokens=60), 99))
        assert (thought(whole), text(whole)) == (THOUGHT, "The answer is 4.")
        none = await answer(engine, with_budget(ask("think", max_tokens=60), 0))
        assert (thought(none), text(none)) == ("", "The answer is 4.")

    sharing(tiny_text, test, chat_template=THINKING, **drafts)


def test_the_limit_and_the_form_count_for_the_whole_choice(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        for limit in range(1, 14):
            segments = await answer(engine, with_budget(ask("think", max_tokens=limit), 4))
            assert completion_tokens(segments) <= limit
            assert reasons(segments) == {0: "length"}
        form = replace(ask("think", n=3, max_tokens=40, temperature=1, seed=3), constraint=JsonSchema({"enum": ["no"]}))
        segments = await answer(engine, with_budget(form, 4, " Well."))
        assert [text(segments, choice) for choice in range(3)] == ['"no"'] * 3
        assert thought(segments).count(" Well.") == 3
        forced = with_budget(with_tools("think", WEATHER, must_call=True, parallel_calls=False), 4)
        assert [name for name, _ in calls(await answer(engine, forced))] == ["get_weather"]

    sharing(tiny_text, test, chat_template=THINKING)


def ids(prompt: bytes) -> list[int]:
    return array("q", prompt).tolist()


def test_what_is_asked_for_the_answer() -> None:
    asked = generate(1, array("q", [1, 2]).tobytes(), 10, min_tokens=5)
    choice = BudgetedChoice(asked, [8, 9], None, [3, 4, 5])
    closed = choice.close(7, read=2)  # the third token was cut
    assert closed is not None
    assert (closed.id, ids(closed.token_ids)) == (7, [1, 2, 3, 4, 8, 9])
    assert (closed.max_new_tokens, closed.sampling.min_tokens) == (6, 1)
    choice.token_ids += [6]
    again = choice.close(8, read=5)
    assert again is not None
    assert (ids(again.token_ids), again.max_new_tokens) == ([1, 2, 3, 4, 8, 9, 6, 8, 9], 3)
    choice.token_ids += [6]
    assert choice.close(9, read=8) is None


def test_no_room_for_an_answer() -> None:
    asked = generate(1, array("q", [1]).tobytes(), 4)
    assert BudgetedChoice(asked, [8, 9], None, [3, 4]).close(2, read=2) is None
    assert BudgetedChoice(asked, [8, 9], None, [3]).close(2, read=1) is not None
