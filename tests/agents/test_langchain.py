"""LangChain's agent on chat completions, responses and messages: the model calls a tool and answers with its result."""

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@pytest.fixture(params=["chat", "responses", "messages"])
def model(tiny_server, request):
    settings = {"model": "tiny", "api_key": "none", "temperature": 0}
    if request.param == "messages":
        return ChatAnthropic(base_url=tiny_server.url.removesuffix("/v1"), max_tokens=512, **settings)
    return ChatOpenAI(base_url=tiny_server.url, use_responses_api=request.param == "responses", **settings)


@pytest.fixture
def asked():
    """The cities of the tool's calls."""
    return []


@pytest.fixture
def agent(model, asked):
    @tool
    def get_weather(city: str) -> str:
        """the"""
        asked.append(city)
        return "sunny"

    return create_agent(model, [get_weather])


def test_a_tool_is_called_and_its_result_used(agent, asked) -> None:
    state = agent.invoke({"messages": [("user", "What is the weather in Rome?")]})
    _, call, result, answer = state["messages"]
    assert asked == ["Rome"]
    assert [(made["name"], made["args"]) for made in call.tool_calls] == [("get_weather", {"city": "Rome"})]
    assert isinstance(result, ToolMessage)
    assert result.content == "sunny"
    assert answer.text == "It is sunny in Rome."
    assert answer.tool_calls == []


def test_the_same_streamed(agent, asked) -> None:
    question = {"messages": [("user", "What is the weather in Tokyo?")]}
    texts, calls = [], []
    for message, _ in agent.stream(question, stream_mode="messages"):
        if not isinstance(message, ToolMessage):
            texts.append(message.text)
            calls += message.tool_call_chunks
    assert asked == ["Tokyo"]
    assert [call["name"] for call in calls if call["name"]] == ["get_weather"]
    assert len(texts) > 3
    assert "".join(texts) == "It is sunny in Tokyo."
