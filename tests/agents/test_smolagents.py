"""smolagents' two kinds of agents on chat completions: one calls tools, the other one writes code that calls them."""

import json

import pytest
from agents.scripts import QUESTION, WORD, holds_first_turn, write_word
from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool


@pytest.fixture
def settings(recorded):
    """Of an agent's model."""
    url, _ = recorded
    return {"model_id": "m", "api_base": url, "api_key": "none", "temperature": 0}


@pytest.fixture
def read_file(tmp_path):
    """A tool that reads a file with the word."""
    file = write_word(tmp_path)

    @tool
    def read_file() -> str:
        """Reads a text file."""
        return file.read_text()

    return read_file


def test_an_agent_calls_a_tool(settings, read_file, recorded) -> None:
    """After its last step, the agent asks for an answer from what it knows: the engine repeats that."""
    model = OpenAIModel(**settings, parallel_tool_calls=False)
    agent = ToolCallingAgent(tools=[read_file], model=model, max_steps=1, verbosity_level=0)
    answer = agent.run("Please read it.")
    _, step, _ = agent.memory.steps
    assert [(call.name, call.arguments) for call in step.tool_calls] == [("read_file", {})]
    assert WORD in step.observations
    assert WORD in answer
    _, (forced, final) = recorded
    assert forced["tool_choice"] == "required"
    assert WORD in json.dumps(final)


def test_an_agent_writes_code(settings, read_file, recorded) -> None:
    agent = CodeAgent(tools=[read_file], model=OpenAIModel(**settings), max_steps=1, verbosity_level=0)
    code = "word = read_file()\nprint(word)\nfinal_answer(word)"
    assert agent.run(f"Please read it.\n<code>\n{code}\n</code>") == f"{WORD}\n"
    # There is no code in the second turn's step, so the engine repeats the question, as above.
    assert QUESTION in agent.run(QUESTION, reset=False)
    _, bodies = recorded
    assert holds_first_turn(bodies[1])
