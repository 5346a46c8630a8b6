"""What the messages of a chat hold reaches the model."""

from typing import Any

import pytest

from proofs import proves
from proofs.asking import Ask

HELLO, PARIS = "Hello! How can I help you today?", "The capital of France is Paris."

MESSAGE = "chat.messages[]"
CALL = f"{MESSAGE}.tool_calls[]"


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def custom(name: str = "a", input: str = "now") -> dict[str, Any]:
    return {"id": "the", "type": "custom", "custom": {"name": name, "input": input}}


def call(id: str = "the", name: str = "a", value: str = "now") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": f'{{"x": "{value}"}}'}}


@proves(f"{MESSAGE}.role", on="telling")
@pytest.mark.parametrize(
    ("role", "answer"),
    [
        ("user", HELLO),
        ("assistant", PARIS),
        ("system", "你好 🎉 café!"),
        ("developer", "你好 🎉 café!"),
        ("tool", "yes"),
        ("function", "yes"),
    ],
)
def test_who_speaks(ask: Ask, role: str, answer: str) -> None:
    message = {"role": role, "content": "who", "name": "a", **({"tool_call_id": ""} if role == "tool" else {})}
    assert ask(messages=[message]).text == answer


@proves(f"{MESSAGE}.content")
def test_content(ask: Ask) -> None:
    assert [ask(messages=[user(text)]).text for text in ("hello", "capital")] == [HELLO, PARIS]


@proves(f"{MESSAGE}.content[].type", f"{MESSAGE}.content[].text")
def test_parts_of_text_are_one_text(ask: Ask) -> None:
    parts = [{"type": "text", "text": text} for text in ("cap", "ital")]
    assert ask(messages=[user(parts)]).text == PARIS


# Each of these has its own place in the conversation, and asks for the capital from there.
PLACES: dict[str, list[dict[str, Any]]] = {
    f"{MESSAGE}.name": [{"role": "user", "content": "the", "name": "capital"}],
    f"{MESSAGE}.content[].refusal": [{"role": "assistant", "content": [{"type": "refusal", "refusal": "capital"}]}],
    f"{MESSAGE}.reasoning": [{"role": "assistant", "content": "the", "reasoning": "capital"}],
    f"{MESSAGE}.reasoning_content": [{"role": "assistant", "content": "the", "reasoning_content": "capital"}],
    f"{MESSAGE}.tool_call_id": [{"role": "tool", "content": "the", "tool_call_id": "capital"}],
    f"{MESSAGE}.tool_calls": [{"role": "assistant", "content": "the", "tool_calls": [call(name="capital")]}],
    f"{CALL}.id": [{"role": "assistant", "tool_calls": [call(id="capital")]}],
    f"{CALL}.function": [{"role": "assistant", "tool_calls": [call(name="capital")]}],
    f"{CALL}.function.name": [{"role": "assistant", "tool_calls": [call(name="capital")]}],
    f"{CALL}.function.arguments": [{"role": "assistant", "tool_calls": [call(value="capital")]}],
    f"{CALL}.custom": [{"role": "assistant", "tool_calls": [custom("capital")]}],
    f"{CALL}.custom.name": [{"role": "assistant", "tool_calls": [custom("capital")]}],
    f"{CALL}.custom.input": [{"role": "assistant", "tool_calls": [custom(input="capital")]}],
    f"{MESSAGE}.function_call": [{"role": "assistant", "content": "the", "function_call": {"name": "capital"}}],
    f"{MESSAGE}.function_call.name": [{"role": "assistant", "function_call": {"name": "capital"}}],
    f"{MESSAGE}.function_call.arguments": [
        {"role": "assistant", "function_call": {"name": "a", "arguments": '{"x": "capital"}'}}
    ],
}


@proves(*PLACES, on="telling")
def test_the_model_sees_it(ask: Ask) -> None:
    assert ask(messages=PLACES[f"chat.{ask.path}"]).text == PARIS
