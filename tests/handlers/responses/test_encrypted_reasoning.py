"""Reasoning leaves encrypted, and comes back."""

import asyncio

import pytest
from support.response_events import correct, numbered
from support.segments import one_by_one

from specvino.generated.models import InputMessage, InputReasoning
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.encrypted_reasoning import decrypted, encrypted
from specvino.handlers.responses.request import read

CIPHER = Cipher()


async def generated(events):
    async for event in one_by_one(events):
        yield event


def encrypt_all(events):
    async def collect():
        return [event async for event in encrypted(generated(events), CIPHER)]

    return asyncio.run(collect())


def reasoning(item):
    return "\n".join(part.text for part in item.content)


def test_a_finished_item_and_the_whole_hold_one_seal_of_the_reasoning() -> None:
    events = encrypt_all(numbered(correct()))
    (done,) = [
        e["item"] for e in events if e["type"] == "response.output_item.done" and e["item"]["type"] == "reasoning"
    ]
    (whole,) = [item for item in events[-1]["response"]["output"] if item["type"] == "reasoning"]
    assert done == whole
    clear = "\n".join(part["text"] for part in done["content"] or done["summary"])
    assert clear
    assert CIPHER.decrypt(done["encrypted_content"]) == clear
    assert [{**event, "item": 0, "response": 0} for event in events] == [
        {**event, "item": 0, "response": 0} for event in numbered(correct())
    ]
    (back,) = read([{**done, "content": None, "summary": []}])
    assert reasoning(decrypted(back, "input.0", CIPHER)) == clear


def test_what_is_in_clear_counts() -> None:
    part = {"type": "reasoning_text", "text": "clear"}
    item = InputReasoning.model_validate(
        {"type": "reasoning", "content": [part], "encrypted_content": CIPHER.encrypt("encrypted")}
    )
    assert reasoning(decrypted(item, "input.0", CIPHER)) == "clear"


@pytest.mark.parametrize("content", [None, [{"type": "reasoning_text", "text": "clear"}]])
def test_what_another_key_encrypted(content) -> None:
    item = InputReasoning.model_validate(
        {"type": "reasoning", "content": content, "encrypted_content": Cipher().encrypt("x")}
    )
    with pytest.raises(ApiError) as caught:
        decrypted(item, "input.3.encrypted_content", CIPHER)
    assert (caught.value.code, caught.value.param) == ("invalid_encrypted_content", "input.3.encrypted_content")


def test_other_items_are_left_alone() -> None:
    message = InputMessage(role="user", content="hi")
    empty = InputReasoning(type="reasoning", encrypted_content=None)
    assert decrypted(message, "input.0", CIPHER) is message
    assert decrypted(empty, "input.0", CIPHER) is empty
