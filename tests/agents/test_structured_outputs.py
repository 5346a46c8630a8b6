"""Structured outputs and forced calls of ordinary clients, on the default model: none is refused, and each gets what it
asked for, however little the model knows of calls."""

import asyncio
from typing import Literal

import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI, pydantic_function_tool
from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from support.serving import serving

QUESTION = "What is the weather in Paris, in celsius, for 3 days?"
MOST_TOKENS = 300
RESPONSES = pytest.mark.parametrize("responses", [False, True], ids=["chat", "responses"])


class Place(BaseModel):
    """The weather of the next days."""

    city: str = Field(min_length=1, max_length=40)
    unit: Literal["celsius", "fahrenheit"]
    days: int = Field(ge=1, le=9)


class Clock(BaseModel):
    """The time in a city."""

    city: str


TOOLS = {"Place": Place, "Clock": Clock}


@pytest.fixture(scope="module")
def server(smollm2):
    with serving(str(smollm2.path), "--served-model-name", "m") as server:
        yield server


@pytest.fixture
def client(server):
    with OpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
        yield client


def test_openai_parses_a_model(client) -> None:
    messages = [{"role": "user", "content": QUESTION}]
    completion = client.chat.completions.parse(
        model="m", messages=messages, response_format=Place, max_tokens=MOST_TOKENS, temperature=0
    )
    assert isinstance(completion.choices[0].message.parsed, Place)
    response = client.responses.parse(
        model="m", input=QUESTION, text_format=Place, max_output_tokens=MOST_TOKENS, temperature=0
    )
    assert isinstance(response.output_parsed, Place)


def test_openai_forces_a_call(client) -> None:
    """Strict as the SDK makes it, and in parallel, as is the default."""
    completion = client.chat.completions.parse(
        model="m",
        messages=[{"role": "user", "content": QUESTION}],
        tools=[pydantic_function_tool(tool) for tool in TOOLS.values()],
        tool_choice="required",
        max_tokens=MOST_TOKENS,
        temperature=0,
    )
    (choice,) = completion.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert all(isinstance(call.function.parsed_arguments, Place | Clock) for call in choice.message.tool_calls)


@RESPONSES
@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
def test_langchain_structured_output(server, method, responses) -> None:
    model = ChatOpenAI(
        model="m", base_url=server.url, api_key="none", temperature=0, max_tokens=MOST_TOKENS, max_retries=0,
        use_responses_api=responses,
    )  # fmt: skip
    answer = model.with_structured_output(Place, method=method, include_raw=True).invoke(QUESTION)
    # In JSON mode no schema reaches the server.
    assert method == "json_mode" or isinstance(answer["parsed"], Place), answer


@RESPONSES
def test_langchain_forces_a_call(server, responses) -> None:
    @tool
    def get_weather(city: str, unit: Literal["celsius", "fahrenheit"]) -> str:
        """The weather."""
        return "sunny"

    model = ChatOpenAI(
        model="m", base_url=server.url, api_key="none", temperature=0, max_tokens=MOST_TOKENS, max_retries=0,
        use_responses_api=responses,
    )  # fmt: skip
    message = model.bind_tools([get_weather], tool_choice="any").invoke(QUESTION)
    assert message.tool_calls
    assert not message.invalid_tool_calls
    assert all(get_weather.invoke(call["args"]) == "sunny" for call in message.tool_calls)


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAIResponsesModel], ids=["chat", "responses"])
@pytest.mark.parametrize("output", [NativeOutput, ToolOutput], ids=["native", "tool"])
def test_pydantic_ai_output(server, kind, output) -> None:
    async def run():
        async with AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
            model = kind("m", provider=OpenAIProvider(openai_client=client))
            settings = {"temperature": 0, "max_tokens": MOST_TOKENS}
            return await Agent(model, output_type=output(Place), model_settings=settings).run(QUESTION)

    assert isinstance(asyncio.run(run()).output, Place)


@pytest.fixture(scope="module")
def ai_sdk(server, run_script):
    """What came of each way and job."""
    return {(line["way"], line["job"]): line for line in run_script("structured.mjs", server.url, "m")}


@pytest.mark.parametrize("way", ["responses", "chat", "compatible", "anthropic"])
def test_the_ai_sdk(ai_sdk, way) -> None:
    Place.model_validate(ai_sdk[way, "object"]["object"])
    for job in ("call", "stream"):
        answer = ai_sdk[way, job]
        assert answer["finishReason"] == "tool-calls"
        assert answer["calls"]
        for name, arguments in answer["calls"]:
            {"get_weather": Place, "get_time": Clock}[name].model_validate(arguments)
