"""Thoughts leave sealed, and come back."""

import asyncio

import pytest
from support.response_events import correct, numbered
from support.segments import one_by_one

from specvino.generated.models import InputMessage, InputReasoning
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.items import read
from specvino.handlers.responses.sealed import opened, sealed
from specvino.handlers.sealing import Sealer

SEALER = Sealer()


async def generated(events):
    async for event in one_by_one(events):
        yield event


def seal_all(events):
    async def collect():
        return [event async for event in sealed(generated(events), SEALER)]

    return asyncio.run(collect())


def thoughts(item):
    return "\n".join(part.text for part in item.content)


def test_a_finished_item_and_the_whole_hold_one_seal_of_the_thoughts():
    events = seal_all(numbered(correct()))
    (done,) = [
        e["item"] for e in events if e["type"] == "response.output_item.done" and e["item"]["type"] == "reasoning"
    ]
    (whole,) = [item for item in events[-1]["response"]["output"] if item["type"] == "reasoning"]
    assert done == whole
    clear = "\n".join(part["text"] for part in done["content"] or done["summary"])
    assert clear
    assert SEALER.open(done["encrypted_content"]) == clear
    assert [{**event, "item": 0, "response": 0} for event in events] == [
        {**event, "item": 0, "response": 0} for event in numbered(correct())
    ]
    (back,) = read([{**done, "content": None, "summary": []}])
    assert thoughts(opened(back, "input.0", SEALER)) == clear


def test_what_is_in_clear_counts():
    part = {"type": "reasoning_text", "text": "clear"}
    item = InputReasoning.model_validate(
        {"type": "reasoning", "content": [part], "encrypted_content": SEALER.seal("sealed")}
    )
    assert thoughts(opened(item, "input.0", SEALER)) == "clear"


@pytest.mark.parametrize("content", [None, [{"type": "reasoning_text", "text": "clear"}]])
def test_a_foreign_seal(content):
    item = InputReasoning.model_validate(
        {"type": "reasoning", "content": content, "encrypted_content": Sealer().seal("x")}
    )
    with pytest.raises(ApiError) as caught:
        opened(item, "input.3", SEALER)
    assert (caught.value.code, caught.value.param) == ("invalid_encrypted_content", "input.3.encrypted_content")


def test_other_items_are_left_alone():
    message = InputMessage(role="user", content="hi")
    unsealed = InputReasoning(type="reasoning", encrypted_content=None)
    assert opened(message, "input.0", SEALER) is message
    assert opened(unsealed, "input.0", SEALER) is unsealed
