"""Tools with the official Python SDK's own helpers: on the tiny model, and forced on the default one."""

import json

import openai
import pydantic
import pytest
from openai import OpenAI

MODEL = "smollm2"


class GetWeather(pydantic.BaseModel):
    """The weather of a city."""

    city: str = pydantic.Field(max_length=20)
    days: int = pydantic.Field(ge=1, le=7)


class get_weather(pydantic.BaseModel):
    city: str


CHAT_TOOL = openai.pydantic_function_tool(get_weather, description="the")
RESPONSE_TOOL = {"type": "function", **CHAT_TOOL["function"]}
ASKED = {"role": "user", "content": "weather Rome"}


@pytest.fixture(scope="module")
def tiny(tiny_server):
    with OpenAI(base_url=tiny_server.url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def default(default_server):
    with OpenAI(base_url=default_server.url, api_key="none", max_retries=0) as client:
        yield client


def test_chat_s_accumulator(tiny) -> None:
    arguments = []
    with tiny.chat.completions.stream(model="tiny", messages=[ASKED], tools=[CHAT_TOOL], temperature=0) as stream:
        for event in stream:
            if event.type == "tool_calls.function.arguments.delta":
                arguments.append(event.arguments_delta)
        (choice,) = stream.get_final_completion().choices
    (call,) = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls"
    assert call.function.parsed_arguments == get_weather(city="Rome")
    assert "".join(arguments) == call.function.arguments == '{"city": "Rome"}'


def test_responses_accumulator(tiny) -> None:
    with tiny.responses.stream(model="tiny", input=[ASKED], tools=[RESPONSE_TOOL], temperature=0) as stream:
        deltas = [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]
        response = stream.get_final_response()
    (call,) = response.output
    assert (call.type, call.name, call.status) == ("function_call", "get_weather", "completed")
    assert "".join(deltas) == call.arguments == '{"city": "Rome"}'


def test_the_loop_in_chat(tiny) -> None:
    fields = {"model": "tiny", "tools": [CHAT_TOOL], "temperature": 0}
    called = tiny.chat.completions.create(messages=[ASKED], **fields).choices[0].message
    result = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "sunny"}
    answer = tiny.chat.completions.create(messages=[ASKED, called, result], **fields).choices[0]
    assert (answer.message.content, answer.finish_reason) == ("It is sunny in Rome.", "stop")


def test_the_loop_in_responses(tiny) -> None:
    fields = {"model": "tiny", "tools": [RESPONSE_TOOL], "temperature": 0}
    first = tiny.responses.create(input=[ASKED], **fields)
    result = {"type": "function_call_output", "call_id": first.output[0].call_id, "output": "sunny"}
    assert tiny.responses.create(input=[ASKED, *first.output, result], **fields).output_text == "It is sunny in Rome."


@pytest.mark.parametrize("summary", ["auto", None])
def test_reasoning(tiny, summary) -> None:
    with tiny.responses.stream(model="tiny", input="think", temperature=0, reasoning={"summary": summary}) as stream:
        kinds = {event.type for event in stream}
        response = stream.get_final_response()
    reasoning, message = response.output
    parts, other = (reasoning.summary, reasoning.content) if summary else (reasoning.content, reasoning.summary)
    assert ([part.text for part in parts], other) == (["Let me see. Two plus two is four."], [])
    assert ("response.reasoning_summary_text.delta" in kinds) == bool(summary)
    assert message.content[0].text == response.output_text == "The answer is 4."


def test_a_strict_tool_that_must_be_called(default) -> None:
    tool = openai.pydantic_function_tool(GetWeather)
    completion = default.chat.completions.parse(
        model=MODEL,
        messages=[{"role": "user", "content": "How will the weather be in Paris tomorrow?"}],
        tools=[tool],
        tool_choice={"type": "function", "function": {"name": "GetWeather"}},
        temperature=0,
    )
    (call,) = completion.choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, GetWeather)
    assert completion.choices[0].finish_reason == "tool_calls"


def test_a_whole_loop_on_a_model_that_knows_no_tools(default) -> None:
    """It can be forced to call, and reads the result."""
    tool = {"type": "function", **openai.pydantic_function_tool(GetWeather)["function"]}
    asked = {"role": "user", "content": "How will the weather be in Paris tomorrow?"}
    fields = {"model": MODEL, "tools": [tool], "temperature": 0, "max_output_tokens": 120}
    with default.responses.stream(input=[asked], tool_choice="required", parallel_tool_calls=False, **fields) as stream:
        for _ in stream:
            pass
        first = stream.get_final_response()
    (call,) = first.output
    GetWeather.model_validate_json(call.arguments)
    result = {"type": "function_call_output", "call_id": call.call_id, "output": json.dumps({"sky": "sunny"})}
    raw = default.responses.with_raw_response.create(input=[asked, *first.output, result], **fields)
    assert raw.parse().output_text
    assert raw.headers["x-unsupported-params"] == "tools"


CITY = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}
TWO = [
    {"type": "function", "name": "get_weather", "description": "The weather of a city.", "parameters": CITY},
    {"type": "function", "name": "get_time", "description": "The time in a city.", "parameters": CITY},
]


@pytest.mark.parametrize("question", ["What time is it in Rome?", "How will the weather be in Paris?"])
def test_forced_calls_of_a_model_that_knows_no_tools_come_to_an_end(default, question) -> None:
    """Left alone it would repeat one call until the limit."""
    nested = [{"type": "function", "function": {key: tool[key] for key in tool if key != "type"}} for tool in TWO]
    fields = {"model": MODEL, "tool_choice": "required", "temperature": 0}
    asked = [{"role": "user", "content": question}]
    completion = default.chat.completions.create(messages=asked, tools=nested, max_tokens=400, **fields)
    (choice,) = completion.choices
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    made = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert 1 <= len(made) == len(set(made))
    assert completion.usage.completion_tokens < 400
    response = default.responses.create(input=asked, tools=TWO, max_output_tokens=400, **fields)
    assert response.status == "completed"
    assert {item.type for item in response.output} == {"function_call"}
