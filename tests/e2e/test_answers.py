"""The main job: real answers of the real default model, through curl's eyes and the official SDK's."""

import httpx
import openai
import pytest
from openai import OpenAI

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(params=["/v1", "/v3"])
def url(default_server, request):
    return default_server.url.removesuffix("/v1") + request.param


@pytest.fixture
def client(url):
    with OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


def test_plain_http(url):
    body = {"model": "smollm2", "messages": QUESTION, "temperature": 0}
    answer = httpx.post(f"{url}/chat/completions", json=body, timeout=60).json()
    assert "Paris" in answer["choices"][0]["message"]["content"]
    assert answer["choices"][0]["finish_reason"] == "stop"
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_sdk_unary(client):
    answer = client.chat.completions.create(model="smollm2", messages=QUESTION, temperature=0)
    assert "Paris" in answer.choices[0].message.content
    assert answer.id.startswith("chatcmpl-")


def test_sdk_stream_and_its_accumulator_agree_with_unary(client):
    settings = {"model": "smollm2", "messages": QUESTION, "temperature": 0}
    unary = client.chat.completions.create(**settings)
    with client.chat.completions.stream(**settings, stream_options={"include_usage": True}) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        folded = stream.get_final_completion()
    assert text == folded.choices[0].message.content == unary.choices[0].message.content
    assert "Paris" in text
    assert folded.choices[0].finish_reason == unary.choices[0].finish_reason
    assert folded.usage.model_dump(exclude_none=True) == unary.usage.model_dump(exclude_none=True)


def test_sdk_errors(client):
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="gpt-9", messages=QUESTION)
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model="smollm2", messages=QUESTION, temperature=3)
    assert (wrong.value.param, wrong.value.code) == ("temperature", "decimal_above_max_value")


def test_sdk_models(client):
    assert [model.id for model in client.models.list()] == ["smollm2"]
    assert client.models.retrieve("smollm2").owned_by == "specvino"


def test_the_context_s_limit_is_named(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="smollm2", messages=QUESTION, max_tokens=8192)
    assert caught.value.code == "context_length_exceeded"
    assert "8192" in caught.value.message
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="smollm2", messages=[{"role": "user", "content": "word " * 9000}])
    assert caught.value.code == "context_length_exceeded"
