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


@proves("chat.include_reasoning", "responses.include_reasoning")
def test_reasoning_is_left_out(ask: Ask) -> None:
    shown, hidden = ask("think"), ask("think", include_reasoning=False)
    assert (thoughts(shown), thoughts(hidden)) == (THOUGHTS, None)
    assert (hidden.text, hidden.tokens) == (shown.text, shown.tokens)
    assert THOUGHTS not in hidden.text


BUDGETS = ["chat.thinking_token_budget", "chat.reasoning_max_tokens"]
BUDGETS += [
    f"{endpoint}.{name}"
    for endpoint in ("chat", "responses")
    for name in ("reasoning_budget_tokens", "thinking_budget_tokens")
]


def reasoning_tokens(answer: Answer) -> int:
    usage = answer.body["usage"]
    details: dict[str, int] = usage.get("output_tokens_details") or usage["completion_tokens_details"]
    return details["reasoning_tokens"]


@proves(*BUDGETS)
def test_reasoning_ends_after_so_many_tokens(ask: Ask) -> None:
    answer = ask("think", **{ask.path: 4, ask.limit: 80})
    # Beside the four: the tag that begins it, and the line break before the one that ends it.
    assert (thoughts(answer), reasoning_tokens(answer)) == ("Let me", 6)
    assert answer.text


@proves(*BUDGETS)
def test_no_reasoning_at_all(ask: Ask) -> None:
    answer = ask("think", **{ask.path: 0})
    assert (thoughts(answer), answer.text) == (None, "The answer is 4.")


@proves(*BUDGETS)
def test_the_form_holds_behind_reasoning_that_was_ended(ask: Ask) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": ["no"]}}}
    reasons = {"chat_template_kwargs": {"enable_thinking": True}}
    answer = ask("think", response_format=form, **reasons, **{ask.path: 4})
    assert (thoughts(answer), answer.text) == ("Let me", '"no"')


@proves(*BUDGETS)
def test_a_search_has_no_budget(ask: Ask) -> None:
    assert ask.refusal("think", best_of=2, **{ask.path: 4}) == ("invalid_value", ask.path)


@proves("chat.reasoning_budget_message", "responses.reasoning_budget_message")
def test_a_message_stands_where_reasoning_was_ended(ask: Ask) -> None:
    answer = ask("think", reasoning_budget_tokens=4, reasoning_budget_message=" Enough.", **{ask.limit: 80})
    assert thoughts(answer) == "Let me Enough."
