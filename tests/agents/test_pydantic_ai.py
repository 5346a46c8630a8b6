"""pydantic-ai's agent on each API: the model calls a tool and answers with its result."""

import asyncio

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ToolCallPart, ToolReturnPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


@pytest.fixture
def asked():
    """The cities of the tool's calls."""
    return []


OPENAI = (AsyncOpenAI, "", lambda client: OpenAIProvider(openai_client=client))
ANTHROPIC = (AsyncAnthropic, "/v1", lambda client: AnthropicProvider(anthropic_client=client))


@pytest.fixture(
    params=[(OpenAIChatModel, *OPENAI), (OpenAIResponsesModel, *OPENAI), (AnthropicModel, *ANTHROPIC)],
    ids=["chat", "responses", "messages"],
)
def run(tiny_server, asked, request):
    """Runs a coroutine function on an agent that has the tool."""

    def get_weather(city: str) -> str:
        """the"""
        asked.append(city)
        return "sunny"

    async def on_agent(ask):
        model_class, client_class, path, provider = request.param
        async with client_class(base_url=tiny_server.url.removesuffix(path), api_key="none") as client:
            model = model_class("tiny", provider=provider(client))
            return await ask(Agent(model, tools=[get_weather], model_settings={"temperature": 0}))

    return lambda ask: asyncio.run(on_agent(ask))


def parts(result, kind):
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, kind)]


def test_a_tool_is_called_and_its_result_used(run, asked) -> None:
    async def ask(agent):
        return await agent.run("What is the weather in Rome?")

    result = run(ask)
    assert asked == ["Rome"]
    (call,) = parts(result, ToolCallPart)
    assert (call.tool_name, call.args_as_dict()) == ("get_weather", {"city": "Rome"})
    assert [returned.content for returned in parts(result, ToolReturnPart)] == ["sunny"]
    assert result.output == "It is sunny in Rome."
    assert result.usage.requests == 2


def test_the_same_streamed(run, asked) -> None:
    async def ask(agent):
        async with agent.run_stream("What is the weather in Tokyo?") as result:
            return [delta async for delta in result.stream_text(delta=True, debounce_by=None)]

    deltas = run(ask)
    assert asked == ["Tokyo"]
    assert len(deltas) > 1
    assert "".join(deltas) == "It is sunny in Tokyo."
