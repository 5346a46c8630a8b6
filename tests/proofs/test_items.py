"""What the items of a response's input hold reaches the model."""

from typing import Any

import pytest

from proofs import proves
from proofs.asking import Ask

HELLO, PARIS, EMOJI = "Hello! How can I help you today?", "The capital of France is Paris.", "你好 🎉 café!"

ITEM = "responses.input[]"

Item = dict[str, Any]


def user(content: Any) -> Item:
    return {"role": "user", "content": content}


def call(id: str = "the", name: str = "a", value: str = "now") -> Item:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": f'{{"x": "{value}"}}'}


def custom(name: str = "a", input: str = "now", **more: str) -> Item:
    return {"type": "custom_tool_call", "call_id": "the", "name": name, "input": input, **more}


def result(output: Any, id: str = "the") -> Item:
    return {"type": "function_call_output", "call_id": id, "output": output}


def reasoning(**fields: Any) -> Item:
    return {"type": "reasoning", **fields}


@proves(f"{ITEM}.role", on="telling")
@pytest.mark.parametrize(
    ("role", "answer"),
    [("user", HELLO), ("assistant", PARIS), ("system", "你好 🎉 café!"), ("developer", "你好 🎉 café!")],
)
def test_who_speaks(ask: Ask, role: str, answer: str) -> None:
    assert ask(input=[{"role": role, "content": "who"}]).text == answer


def part(type: str, text: str = "capital") -> Item:
    return {"type": type, "refusal" if type == "refusal" else "text": text}


# By the field that matters: inputs that ask for the capital from its place.
PLACES: dict[str, list[Item]] = {
    "type": [
        call(name="capital"),
        result("capital"),
        reasoning(summary=[part("summary_text")]),
        custom("capital"),
        {**result("capital"), "type": "custom_tool_call_output"},
        {"type": "local_shell_call", "call_id": "the", "action": {"type": "exec", "command": ["capital"]}},
        {"type": "local_shell_call_output", "id": "the", "output": "capital"},
    ],
    "content": [user("capital"), reasoning(content=[part("reasoning_text")])],
    "content[].type": [user([part("input_text")]), reasoning(content=[part("reasoning_text")])],
    "content[].text": [user([part("input_text")]), reasoning(content=[part("reasoning_text")])],
    "content[].refusal": [{"role": "assistant", "content": [part("refusal")]}],
    "id": [{"type": "function_call", "id": "capital", "name": "a", "arguments": "{}"}],
    "call_id": [{**call(id="capital"), "id": "the"}, result("the", id="capital")],
    "name": [call(name="capital"), {**result("the"), "name": "capital"}, custom("capital")],
    "namespace": [{**call(), "namespace": "capital"}, custom(namespace="capital")],
    "input": [custom(input="capital")],
    "arguments": [call(value="capital")],
    "output": [result("capital"), result([part("input_text")])],
    "output[].type": [result([part("input_text")])],
    "output[].text": [result([part("input_text")])],
    "summary": [reasoning(summary=[part("summary_text")])],
    "summary[].type": [reasoning(summary=[part("summary_text")])],
    "summary[].text": [reasoning(summary=[part("summary_text")])],
}


@proves(*(f"{ITEM}.{name}" for name in PLACES), on="telling")
def test_the_model_sees_it(ask: Ask) -> None:
    for item in PLACES[ask.path.removeprefix("input[].")]:
        assert ask(input=[item]).text == PARIS


@proves(f"{ITEM}.content[].type")
@pytest.mark.parametrize("type", ["output_text", "refusal"])
def test_parts_of_an_answer(ask: Ask, type: str) -> None:
    written = [{"role": "assistant", "content": "capital"}, user("the")]
    in_parts = [{"role": "assistant", "content": [part(type)]}, user("the")]
    assert ask(input=in_parts).prompt_tokens == ask(input=written).prompt_tokens


@proves(f"{ITEM}.id", f"{ITEM}.type")
def test_a_reference_stands_for_a_stored_item(ask: Ask) -> None:
    (stored,) = ask.http.post("/responses", json={"model": "m", "input": "capital", "temperature": 0}).json()["output"]
    message, referred = {"role": "assistant", "content": PARIS}, {"type": "item_reference", "id": stored["id"]}
    counts = [ask(input=[user("capital"), item, user("hello")]).prompt_tokens for item in (message, referred)]
    assert counts[0] == counts[1]


@proves("responses.instructions", on="telling")
def test_instructions_stand_before_the_input(ask: Ask) -> None:
    assert ask("the", instructions="capital").text == PARIS


@proves(f"{ITEM}.encrypted_content", "responses.include")
def test_encrypted_reasoning_is_reasoning(ask: Ask) -> None:
    answer = ask("think", include=["reasoning.encrypted_content"], store=False)
    (thoughts,) = answer.items("reasoning")
    sealed, plain = ({"type": "reasoning", name: thoughts.get(name)} for name in ("encrypted_content", "content"))
    message = {"role": "assistant", "content": answer.text}
    counts = [ask(input=[user("think"), item, message, user("hello")]).prompt_tokens for item in (sealed, plain)]
    assert counts[0] == counts[1]
