"""What the engine is asked, and what is refused."""

import pytest

from specvino.engine.request import Conversation, Message
from specvino.generated.models import CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.items import read
from specvino.handlers.responses.request import to_generation_request


def convert(**fields):
    body = CreateResponseRequest.model_validate({"model": "m", "input": "hi", **fields})
    return to_generation_request(body, {})


def refusal(**fields):
    with pytest.raises(ApiError) as error:
        convert(**fields)
    return error.value.code, error.value.param


def test_instructions_stand_first():
    messages = (Message("system", "be brief"), Message("user", "hi"))
    assert convert(instructions="be brief").prompts == (Conversation(messages),)
    for nothing in (None, ""):
        assert convert(instructions=nothing).prompts == (Conversation((Message("user", "hi"),)),)


def test_settings():
    request = convert(max_output_tokens=7, temperature=0, stop="x", seed=3)
    assert (request.n, request.sampling.max_tokens, request.sampling.stop, request.sampling.seed) == (1, 7, ("x",), 3)


def test_what_the_input_continues_stands_between_instructions_and_input():
    body = CreateResponseRequest.model_validate({"model": "m", "input": "and?", "instructions": "be brief"})
    earlier = read([{"type": "message", "id": "msg_1", "role": "user", "content": "hi"}])
    (prompt,) = to_generation_request(body, {}, earlier).prompts
    assert prompt == Conversation((Message("system", "be brief"), Message("user", "hi"), Message("user", "and?")))


def test_an_input_of_which_nothing_is_left():
    assert refusal(input=[{"type": "item_reference", "id": "msg_1"}]) == ("invalid_prompt", "input")
