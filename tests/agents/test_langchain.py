"""LangChain's agent on chat completions and on responses: the model calls a tool and answers with its result."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@pytest.fixture(params=[False, True], ids=["chat", "responses"])
def model(tiny_server, request):
    return ChatOpenAI(
        model="tiny", base_url=tiny_server.url, api_key="none", temperature=0, use_responses_api=request.param
    )


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
