"""Answers from the chunks of a stream, as other servers send them, too."""

from typing import Any

from specvino.cli.chat_endpoint import Answer


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
    assert answer.calls == [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def test_chunks_without_a_choice() -> None:
    answer = Answer()
    chunks: list[dict[str, Any]] = [{"choices": [], "usage": {}}, {}, {"choices": None}]
    for chunk in (*chunks, {"choices": [{"finish_reason": "stop"}]}):
        answer.add(chunk)
    assert answer == Answer(finish="stop")
