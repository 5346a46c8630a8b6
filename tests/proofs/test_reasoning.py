"""Whether the model thinks, and what is shown of it."""

from typing import Any

import pytest

from proofs import proves
from proofs.asking import Ask


def silent(path: str) -> dict[str, Any]:
    """What makes the model answer without thoughts, by the field that says so."""
    if path == "chat_template_kwargs":
        return {path: {"enable_thinking": False}}
    return {path: "none"} if path == "reasoning_effort" else {"reasoning": {"effort": "none"}}


@proves("chat.chat_template_kwargs", "chat.reasoning_effort")
@proves("responses.chat_template_kwargs", "responses.reasoning", "responses.reasoning.effort")
def test_it_answers_without_thinking(ask: Ask) -> None:
    answer = ask("think", **silent(ask.path))
    assert (answer.thoughts, answer.text) == ("", "The answer is 4.")


@proves("responses.reasoning.summary", "responses.reasoning.generate_summary")
@pytest.mark.parametrize("amount", ["auto", "detailed"])
def test_thoughts_have_a_summary(ask: Ask, amount: str) -> None:
    answer = ask("think", reasoning={ask.path.removeprefix("reasoning."): amount})
    (thoughts,) = answer.items("reasoning")
    assert [part["text"] for part in thoughts["summary"]] == ["Let me see. Two plus two is four."]
