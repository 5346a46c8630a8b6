"""What a stream adds up to."""

import pytest

from specvino.conformance.streams.fold import fold_chat, fold_completion

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 5, "model": "m"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def chunk(*choices, **fields):
    return {**HEAD, "choices": list(choices), **fields}


def choice(index, finish=None, **delta):
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}


CHUNKS = [
    chunk(choice(1, role="assistant")),
    chunk(choice(0, role="assistant")),
    chunk(choice(1, content="b")),
    chunk(choice(0, content="a"), choice(1, content="c")),
    chunk(choice(1, "length")),
    chunk(choice(0, "stop")),
]


@pytest.mark.parametrize(("last", "usage"), [([chunk(usage=USAGE)], USAGE), ([], None), ([chunk(usage=None)], None)])
def test_choices_are_joined_and_in_order(last, usage) -> None:
    assert fold_chat([*CHUNKS, *last]) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 5,
        "model": "m",
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": content, "refusal": None},
                "logprobs": None,
                "finish_reason": reason,
            }
            for index, content, reason in [(0, "a", "stop"), (1, "bc", "length")]
        ],
        "usage": usage,
    }


def test_a_choice_without_text_has_an_empty_one() -> None:
    folded = fold_chat([chunk(choice(0, role="assistant", content=None)), chunk(choice(0, "stop"))])
    assert folded["choices"][0]["message"]["content"] == ""


def test_calls_are_joined_by_their_index_and_thoughts_by_their_names() -> None:
    first = {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}
    chunks = [
        chunk(choice(0, role="assistant")),
        chunk(choice(0, reasoning="hm")),
        chunk(choice(0, tool_calls=[first, {"index": 0, "id": "a", "type": "function", "function": {"name": "f"}}])),
        chunk(choice(0, tool_calls=[{"index": 0, "function": {"arguments": "{"}}])),
        chunk(choice(0, tool_calls=[{"index": 0, "function": {"name": None, "arguments": "}"}}])),
        chunk(choice(0, "tool_calls")),
    ]
    assert fold_chat(chunks)["choices"][0]["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning": "hm",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}},
        ],
    }


def test_a_call_in_the_form_from_before_tools() -> None:
    chunks = [
        chunk(choice(0, content="a")),
        chunk(choice(0, function_call={"name": "f", "arguments": ""})),
        chunk(choice(0, function_call={"arguments": "{}"})),
        chunk(choice(0, "function_call")),
    ]
    message = fold_chat(chunks)["choices"][0]["message"]
    assert (message["content"], message["function_call"]) == ("a", {"name": "f", "arguments": "{}"})


def text(index, piece="", finish=None):
    return chunk({"index": index, "text": piece, "logprobs": None, "finish_reason": finish}, object="text_completion")


@pytest.mark.parametrize(("last", "usage"), [([chunk(usage=USAGE)], USAGE), ([], None)])
def test_texts_are_joined_and_in_order(last, usage) -> None:
    chunks = [text(1, "b"), text(0, "a"), text(1, "c"), text(1, "", "length"), text(0, "", "stop"), text(2, "", "stop")]
    assert fold_completion([*chunks, *last]) == {
        "id": "chatcmpl-1",
        "object": "text_completion",
        "created": 5,
        "model": "m",
        "choices": [
            {"index": index, "text": joined, "logprobs": None, "finish_reason": reason}
            for index, joined, reason in [(0, "a", "stop"), (1, "bc", "length"), (2, "", "stop")]
        ],
        "usage": usage,
    }
