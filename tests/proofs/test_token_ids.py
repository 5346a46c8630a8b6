"""Tokens in place of texts, and beside them; and how many of a prompt's are kept."""

from typing import Any

import httpx
import pytest

from proofs import proves
from proofs.asking import ANSWER, TURN, Ask

HELLO, PARIS = "Hello! How can I help you today?", "The capital of France is Paris."

BOTH = ("chat", "completions")


def on_both(name: str) -> tuple[str, ...]:
    return tuple(f"{endpoint}.{name}" for endpoint in BOTH)


def ids_of(http: httpx.Client, content: str) -> list[int]:
    """The tokens of a question, as the chat template writes it."""
    body = {"model": "m", "text": TURN.format(role="user", content=content) + ANSWER}
    tokens: list[int] = http.post("/tokenize", json=body).json()["tokens"]
    return tokens


def prompt_ids(ask: Ask, **fields: Any) -> list[list[int]]:
    """The prompt's tokens, wherever an answer has them."""
    body = ask(**fields, return_token_ids=True).body
    if ask.endpoint == "completions":
        return [choice["prompt_token_ids"] for choice in body["choices"]]
    (choice,) = body["choices"]
    assert choice["message"]["prompt_token_ids"] == body["prompt_token_ids"]
    return [body["prompt_token_ids"]]


@proves(*on_both("return_token_ids"))
def test_the_tokens_of_prompt_and_answer(ask: Ask) -> None:
    answer = ask("hello", return_token_ids=True, n=2)
    question = ids_of(ask.http, "hello")
    for choice in answer.choices:
        holder = choice["message"] if ask.endpoint == "chat" else choice
        assert holder.get("prompt_token_ids") == question
        assert holder["completion_token_ids"] == choice["token_ids"]
        again = ask.http.post("/completions", json=again_from(question, choice["token_ids"])).json()
        assert again["choices"][0]["text"].endswith(HELLO)
    assert sum(len(choice["token_ids"]) for choice in answer.choices) == answer.tokens


def again_from(question: list[int], ids: list[int]) -> dict[str, Any]:
    """A request that has tokens written as text."""
    return {"model": "m", "prompt": question + ids, "echo": True, "max_tokens": 0}


@proves(*on_both("return_token_ids"))
def test_a_piece_of_a_stream_has_its_tokens(ask: Ask) -> None:
    answer = ask("hello", return_token_ids=True, stop=["help"], logprobs=1 if ask.endpoint == "completions" else True)
    (choice,) = answer.choices
    assert len(choice.get("token_ids", ())) == answer.tokens
    pieces = [piece for event in answer.events for piece in event["choices"] if piece.get("token_ids")]
    assert len(pieces) > 3 if ask.streamed else not pieces


@proves("chat.prompt_token_ids", "completions.prompt_token_ids", "chat.input_ids")
def test_the_prompt_as_tokens(ask: Ask) -> None:
    capital = ids_of(ask.http, "capital")
    assert ask("hello", **{ask.path: capital}).text == PARIS
    assert ask("hello", **{ask.path: []}).text == HELLO


@proves("chat.prompt_token_ids", "chat.input_ids")
def test_calls_and_reasoning_are_read_all_the_same(ask: Ask) -> None:
    answer = ask("hello", **{ask.path: ids_of(ask.http, "think")})
    assert answer.choices[0]["message"].get("reasoning_content")


@proves("completions.prompt_token_ids")
def test_several_prompts_as_tokens(ask: Ask) -> None:
    prompts = [ids_of(ask.http, word) for word in ("hello", "capital")]
    assert ask("yes", prompt_token_ids=prompts).texts == [HELLO, PARIS]


@proves("chat.prompt_token_ids", "completions.prompt_token_ids", "chat.input_ids")
def test_tokens_that_the_model_lacks(ask: Ask) -> None:
    assert ask.refusal("hello", **{ask.path: [123456]}) == ("invalid_value", ask.path)


@proves(*on_both("truncate_prompt_tokens"))
@pytest.mark.parametrize("kept", [1, 3, 5])
def test_the_end_of_a_prompt_is_kept(ask: Ask, kept: int) -> None:
    (whole,) = prompt_ids(ask, **prompt_fields(ask, "hello"))
    assert prompt_ids(ask, **prompt_fields(ask, "hello"), truncate_prompt_tokens=kept, max_tokens=1) == [whole[-kept:]]


@proves(*on_both("truncate_prompt_tokens"))
def test_as_much_as_fits(ask: Ask) -> None:
    answer = ask(**prompt_fields(ask, "yes " * 5000 + "hello"), truncate_prompt_tokens=-1, max_tokens=10)
    assert answer.prompt_tokens == 4096 - 10


@proves(*on_both("truncate_prompt_tokens"))
@pytest.mark.parametrize(("wrong", "code"), [(0, "invalid_value"), (-2, "integer_below_min_value")])
def test_nothing_can_t_be_kept(ask: Ask, wrong: int, code: str) -> None:
    assert ask.refusal("hello", truncate_prompt_tokens=wrong) == (code, "truncate_prompt_tokens")


@proves(*on_both("truncation_side"))
def test_the_beginning_of_a_prompt_is_kept(ask: Ask) -> None:
    (whole,) = prompt_ids(ask, **prompt_fields(ask, "hello"))
    cut = {"truncate_prompt_tokens": 4, "truncation_side": "right", "max_tokens": 1}
    assert prompt_ids(ask, **prompt_fields(ask, "hello"), **cut) == [whole[:4]]


def prompt_fields(ask: Ask, text: str) -> dict[str, Any]:
    """A question, as the endpoint has it."""
    if ask.endpoint == "chat":
        return {"messages": [{"role": "user", "content": text}]}
    return {"prompt": TURN.format(role="user", content=text) + ANSWER}
