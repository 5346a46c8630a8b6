"""Clients of other systems, as the documentation of these shows them, run unchanged but for the address.

Of OVMS: the pages of chat completions, completions and responses; of MLC-LLM: the page of its REST API; of FastDeploy:
the page of its OpenAI-compatible serving, whose curl body has a comma before its last brace: no JSON parser takes it.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import openai
import pytest
import requests
from support import public_host
from support.images import data_url, file
from support.serving import serving
from support.serving_here import serving_here

HELLO = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Hello"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "The weather at a place",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["location"],
        },
    },
}


@pytest.fixture(scope="module")
def ovms(tiny_text):
    with serving_here(str(tiny_text.path), "--dialect", "ovms", "--served-model-name", "llama3") as server:
        yield server.url


@pytest.fixture(scope="module")
def mlc_llm():
    with serving("--engine", "scripted", "--dialect", "mlc-llm") as server:
        yield server.url


@pytest.fixture(scope="module")
def fastdeploy():
    with serving_here("--engine", "scripted", "--dialect", "fastdeploy") as server:
        yield server.url


def post(url, body):
    response = requests.post(url, json=body, timeout=300)
    assert response.status_code == 200, response.text
    return response.json()


def client_of(url):
    return openai.OpenAI(base_url=url, api_key="unused")


def test_ovms_chat(ovms) -> None:
    answer = post(f"{ovms}/chat/completions", {"model": "llama3", "messages": HELLO, "stream": False})
    assert answer["choices"][0]["message"]["role"] == "assistant"
    assert "id" not in answer


def test_ovms_chat_streamed(ovms) -> None:
    body: dict[str, Any] = {"model": "llama3", "messages": HELLO, "stream": True}
    lines = requests.post(f"{ovms}/chat/completions", json=body, timeout=300).text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[-1]["choices"][0]["finish_reason"] in ("stop", "length")


def test_ovms_images(tiny_vision, tmp_path) -> None:
    (tmp_path / "zebra.png").write_bytes(file("red"))
    encoded = data_url(file("red"))
    options = ("--served-model-name", "llava", "--allowed-local-media-path", str(tmp_path))
    question = "What is on the picture?"
    with serving_here(str(tiny_vision.path), "--dialect", "ovms", *options) as server:
        for url in (encoded, str(tmp_path / "zebra.png")):
            parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
            body: dict[str, Any] = {"model": "llava", "messages": [{"role": "user", "content": parts}]}
            answer = post(f"{server.url}/chat/completions", body | {"temperature": 0.0, "max_completion_tokens": 8})
            assert answer["choices"][0]["message"]["content"]
        parts = [{"type": "input_text", "text": question}, {"type": "input_image", "image_url": encoded}]
        body = {"model": "llava", "input": [{"role": "user", "content": parts}], "max_output_tokens": 8}
        assert post(f"{server.url}/responses", body)["output"][0]["content"][0]["text"]


@pytest.fixture
def zebra():
    """The port of a server that has the picture, and which paths it was asked for."""
    asked = []

    class Picture(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.headers["host"], self.path))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(file("red", format="JPEG"))

        def log_message(self, format: str, *values: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Picture) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def test_ovms_images_of_a_public_host(tiny_vision, zebra) -> None:
    """A server on this machine stands for the host: see support/public_host.py for what that changes."""
    port, asked = zebra
    url = f"http://{public_host.HOST}:{port}/images/zebra.jpeg"
    parts = [{"type": "text", "text": "What is on the picture?"}, {"type": "image_url", "image_url": {"url": url}}]
    body: dict[str, Any] = {"model": "llava", "messages": [{"role": "user", "content": parts}]}
    body |= {"temperature": 0.0, "max_completion_tokens": 128}
    options = ("--served-model-name", "llava", "--dialect", "ovms", "--allowed-media-domains", public_host.HOST)
    with serving(str(tiny_vision.path), *options, env=public_host.ENVIRONMENT, command=public_host.COMMAND) as server:
        assert "red" in post(f"{server.url}/chat/completions", body)["choices"][0]["message"]["content"]
    assert asked == [(f"{public_host.HOST}:{port}", "/images/zebra.jpeg")]


def test_ovms_completions(ovms) -> None:
    answer = post(f"{ovms}/completions", {"model": "llama3", "prompt": "This is a test", "stream": False})
    assert answer["object"] == "text_completion"
    assert set(answer["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}


def test_ovms_responses(ovms) -> None:
    answer = post(f"{ovms}/responses", {"model": "llama3", "input": "What is OpenVINO?"})
    assert answer["output"][-1]["content"][0]["type"] == "output_text"


def test_ovms_with_the_sdk(ovms) -> None:
    client = client_of(ovms)
    more = {"top_k": 1}
    chat = client.chat.completions.create(
        model="llama3", messages=[{"role": "user", "content": "hello"}], max_tokens=20, extra_body=more, stream=False
    )
    assert chat.choices[0].message.content
    text = client.completions.create(model="llama3", prompt="hello", max_tokens=20, extra_body=more, stream=False)
    assert text.choices[0].text
    response = client.responses.create(
        model="llama3", input="hello", max_output_tokens=40, extra_body=more, stream=False
    )
    assert response.output_text


MODEL = "./dist/Llama-2-7b-chat-hf-q4f16_1-MLC/"


def test_mlc_llm_chat(mlc_llm) -> None:
    payload = {"model": MODEL, "messages": [{"role": "user", "content": "A haiku about apples"}], "stream": False}
    choices = post(f"{mlc_llm}/chat/completions", payload | {"max_tokens": 300})["choices"]
    assert [choice["message"]["content"] for choice in choices] != [""]


def contents(url, payload):
    """What the page's loop prints, which takes a piece of the body for an event."""
    with requests.post(f"{url}/chat/completions", json=payload, stream=True, timeout=300) as response:
        for piece in response.iter_content(chunk_size=None):
            text = piece.decode("utf-8")
            if "[DONE]" in text[6:]:
                return
            yield json.loads(text[6:])["choices"][0]["delta"].get("content", "")


def test_mlc_llm_chat_streamed(mlc_llm) -> None:
    payload = {"model": MODEL, "messages": [{"role": "user", "content": "A haiku about apples"}], "stream": True}
    assert len("".join(contents(mlc_llm, payload))) > 10


def test_mlc_llm_tools(mlc_llm) -> None:
    question = "script: calls=1\nWhat is the current weather in Pittsburgh, PA in fahrenheit?"  # it calls when told to
    payload = {"model": MODEL, "messages": [{"role": "user", "content": question}], "tools": [WEATHER], "stream": False}
    function = post(f"{mlc_llm}/chat/completions", payload)["choices"][0]["message"]["tool_calls"][0]["function"]
    assert function["name"] == "get_current_weather"
    assert isinstance(function["arguments"], dict)


def test_mlc_llm_tools_streamed(mlc_llm) -> None:
    question = "What is the current weather in Pittsburgh, PA and Tokyo, JP in fahrenheit?"
    payload = {"model": MODEL, "messages": [{"role": "user", "content": question}], "tools": [WEATHER], "stream": True}
    assert all(isinstance(content, str) for content in contents(mlc_llm, payload))


def test_mlc_llm_models(mlc_llm) -> None:
    response = requests.get(f"{mlc_llm}/models", headers={"accept": "application/json"}, timeout=300)
    assert response.json()["data"][0]["owned_by"] == "MLC-LLM"


def test_fastdeploy_chat(fastdeploy) -> None:
    body = {"messages": [{"role": "user", "content": "Hello!"}]}
    assert post(f"{fastdeploy}/chat/completions", body)["choices"][0]["message"]["content"]
    logprobs = post(f"{fastdeploy}/chat/completions", body | {"logprobs": True, "top_logprobs": 0})
    assert logprobs["choices"][0]["logprobs"]["content"]


def test_fastdeploy_chat_with_the_sdk(fastdeploy) -> None:
    stream = client_of(fastdeploy).chat.completions.create(
        model="null",
        messages=[{"role": "system", "content": "I help."}, {"role": "user", "content": "写一首关于月亮的诗"}],
        stream=True,
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices[0].delta)


def test_fastdeploy_completions(fastdeploy) -> None:
    assert post(f"{fastdeploy}/completions", {"prompt": "关于深圳的一座公园："})["choices"][0]["text"]
    made = client_of(fastdeploy).completions.create(model="default", prompt="关于深圳的一座公园：", stream=False)
    assert made.choices[0].text
