"""DSPy's language models get logprobs from the server that are the model's own."""

import os

import numpy
import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else LiteLLM asks the internet for prices

import dspy

CLOSE = 1e-3
HELLO = "Hello! How can I help you today?"


def test_logprobs_of_a_conversation(url, scores, ids) -> None:
    settings = {"temperature": 0, "cache": False, "logprobs": True, "top_logprobs": 4}
    [answer] = dspy.LM("openai/tiny", api_base=url, api_key="none", **settings)("hello")
    assert answer["text"] == HELLO
    tokens = answer["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == HELLO
    prompt = ids("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n")
    made = ids(HELLO)
    rows = scores.of([*prompt, *made])[len(prompt) - 1 :]
    for token, id, row in zip(tokens, made, rows, strict=False):
        assert token["logprob"] == pytest.approx(row[id], abs=CLOSE)
        likely = [candidate["logprob"] for candidate in token["top_logprobs"]]
        assert likely == pytest.approx(numpy.sort(row)[::-1][:4], abs=CLOSE)


def test_logprobs_of_a_text(url, scores, ids) -> None:
    settings = {"temperature": 0, "cache": False, "max_tokens": 6, "logprobs": 3, "model_type": "text"}
    [answer] = dspy.LM("text-completion-openai/tiny", api_base=url, api_key="none", **settings)("1, 2,")
    prompt = ids("1, 2,\n\nBEGIN RESPONSE:")  # what DSPy makes of it
    rows = scores.of([*prompt, *ids(answer["text"])])[len(prompt) - 1 :]
    places = answer["logprobs"].top_logprobs
    assert len(places) == 6
    for candidates, row in zip(places, rows, strict=False):
        assert sorted(candidates.values(), reverse=True) == pytest.approx(numpy.sort(row)[::-1][:3], abs=CLOSE)


def test_a_bias_decides(url, ids) -> None:
    [token] = ids("H")
    settings = {"temperature": 0, "cache": False, "max_tokens": 4, "logit_bias": {str(token): 100}}
    assert dspy.LM("openai/tiny", api_base=url, api_key="none", **settings)("hello") == ["HHHH"]
