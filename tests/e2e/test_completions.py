"""Completions on the tiny trained model: exact, fast, and really generated."""

import httpx
import pytest
from support.streams import judged

# What the model's chat template makes of a user's "hello".
TURN = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
HELLO = TURN.format("hello")


@pytest.fixture(scope="module")
def client(tiny_server):
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:
        yield client


def unary(client, prompt=HELLO, **fields):
    body = {"model": "tiny", "prompt": prompt, "temperature": 0, **fields}
    response = client.post("/completions", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def stream(client, prompt=HELLO, **fields):
    fields = {"stream_options": {"include_usage": True}} | fields
    body = {"model": "tiny", "prompt": prompt, "temperature": 0, "stream": True, **fields}
    return judged("completions", client.post("/completions", json=body))


def tokens(client, text):
    return client.post("/tokenize", json={"model": "tiny", "text": text}).json()["tokens"]


def comparable(answer):
    return {key: value for key, value in answer.items() if key not in ("id", "created")}


def texts(answer):
    return [choice["text"] for choice in answer["choices"]]


def test_control_tokens_of_a_prompt_count_as_such(client) -> None:
    assert texts(unary(client)) == ["Hello! How can I help you today?"]


def test_a_prompt_as_token_ids(client) -> None:
    ids = tokens(client, HELLO)
    assert comparable(unary(client, ids)) == comparable(unary(client, HELLO))


def test_several_prompts_get_n_choices_each(client) -> None:
    count = TURN.format("count")
    answer = unary(client, [HELLO, count], n=2, max_tokens=8)
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2, 3]
    hello, counted = texts(unary(client, HELLO, max_tokens=8))[0], texts(unary(client, count, max_tokens=8))[0]
    assert texts(answer) == [hello, hello, counted, counted]
    ids = [tokens(client, prompt) for prompt in (HELLO, count)]
    assert comparable(unary(client, ids, n=2, max_tokens=8)) == comparable(answer)
    assert answer["usage"]["prompt_tokens"] == sum(map(len, ids))
    assert answer["usage"]["completion_tokens"] <= 32


def test_length_and_usage(client) -> None:
    answer = unary(client, max_tokens=3)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 3
    assert answer["usage"]["prompt_tokens"] == len(tokens(client, HELLO))


def test_usage_only_where_asked_for(client) -> None:
    assert stream(client)[-1]["usage"] == unary(client)["usage"]
    assert all("usage" not in chunk for chunk in stream(client, stream_options=None))


def test_a_token_that_the_model_has_not(client) -> None:
    response = client.post("/completions", json={"model": "tiny", "prompt": [1, 2147483647]})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_value", "prompt")
    assert "2147483647" in error["message"]
    assert texts(unary(client)) == ["Hello! How can I help you today?"], "nothing broke"


def test_a_prompt_that_does_not_fit(client) -> None:
    response = client.post("/completions", json={"model": "tiny", "prompt": ["a", "b c " * 20000]})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "context_length_exceeded", "prompt")


def test_what_has_no_effect_is_reported(client) -> None:
    body = {"model": "tiny", "prompt": "a", "max_tokens": 1, "echo": True, "suffix": "x", "logprobs": 2, "best_of": 1}
    response = client.post("/completions", json=body)
    assert response.headers["x-unsupported-params"] == "suffix"
