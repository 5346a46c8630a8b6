"""How a conversation becomes a prompt: the chat template, how it begins the answer, and what stands in its place."""

from typing import Any

import pytest

from proofs import proves
from proofs.asking import ANSWER, TURN, Ask

HELLO, PARIS = "Hello! How can I help you today?", "The capital of France is Paris."


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@proves("chat.chat_template", on="trusting")
def test_a_template_of_the_request_s_own(ask: Ask) -> None:
    # Jinja drops a template's last line end.
    template = TURN.format(role="user", content="{{ messages[0].name }}") + ANSWER + "\n"
    messages = [{"role": "user", "content": "hello", "name": "capital"}]
    assert ask(messages=messages, chat_template=template).text == PARIS


@proves("chat.chat_template")
def test_a_template_that_nobody_trusts(ask: Ask) -> None:
    assert ask.refusal("hello", chat_template="x") == ("unsupported_parameter", "chat_template")


@proves("chat.chat_template", on="trusting")
def test_a_template_that_is_none(ask: Ask) -> None:
    assert ask.refusal("hello", chat_template="{% if %}") == ("chat_template_error", "messages")


@proves("chat.add_generation_prompt")
def test_the_answer_s_turn_isn_t_begun(ask: Ask) -> None:
    whole = ask("hello").prompt_tokens
    assert ask("hello", add_generation_prompt=False, max_tokens=1).prompt_tokens < whole
    assert ask("hello", chat_template_kwargs={"add_generation_prompt": False}, add_generation_prompt=True).text == HELLO


@proves("chat.continue_final_message")
@pytest.mark.parametrize("begun", [{}, {"add_generation_prompt": False}])
def test_the_answer_goes_on_with_the_last_message(ask: Ask, begun: dict[str, bool]) -> None:
    messages = [user("capital"), assistant("The capital of France")]
    assert ask(messages=messages, continue_final_message=True, **begun).text == " is Paris."


@proves("chat.continue_final_message")
def test_a_turn_isn_t_begun_and_left_open_at_once(ask: Ask) -> None:
    refusal = ask.refusal("hello", continue_final_message=True, add_generation_prompt=True)
    assert refusal == ("invalid_value", "continue_final_message")


@proves("chat.echo")
def test_the_answer_begins_with_what_it_goes_on_with(ask: Ask) -> None:
    begun = [{"type": "text", "text": "The capital of France"}]
    messages = [user("capital"), {"role": "assistant", "content": begun}]
    assert ask(messages=messages, continue_final_message=True, echo=True, n=2).texts == [PARIS, PARIS]


@proves("chat.echo")
def test_another_author_isn_t_repeated(ask: Ask) -> None:
    assert ask("hello", echo=True).text == HELLO
    assert ask(messages=[user("hello"), assistant("Yes")], echo=True).text.startswith("Yes")


@proves("chat.disable_chat_template")
def test_the_first_message_is_the_prompt(ask: Ask) -> None:
    written = TURN.format(role="user", content="capital") + ANSWER
    assert ask(written, disable_chat_template=True).text == PARIS
    assert (
        ask(written, disable_chat_template=True, return_token_ids=True).body["prompt_token_ids"]
        == (ask("capital", return_token_ids=True).body["prompt_token_ids"])
    )


@proves("chat.add_special_tokens", "completions.add_special_tokens", on="telling")
def test_the_tokens_around_a_text(ask: Ask) -> None:
    def length(special: bool | None) -> Any:
        return ask("hello", add_special_tokens=special, max_tokens=1).prompt_tokens

    assert length(True) == length(False) + 1
    assert length(None) == length(ask.endpoint == "completions")
