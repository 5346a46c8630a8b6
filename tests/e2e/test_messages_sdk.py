"""The Messages API with Anthropic's official Python SDK and its helpers, on the tiny model."""

import base64
from typing import Any

import pydantic
import pytest
from support.images import file
from support.serving_here import serving_here

QUESTION = [{"role": "user", "content": "weather Rome"}]
TOOL = {
    "name": "get_weather",
    "description": "the",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
# The SDK has no temperature (anthropic 2.14.0).
GREEDY = {"temperature": 0}
ASKING = {"model": "tiny", "max_tokens": 512, "extra_body": GREEDY}


@pytest.fixture(scope="module")
def anthropic():
    """The SDK, which takes three seconds to import: every worker imports this file, and one runs it."""
    import anthropic

    return anthropic


@pytest.fixture(scope="module")
def client(anthropic, tiny_server):
    with anthropic.Anthropic(base_url=tiny_server.url.removesuffix("/v1"), api_key="none", max_retries=0) as client:
        yield client


def test_a_message(client) -> None:
    message = client.messages.create(**ASKING, messages=[{"role": "user", "content": "capital"}], system="be brief")
    assert [block.text for block in message.content] == ["The capital of France is Paris."]
    assert (message.stop_reason, message.stop_sequence) == ("end_turn", None)
    assert message.usage.output_tokens > 0


def test_a_stream(client) -> None:
    with client.messages.stream(**ASKING, messages=[{"role": "user", "content": "emoji"}]) as stream:
        texts = list(stream.text_stream)
        message = stream.get_final_message()
    assert len(texts) > 1
    assert "".join(texts) == message.content[0].text == "你好 🎉 café!"
    assert message.stop_reason == "end_turn"


def test_reasoning_in_a_stream(client) -> None:
    with client.messages.stream(**ASKING, messages=[{"role": "user", "content": "think"}]) as stream:
        kinds = {event.type for event in stream}
        thinking, text = stream.get_final_message().content
    assert {"thinking", "signature", "text", "content_block_stop", "message_stop"} <= kinds
    assert (thinking.type, text.text) == ("thinking", "The answer is 4.")
    assert thinking.signature


def test_the_input_of_a_call_is_accumulated(client) -> None:
    with client.messages.stream(**ASKING, messages=QUESTION, tools=[TOOL]) as stream:
        pieces = [event.partial_json for event in stream if event.type == "input_json"]
        (call,) = stream.get_final_message().content
    assert "".join(pieces) == '{"city": "Rome"}'
    assert (call.name, call.input) == ("get_weather", {"city": "Rome"})


def test_the_tool_runner(anthropic, client) -> None:
    """It first asks for a thread, and then sends the whole conversation, as this server refuses that."""
    asked = []

    def get_weather(city: str) -> str:
        """the"""
        asked.append(city)
        return "sunny"

    tools = [anthropic.beta_tool(get_weather)]
    final = client.beta.messages.tool_runner(**ASKING, messages=QUESTION, tools=tools).until_done()
    assert asked == ["Rome"]
    assert [block.text for block in final.content] == ["It is sunny in Rome."]


class Place(pydantic.BaseModel):
    city: str
    population: int


def test_a_structured_output(client) -> None:
    message = client.messages.parse(**ASKING, messages=[{"role": "user", "content": "json"}], output_format=Place)
    assert isinstance(message.parsed_output, Place)


def test_tokens_are_counted(client) -> None:
    counted = client.messages.count_tokens(model="tiny", messages=QUESTION, tools=[TOOL])
    message = client.messages.create(**ASKING, messages=QUESTION, tools=[TOOL])
    assert counted.input_tokens == message.usage.input_tokens


def test_errors_have_their_classes(anthropic, client) -> None:
    messages = [{"role": "user", "content": "hello"}]
    with pytest.raises(anthropic.NotFoundError) as unknown:
        client.messages.create(model="claude", max_tokens=5, messages=messages)
    assert "not_found_error" in str(unknown.value.body)
    with pytest.raises(anthropic.BadRequestError, match="temperature is 3"):
        client.messages.create(model="tiny", max_tokens=5, messages=messages, extra_body={"temperature": 3})


def test_a_wrong_key_is_an_error_of_its_class(anthropic) -> None:
    with (
        serving_here("--engine", "scripted", env={"SPECVINO_API_KEY": "sk-right"}) as server,
        anthropic.Anthropic(base_url=server.url.removesuffix("/v1"), api_key="sk-wrong", max_retries=0) as client,
        pytest.raises(anthropic.AuthenticationError) as refused,
    ):
        client.messages.create(model="scripted", max_tokens=5, messages=[{"role": "user", "content": "hello"}])
    assert "authentication_error" in str(refused.value.body)


def test_models_are_listed(client) -> None:
    """The path is OpenAI's, whose objects have other fields; the id is the same."""
    assert "tiny" in [model.id for model in client.models.list().data]


@pytest.fixture(scope="module")
def seeing_client(anthropic, tiny_vision):
    with (
        serving_here(str(tiny_vision.path), "--served-model-name", "tiny") as server,
        anthropic.Anthropic(base_url=server.url.removesuffix("/v1"), api_key="none", max_retries=0) as client,
    ):
        yield client


COLOUR = {"type": "text", "text": "What colour is this?"}
IMAGE_TOKENS = 6
"""Of an image of the tiny model, with the marks around it."""


def an_image() -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(file("blue")).decode()}
    return {"type": "image", "source": source}


def test_an_image(seeing_client) -> None:
    messages = [{"role": "user", "content": [an_image(), COLOUR]}]
    answer = seeing_client.messages.create(model="tiny", max_tokens=64, extra_body=GREEDY, messages=messages)
    assert answer.content[0].text == "The image is blue."


def test_an_image_in_a_result(seeing_client) -> None:
    """The image is in the prompt once; the model, which has seen none in a result, says "blue and blue"."""

    def answer(*parts):
        call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
        messages = [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": parts}]},
        ]
        return seeing_client.messages.create(model="tiny", max_tokens=64, extra_body=GREEDY, messages=messages)

    blind, seeing = answer(COLOUR), answer(an_image(), COLOUR)
    assert blind.content[0].text == "No image."
    assert "blue" in seeing.content[0].text
    assert seeing.usage.input_tokens - blind.usage.input_tokens == IMAGE_TOKENS
