"""The official Python SDK's helpers on the default model: answers as objects, and tools from call to answer."""

from typing import Any, Literal

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

MODEL = "smollm2"
CITY = "Paris is the capital of France. It has two million inhabitants. Describe it as JSON."
WEATHER = "What is the weather in Paris?"
GREEDY: dict[str, Any] = {"model": MODEL, "temperature": 0}


class City(BaseModel):
    """A city of a country."""

    name: str
    country: str
    size: Literal["small", "large"]


class GetWeather(BaseModel):
    """The current weather of a city."""

    city: Literal["Paris", "Rome"]


class GetTime(BaseModel):
    """The time of day in a city."""

    city: Literal["Paris", "Rome"]


@pytest.fixture
def client(default_server):
    with OpenAI(base_url=default_server.url, api_key="none", max_retries=0) as client:
        yield client


def messages(text):
    return [{"role": "user", "content": text}]


def weather(city):
    return f"It is sunny in {city}, at 21 degrees"


def test_a_chat_is_parsed(client) -> None:
    answer = client.chat.completions.parse(**GREEDY, messages=messages(CITY), response_format=City, max_tokens=200)
    assert answer.choices[0].finish_reason == "stop"
    city = answer.choices[0].message.parsed
    assert isinstance(city, City)
    assert "Paris" in city.name

    asked = {"messages": messages(CITY), "response_format": City, "max_tokens": 200}
    with client.chat.completions.stream(**GREEDY, **asked) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    (done,) = [event for event in events if event.type == "content.done"]
    deltas = [event for event in events if event.type == "content.delta"]
    assert len(deltas) > 5
    assert deltas[-1].snapshot == done.content == answer.choices[0].message.content
    assert done.parsed == final.choices[0].message.parsed == city


def test_a_response_is_parsed(client) -> None:
    answer = client.responses.parse(**GREEDY, input=CITY, text_format=City, max_output_tokens=200)
    assert answer.status == "completed"
    city = answer.output_parsed
    assert isinstance(city, City)
    assert "Paris" in city.name

    with client.responses.stream(**GREEDY, input=CITY, text_format=City, max_output_tokens=200) as stream:
        events = list(stream)
        final = stream.get_final_response()
    (done,) = [event for event in events if event.type == "response.output_text.done"]
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == done.text
    assert done.text == answer.output_text
    assert final.output_parsed == city


def test_an_answer_cut_short_is_no_object(client) -> None:
    with pytest.raises(openai.LengthFinishReasonError) as caught:
        client.chat.completions.parse(**GREEDY, messages=messages(CITY), response_format=City, max_tokens=3)
    assert caught.value.completion.choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "GetWeather"}}], ids=["required", "named"]
)
def test_a_tool_of_a_chat_from_call_to_answer(client, choice) -> None:
    tools = [openai.pydantic_function_tool(GetWeather), openai.pydantic_function_tool(GetTime)]
    asked = GREEDY | {"messages": messages(WEATHER), "tools": tools, "max_tokens": 300, "parallel_tool_calls": False}
    answer = client.chat.completions.parse(**asked, tool_choice=choice)
    assert answer.choices[0].finish_reason == "tool_calls"
    message = answer.choices[0].message
    (call,) = message.tool_calls
    assert isinstance(call.function.parsed_arguments, GetWeather if choice != "required" else GetWeather | GetTime)

    with client.chat.completions.stream(**asked, tool_choice=choice) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    (done,) = [event for event in events if event.type == "tool_calls.function.arguments.done"]
    deltas = [event for event in events if event.type == "tool_calls.function.arguments.delta"]
    assert "".join(event.arguments_delta for event in deltas) == done.arguments == call.function.arguments
    assert (done.name, done.parsed_arguments) == (call.function.name, call.function.parsed_arguments)
    assert final.choices[0].message.tool_calls[0].function.parsed_arguments == call.function.parsed_arguments
    assert final.choices[0].finish_reason == "tool_calls"

    result = {"role": "tool", "tool_call_id": call.id, "content": weather(call.function.parsed_arguments.city)}

    def observed(result):
        fields = asked | {"messages": [*asked["messages"], message, result], "max_tokens": 16}
        return client.chat.completions.create(**fields, tool_choice="none")

    last = observed(result)
    assert last.choices[0].finish_reason in ("stop", "length")
    assert last.choices[0].message.tool_calls is None
    short = observed(result | {"content": "Rain"})
    more = len(tokens(client, result["content"])) - len(tokens(client, "Rain"))
    assert last.usage.prompt_tokens - short.usage.prompt_tokens == more


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "GetWeather"}], ids=["required", "named"])
def test_a_tool_of_a_response_from_call_to_answer(client, choice) -> None:
    tools = [openai.pydantic_function_tool(GetWeather), openai.pydantic_function_tool(GetTime)]
    asked = GREEDY | {"tools": tools, "max_output_tokens": 100, "parallel_tool_calls": False}
    answer = client.responses.parse(**asked, input=WEATHER, tool_choice=choice)
    assert answer.status == "completed"
    (call,) = answer.output
    assert call.type == "function_call"
    assert isinstance(call.parsed_arguments, GetWeather if choice != "required" else GetWeather | GetTime)

    with client.responses.stream(**asked, input=WEATHER, tool_choice=choice) as stream:
        events = list(stream)
        final = stream.get_final_response()
    deltas = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    (done,) = [event for event in events if event.type == "response.function_call_arguments.done"]
    assert "".join(deltas) == done.arguments == call.arguments
    assert [(item.name, item.parsed_arguments) for item in final.output] == [(call.name, call.parsed_arguments)]

    result = {
        "type": "function_call_output",
        "call_id": call.call_id,
        "output": weather(call.parsed_arguments.city),
    }

    after = asked | {"max_output_tokens": 16}

    def observed(result):
        return client.responses.parse(**after, input=[*messages(WEATHER), call, result], tool_choice="none")

    short, _, last = (observed(result | {"output": output}) for output in ("Rain", result["output"], result["output"]))
    more = len(tokens(client, result["output"])) - len(tokens(client, "Rain"))
    assert last.usage.input_tokens - short.usage.input_tokens == more
    follow = {"input": [result], "previous_response_id": answer.id}
    continued = client.responses.parse(**after, **follow, tool_choice="none")
    # Not with the first: what the prefix cache has of a prompt changes its logprobs a little (docs/decisions/050).
    assert continued.output_text == last.output_text


def tokens(client, text):
    """Their number shows that a prompt has a text whole; what so small a model makes of it differs by machine."""
    asked = {"model": MODEL, "text": text, "add_special_tokens": False}
    return client.post("/tokenize", body=asked, cast_to=dict[str, list[int]])["tokens"]
