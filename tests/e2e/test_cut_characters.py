"""A character that the limit cuts is left out: of texts, thoughts and arguments, streamed or not, on every endpoint."""

import httpx
import pytest
from support.streams import judged

from specvino.conformance.streams.fold import fold_chat, fold_completion, fold_response

PARTY = "a🎉b"
SPLIT = "script: token_bytes=1\n"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "name": "f", "parameters": CITY}
NESTED = {"type": "function", "function": {"name": "f", "parameters": CITY}}
CALL = '<tool_call>{"name": "f", "arguments": {"city": "' + PARTY + '"}}</tool_call>'

# The bytes of what was made so far, and what is shown of them.
SHOWN = [(1, "a"), (2, "a"), (3, "a"), (4, "a"), (5, "a🎉"), (6, PARTY)]

both_ways = pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
each_cut = pytest.mark.parametrize(("made", "shown"), SHOWN)


@pytest.fixture(scope="module")
def client(scripted_server):
    with httpx.Client(base_url=scripted_server.url, timeout=300) as client:
        yield client


def post(client, path, stream, **body):
    response = client.post(path, json={"model": "m", "temperature": 0, "stream": stream, **body})
    assert response.status_code == 200, response.text
    assert "\ufffd" not in response.text
    assert "\\ufffd" not in response.text.lower()
    return response


def chat(client, text, stream, made, **fields):
    asked = [{"role": "user", "content": SPLIT + text}]
    response = post(client, "/chat/completions", stream, messages=asked, max_tokens=made, **fields)
    (choice,) = (fold_chat(judged("chat", response)) if stream else response.json())["choices"]
    return choice


def respond(client, text, stream, made, **fields):
    response = post(client, "/responses", stream, input=SPLIT + text, max_output_tokens=made, store=False, **fields)
    return fold_response(judged("responses", response)) if stream else response.json()


@both_ways
@each_cut
def test_texts(client, stream, made, shown) -> None:
    assert chat(client, PARTY, stream, made)["message"]["content"] == shown
    (item,) = respond(client, PARTY, stream, made)["output"]
    assert item["content"][0]["text"] == shown
    response = post(client, "/completions", stream, prompt=SPLIT + PARTY, max_tokens=made)
    (choice,) = (fold_completion(judged("completions", response)) if stream else response.json())["choices"]
    assert choice["text"] == shown


@both_ways
@each_cut
def test_reasoning(client, stream, made, shown) -> None:
    made += len("<think>")
    asked = f"<think>{PARTY}</think>"
    assert chat(client, asked, stream, made)["message"]["reasoning_content"] == shown
    assert respond(client, asked, stream, made)["output"][0]["content"][0]["text"] == shown


@both_ways
@each_cut
def test_arguments(client, stream, made, shown) -> None:
    made += CALL.index(PARTY)
    (call,) = chat(client, CALL, stream, made, tools=[NESTED])["message"]["tool_calls"]
    assert call["function"]["arguments"] == f'{{"city": "{shown}'
    (item,) = respond(client, CALL, stream, made, tools=[TOOL])["output"]
    assert item["arguments"] == f'{{"city": "{shown}'


@both_ways
@each_cut
def test_its_tokens_show_their_bytes(client, stream, made, shown) -> None:
    tokens = chat(client, PARTY, stream, made, logprobs=True)["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == shown
    assert bytes(byte for token in tokens for byte in token["bytes"]) == PARTY.encode()[:made]
