"""Tokens of texts, on the real default model."""

import httpx
import pytest
from support.app import error_of

TEXTS = ["", "hello", "The capital of France is Paris.", "你好 🎉 café", " \n\t", "<|im_start|>user"]


@pytest.fixture(scope="module")
def client(default_server):
    with httpx.Client(base_url=default_server.url, timeout=300) as client:
        yield client


def tokens(client, text, **fields):
    response = client.post("/tokenize", json={"model": "smollm2", "text": text, **fields})
    assert response.status_code == 200, response.text
    assert response.json().keys() == {"tokens", "count", "max_model_len"}
    return response.json()["tokens"]


def test_one_text_is_a_list_and_several_are_lists(client) -> None:
    assert tokens(client, "") == []
    alone = [tokens(client, text) for text in TEXTS]
    assert all(isinstance(token, int) for text in alone for token in text)
    assert tokens(client, TEXTS) == alone
    assert tokens(client, ["hello"]) == tokens(client, "hello")


def test_the_tokens_are_those_that_a_completion_counts(client) -> None:
    body = {"model": "smollm2", "prompt": TEXTS[2], "max_tokens": 1}
    usage = client.post("/completions", json=body).json()["usage"]
    assert usage["prompt_tokens"] == len(tokens(client, TEXTS[2]))


def test_a_control_token_is_one_token(client) -> None:
    assert len(tokens(client, "<|im_start|>")) == 1


def test_cut_and_filled(client) -> None:
    whole = tokens(client, TEXTS[2])
    assert tokens(client, TEXTS[2], max_length=3) == whole[:3]
    assert tokens(client, TEXTS[2], max_length=100) == whole
    right = tokens(client, TEXTS[2], max_length=len(whole) + 2, pad_to_max_length=True)
    assert (right[:-2], len(right)) == (whole, len(whole) + 2)
    left = tokens(client, TEXTS[2], max_length=len(whole) + 2, pad_to_max_length=True, padding_side="left")
    assert (left[2:], left[:2]) == (whole, right[-2:])


def test_texts_for_which_others_would_wait_are_refused(client) -> None:
    half = " " * (1 << 15)  # in tokens of many spaces
    assert len(tokens(client, [half, half])) == 2
    for text in ([half, half, "a"], half * 2 + "a"):
        response = client.post("/tokenize", json={"model": "smollm2", "text": text})
        error = error_of(response, 400, "text_too_long")
        assert error["message"] == "The text has 65537 characters; at most 65536 are tokenized at a time."


def test_no_text_is_cut_in_silence(client) -> None:
    """GenAI's tokenizers from GGUF files drop the beginning of what has more than 8,192 tokens."""
    assert [len(ids) for ids in tokens(client, ["a", "hello " * 10000])] == [1, 10001]


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({}, "missing_required_parameter", "text"),
        ({"text": []}, "array_below_min_length", "text"),
        ({"text": [1]}, "invalid_type", "text.0"),
        ({"text": "a", "max_length": 0}, "integer_below_min_value", "max_length"),
        ({"text": "a", "padding_side": "up"}, "invalid_value", "padding_side"),
        ({"text": "a", "pad_to_max_length": True}, "invalid_value", "max_length"),
    ],
)
def test_bad_requests(client, fields, code, param) -> None:
    response = client.post("/tokenize", json={"model": "smollm2", **fields})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, code, param)
