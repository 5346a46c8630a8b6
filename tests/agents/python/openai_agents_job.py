# /// script
# requires-python = ">=3.11"
# dependencies = ["openai-agents>=0.24"]
# ///
"""An agent of OpenAI's Agents SDK, on responses and on chat completions. Prints a JSON object a line: what happened."""

import asyncio
import json
import sys
from pathlib import Path

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from place import Place

url, task, question = sys.argv[1:]
set_tracing_disabled(True)


@function_tool
def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def shown(**values):
    print(json.dumps(values), flush=True)


async def job(way, model):
    agent = Agent(name="reader", model=model, tools=[read_file], model_settings=ModelSettings(temperature=0))
    session = SQLiteSession("one")
    result = await Runner.run(agent, task, session=session)
    shown(way=way, job="read", text=result.final_output, items=[item.type for item in result.new_items])
    result = await Runner.run(agent, question, session=session)
    shown(way=way, job="second turn", text=result.final_output)

    stream = Runner.run_streamed(agent, task)
    raw = [event.data async for event in stream.stream_events() if event.type == "raw_response_event"]
    deltas = [event.delta for event in raw if event.type == "response.output_text.delta"]
    shown(way=way, job="stream", text=stream.final_output, deltas=deltas)

    placed = await Runner.run(Agent(name="placer", model=model, output_type=Place), question)
    shown(way=way, job="object", object=placed.final_output.model_dump())


async def main():
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        await job("responses", OpenAIResponsesModel("m", client))
        await job("chat", OpenAIChatCompletionsModel("m", client))


asyncio.run(main())
