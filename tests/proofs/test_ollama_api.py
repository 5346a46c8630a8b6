"""Ollama's own API: a conversation becomes the prompt that chat makes of the same one.

What a field does that chat has too is proved there; here, that it has the same effect under its own name."""

from typing import Any

import httpx
import pytest
from support.images import data_url, file

from proofs import proves
from proofs.asking import ANSWER, TURN, Answer, Ask
from proofs.test_messages_api import HELLO, prompt_tokens
from proofs.test_sampling import COUNTED
from proofs.test_tools import CITY, PARIS, ROME, UNENFORCED, WEATHER, function

Body = dict[str, Any]

MESSAGE = "messages[]"
CALL = f"{MESSAGE}.tool_calls[]"

GREETING = "Hello! How can I help you today?"
THOUGHTS = "Let me see. Two plus two is four."


def of_both(*paths: str) -> tuple[str, ...]:
    return tuple(f"{api}.{path}" for api in ("ollama_chat", "ollama_generate") for path in paths)


def options(*names: str) -> tuple[str, ...]:
    return of_both(*(f"options.{name}" for name in names))


def called(**more: Any) -> list[Body]:
    """A conversation with two calls, and the result of the second one."""
    calls = [{"id": id, "function": {"name": f"{id} big", "arguments": {"x": "now"}}} for id in ("the", "yes")]
    result = {"role": "tool", "content": "yes", "tool_call_id": "yes"}
    return [HELLO, {"role": "assistant", "tool_calls": calls}, {**result, **more}]


def chat_called(name: str = "yes big") -> list[Body]:
    """The same conversation, as chat has it."""
    calls = [
        {"id": id, "type": "function", "function": {"name": f"{id} big", "arguments": '{"x": "now"}'}}
        for id in ("the", "yes")
    ]
    result = {"role": "tool", "content": "yes", "tool_call_id": "yes", "name": name}
    return [HELLO, {"role": "assistant", "content": None, "tool_calls": calls}, result]


SAID = [HELLO, {"role": "assistant", "content": "who"}, {"role": "system", "content": "who"}, HELLO]
THOUGHT = [HELLO, {"role": "assistant", "content": "yes", "thinking": "big"}, HELLO]
CHAT_THOUGHT = [HELLO, {"role": "assistant", "content": "yes", "reasoning_content": "big"}, HELLO]

# By field: a conversation that has it, and the same one for chat.
CONVERSATIONS: dict[str, tuple[list[Body], list[Body]]] = {
    "messages": (SAID, SAID),
    f"{MESSAGE}.role": (SAID, SAID),
    f"{MESSAGE}.content": (SAID, SAID),
    f"{MESSAGE}.thinking": (THOUGHT, CHAT_THOUGHT),
    f"{MESSAGE}.tool_calls": (called(), chat_called()),
    f"{CALL}.id": (called(), chat_called()),
    f"{CALL}.function": (called(), chat_called()),
    f"{CALL}.function.name": (called(), chat_called()),
    f"{CALL}.function.arguments": (called(), chat_called()),
    f"{MESSAGE}.tool_name": (called(tool_name="big"), chat_called("big")),
    f"{MESSAGE}.tool_call_id": (called(), chat_called()),
}


@proves(*(f"ollama_chat.{path}" for path in CONVERSATIONS), on="telling")
def test_a_conversation_is_that_of_chat(ask: Ask, http: httpx.Client) -> None:
    messages, same = CONVERSATIONS[ask.path]
    answer = ask(messages=messages, options={"num_predict": 1})
    assert answer.finish != "load"
    assert answer.prompt_tokens == prompt_tokens(http, messages=same)


@proves("ollama_generate.prompt", "ollama_generate.system", on="telling")
def test_a_prompt_is_a_conversation(ask: Ask, http: httpx.Client) -> None:
    same = [{"role": "system", "content": "who"}, HELLO]
    answer = ask(prompt=HELLO["content"], system="who", options={"num_predict": 1})
    assert answer.finish != "load"
    assert answer.prompt_tokens == prompt_tokens(http, messages=same)


@proves("ollama_generate.raw")
def test_a_raw_prompt_is_the_whole_prompt(ask: Ask) -> None:
    prompt = TURN.format(role="user", content="hello") + ANSWER
    plain = ask("hello")
    raw = ask(prompt=prompt, raw=True)
    assert (raw.text, raw.prompt_tokens) == (GREETING, plain.prompt_tokens)


@proves("ollama_chat.messages[].images", "ollama_generate.images", on="vision")
def test_the_model_sees_the_image(ask: Ask) -> None:
    picture, text = data_url(file("blue")).partition(",")[2], "What colour is this?"
    if ask.endpoint == "ollama_generate":
        answer = ask(prompt=text, images=[picture])
    else:
        answer = ask(messages=[{"role": "user", "content": text, "images": [picture]}])
    assert "blue" in answer.text


@proves(*of_both("model"))
def test_an_unknown_model(ask: Ask) -> None:
    answer = ask.post("hello", model="another")
    assert answer.status_code == 404
    assert answer.json()["code"] == "model_not_found"


@proves(*of_both("stream"), ways=("unary",))
def test_one_object(ask: Ask) -> None:
    assert ask.post("hello", stream=False).headers["content-type"] == "application/json"


@proves(*options("num_predict"), *of_both("options"))
def test_no_more_tokens_than_that(ask: Ask) -> None:
    answer = ask("count", options={"temperature": 0, "num_predict": 4})
    assert (answer.tokens, answer.finish) == (4, "length")


@proves(*options("stop"))
def test_an_answer_ends_before_a_stop_string(ask: Ask) -> None:
    answer = ask("count", options={"temperature": 0, "stop": ["zzz", ", 4"]})
    assert (answer.text, answer.finish) == ("1, 2, 3", "stop")


def unsure(ask: Ask, **options: Any) -> set[str]:
    """The different texts among 24 answers that begin so that they may go on in many ways."""
    fields: Body = {"messages": [{"role": "user", "content": "zzz"}, {"role": "assistant", "content": "The"}]}
    if ask.endpoint == "ollama_generate":
        fields = {"prompt": f"{TURN.format(role='user', content='zzz')}{ANSWER}The", "raw": True}
    return {ask(**fields, options=options).text for _ in range(24)}


@proves(*options("temperature", "top_p", "top_k", "seed"))
def test_the_same_tokens_are_drawn(ask: Ask) -> None:
    name = ask.path.rpartition(".")[2]
    value = {"temperature": 0, "top_p": 0.01, "top_k": 1, "seed": 7}[name]
    assert len(unsure(ask, **{"temperature": 1, name: value})) == 1


@proves(*options("min_p"))
def test_unlikely_tokens_are_left_out(ask: Ask) -> None:
    wide = {"temperature": 2, "top_p": 1, "top_k": 0, "seed": 1}
    assert ask("count", options={**wide, "min_p": 0.9}).text == COUNTED


@proves(*options("frequency_penalty", "presence_penalty", "repeat_penalty"))
def test_a_penalty_avoids_what_was_said(ask: Ask) -> None:
    # Two words of which the model knows the answers, so that it isn't sure.
    plain, avoiding = (
        ask("hello list", options={"temperature": 0, "num_predict": 80, **penalty}).text
        for penalty in ({}, {ask.path.rpartition(".")[2]: 2})
    )
    assert plain != avoiding


def thoughts(answer: Answer) -> str | None:
    thinking: str | None = answer.body.get("message", answer.body).get("thinking")
    return thinking


@proves(*of_both("think"))
def test_no_thinking(ask: Ask) -> None:
    assert thoughts(ask("think")) == THOUGHTS
    answer = ask("think", think=False)
    assert (thoughts(answer), answer.text) == (None, "The answer is 4.")


@proves(*of_both("think"), ways=("unary",))
def test_the_template_is_told_a_level(ask: Ask) -> None:
    """The tiny model's template reads enable_thinking, and no effort."""
    answer = ask("think", think="high")
    assert thoughts(answer) == THOUGHTS
    assert ask("think", think=False).prompt_tokens != answer.prompt_tokens


@proves(*of_both("format"))
@pytest.mark.parametrize("form", [{"enum": ["no"]}, "json"])
def test_the_form_of_an_answer(ask: Ask, form: Any) -> None:
    answer = ask("hello", format=form, options={"temperature": 0, "num_predict": 40})
    assert answer.text == '"no"' if isinstance(form, dict) else answer.text.lstrip().startswith("{")


@proves(*of_both("logprobs"))
def test_each_token_has_its_probability(ask: Ask) -> None:
    tokens = ask("hello", logprobs=True).logprobs or []
    assert "".join(token["token"] for token in tokens) == GREETING
    assert all(-1 < token["logprob"] <= 0 for token in tokens)


@proves(*of_both("top_logprobs"))
def test_the_likeliest_tokens_stand_beside_each(ask: Ask) -> None:
    tokens = ask("hello", logprobs=True, top_logprobs=3).logprobs
    assert {len(token.get("top_logprobs", ())) for token in tokens} == {3}
    assert all(token["top_logprobs"][0]["logprob"] == token["logprob"] for token in tokens)


LONG = "the " * 5000


@proves(*of_both("truncate"))
def test_what_is_too_long_is_refused(ask: Ask) -> None:
    fields = (
        {"prompt": f"{LONG} hello"}
        if ask.endpoint == "ollama_generate"
        else {"messages": [{"role": "user", "content": LONG}, {"role": "assistant", "content": "yes"}, HELLO]}
    )
    field = "prompt" if ask.endpoint == "ollama_generate" else "messages"
    assert ask.refusal(**fields, truncate=False) == ("context_length_exceeded", field)
    if ask.endpoint == "ollama_chat":
        assert ask(**fields, truncate=True).text == GREETING


TOOL = "ollama_chat.tools[]"


def offer(*functions: Body) -> list[Body]:
    return [{"type": "function", "function": function} for function in functions]


@proves("ollama_chat.tools", f"{TOOL}.function", f"{TOOL}.function.name", f"{TOOL}.function.parameters")
def test_the_model_calls_a_function(ask: Ask) -> None:
    answer = ask("weather Paris", tools=offer(function(parameters=PARIS)))
    assert (answer.calls, answer.finish) == ([WEATHER], "stop")
    named = ask("hello", tools=offer(function("f", parameters=CITY))).prompt_tokens
    assert named != ask("hello", tools=offer(function("f", parameters=ROME))).prompt_tokens


@proves(f"{TOOL}.function.description")
def test_the_model_is_shown_the_description(ask: Ask) -> None:
    bare, described = (
        ask("hello", tools=offer(function(**more))).prompt_tokens for more in ({}, {"description": "the big"})
    )
    assert bare < described


@proves(f"{TOOL}.function.strict")
def test_a_call_keeps_to_a_strict_schema(ask: Ask) -> None:
    answer = ask("weather Paris", tools=offer(function(parameters=ROME, strict=True)))
    assert answer.calls == [("get_weather", {"city": "Rome"})]
    reported = ask("weather Paris", tools=offer(function(parameters=UNENFORCED, strict=True)))
    assert "uniqueItems" in reported.headers["x-unsupported-params"]
