"""How much the model thinks, and where its thoughts are shown."""

from proofs import proves
from proofs.asking import Answer, Ask

THOUGHTS = "Let me see. Two plus two is four."


def thoughts(answer: Answer) -> str | None:
    if "output" in answer.body:
        return "".join(part["text"] for item in answer.items("reasoning") for part in item["content"]) or None
    reasoning: str | None = answer.choices[0]["message"].get("reasoning_content")
    return reasoning


@proves("chat.chat_template_kwargs", "responses.chat_template_kwargs")
def test_the_template_is_told_what_the_request_says(ask: Ask) -> None:
    assert thoughts(ask("think")) == THOUGHTS
    answer = ask("think", chat_template_kwargs={"enable_thinking": False})
    assert thoughts(answer) is None
    assert answer.text == "The answer is 4."


@proves("chat.chat_template_kwargs", "responses.chat_template_kwargs")
def test_what_the_template_gets_anyhow_can_t_be_set(ask: Ask) -> None:
    refusal = ask.refusal("think", chat_template_kwargs={"messages": []})
    assert refusal == ("invalid_value", "chat_template_kwargs.messages")


@proves("chat.reasoning_effort")
def test_no_effort(ask: Ask) -> None:
    assert thoughts(ask("think", reasoning_effort="high")) == THOUGHTS
    assert thoughts(ask("think", reasoning_effort="none")) is None


@proves("responses.reasoning", "responses.reasoning.effort")
def test_no_effort_on_responses(ask: Ask) -> None:
    assert thoughts(ask("think", reasoning={"effort": "high"})) == THOUGHTS
    assert thoughts(ask("think", reasoning={"effort": "none"})) is None


@proves("responses.reasoning.summary", "responses.reasoning.generate_summary")
def test_reasoning_as_a_summary(ask: Ask) -> None:
    answer = ask("think", reasoning={ask.path.removeprefix("reasoning."): "auto"})
    (item,) = answer.items("reasoning")
    assert (item["summary"], item["content"]) == ([{"type": "summary_text", "text": THOUGHTS}], [])
