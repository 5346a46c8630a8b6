"""Who is asked, and what."""

from typing import Any

import pytest

from proofs import everywhere, proves
from proofs.asking import Ask

HELLO, PARIS = "Hello! How can I help you today?", "The capital of France is Paris."


@proves(*everywhere("model"))
def test_another_model_is_not_there(ask: Ask) -> None:
    assert ask.refusal("hello", model="another") == ("model_not_found", "model")
    assert ask("hello").text == HELLO


@proves("chat.messages", "completions.prompt", "responses.input")
def test_another_question_has_another_answer(ask: Ask) -> None:
    assert [ask("hello").text, ask("capital").text] == [HELLO, PARIS]


@proves("completions.prompt")
@pytest.mark.parametrize("prompt", [["1, 2, ", "The cap"], [[71, 68], [64]]])
def test_several_prompts_have_a_choice_each(ask: Ask, prompt: list[Any]) -> None:
    together = ask(prompt=prompt, max_tokens=5).texts
    assert together == [ask(prompt=part, max_tokens=5).text for part in prompt]
