"""Answers from the chunks of a stream, as other servers send them, too."""

import json
from typing import Any

import pytest
from support.raw_server import Asked, Pieces, answer, raw_server

from specvino.cli.chat_endpoint import Answer, ChatError, Endpoint

DEEP = "[" * 100_000


def folded(*deltas: dict[str, object]) -> Answer:
    answer = Answer()
    for delta in deltas:
        answer.add({"choices": [{"delta": delta, "finish_reason": None}]})
    return answer


def test_text_and_reasoning_under_either_name() -> None:
    assert folded({"role": "assistant", "content": None}, {"content": "a"}, {"content": "b"}).content == "ab"
    assert folded({"reasoning_content": "a", "reasoning": "a"}, {"reasoning": "b"}).reasoning == "ab"
    assert folded({"refusal": "no"}).content == "no"


def test_calls_in_parts() -> None:
    first = {"index": 0, "id": "1", "function": {"name": "f", "arguments": ""}}
    answer = folded({"tool_calls": [first]}, {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})
    assert answer.calls == {0: ("f", "{}")}


def test_an_index_beyond_all_calls_costs_nothing() -> None:
    far = folded({"tool_calls": [{"index": 10**12, "function": {"name": "f"}}]})
    assert list(far.calls.values()) == [("f", "")]


def test_chunks_without_a_choice() -> None:
    answer = Answer()
    chunks: list[dict[str, Any]] = [{"choices": [], "usage": {}}, {}, {"choices": None}]
    for chunk in (*chunks, {"choices": [{"finish_reason": "stop"}]}):
        answer.add(chunk)
    assert answer == Answer(finish="stop")


def delta(value: object) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": value}]})


NO_CALLS: list[dict[str, Any]] = [{"index": []}, {"function": 1}, {"function": {"name": 1}}]


@pytest.mark.parametrize(
    "chunk",
    [
        *("[]", "1", '"x"', '{"choices": 1}', '{"choices": [1]}', '{"choices": {"a": 1}}', "{", DEEP),
        *map(delta, (1, {"content": [1]}, {"reasoning": 1}, {"tool_calls": 1}, {"tool_calls": [1]})),
        *(delta({"tool_calls": [call]}) for call in NO_CALLS),
    ],
)
def test_what_is_no_chunk_is_an_error(chunk: str) -> None:
    async def chat(_: Asked) -> Pieces:
        yield answer(f"data: {chunk}\n\n".encode(), media="text/event-stream")

    told = pytest.raises(ChatError, match=r"sent an event that isn't (a chunk|JSON)")
    with raw_server(chat) as server, Endpoint(server.url, None) as endpoint, told:
        list(endpoint.answer("m", []))


@pytest.mark.parametrize("models", ["[]", "1", '{"data": [1]}', '{"data": [{"id": 1}]}', '{"data": {"a": 1}}', DEEP])
def test_what_is_no_list_of_models_is_an_error(models: str) -> None:
    async def chat(_: Asked) -> Pieces:
        yield b""

    told = pytest.raises(ChatError, match="isn't a list of models")
    with raw_server(chat, answer(models.encode())) as server, Endpoint(server.url, None) as endpoint, told:
        endpoint.models()
