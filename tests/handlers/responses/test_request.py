"""The conversation and the settings that the engine gets for a response, and refusals."""

import pytest

from specvino.engine.request import Message
from specvino.generated.models import CreateResponseRequest
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.compaction import opened
from specvino.handlers.responses.conversation import to_conversation
from specvino.handlers.responses.request import read, request_fields
from specvino.handlers.sampling import sampling


def body(**fields):
    return CreateResponseRequest.model_validate({"model": "m", "input": "hi", **fields})


def converted(earlier=(), **fields):
    request = body(**fields)
    return [draft.message for draft in to_conversation(request, opened(earlier, request.input, Cipher()))]


def test_instructions_stand_first() -> None:
    assert converted(instructions="be brief") == [Message("system", "be brief"), Message("user", "hi")]
    for nothing in (None, ""):
        assert converted(instructions=nothing) == [Message("user", "hi")]


def test_settings() -> None:
    fields = request_fields(body(max_output_tokens=7, temperature=0, stop="x", seed=3))
    settings = sampling(fields.body, {})
    assert (settings.max_tokens, settings.stop, settings.seed) == (7, ("x",), 3)


def test_what_the_input_continues_stands_between_instructions_and_input() -> None:
    earlier = read([{"type": "message", "id": "msg_1", "role": "user", "content": "hi"}])
    messages = converted(earlier, input="and?", instructions="be brief")
    assert messages == [Message("system", "be brief"), Message("user", "hi"), Message("user", "and?")]


def test_an_input_of_which_nothing_is_left() -> None:
    with pytest.raises(ApiError) as error:
        converted(input=[{"type": "additional_tools", "tools": []}])
    assert (error.value.code, error.value.param) == ("empty_prompt", "input")
