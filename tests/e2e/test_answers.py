"""The main job: a real answer of the real default model, through curl's eyes."""

import httpx
import pytest


@pytest.mark.parametrize("base", ["/v1", "/v3", "/v3/v1"])
def test_plain_http(default_server, base) -> None:
    url = default_server.url.removesuffix("/v1") + base
    question = [{"role": "user", "content": "What is the capital of France?"}]
    body = {"model": "smollm2", "messages": question, "temperature": 0}
    answer = httpx.post(f"{url}/chat/completions", json=body, timeout=300).json()
    assert "Paris" in answer["choices"][0]["message"]["content"]
    assert answer["choices"][0]["finish_reason"] == "stop"
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
