# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "llama-index-core>=0.14.25",
#     "llama-index-llms-openai>=0.8.3",
#     "llama-index-llms-openai-like>=0.8.1",
# ]
# ///
"""LlamaIndex's agent workflow, on responses and on chat completions. Prints a JSON object a line: what happened."""

import asyncio
import json
import sys
from pathlib import Path

from llama_index.core.agent.workflow import AgentStream, FunctionAgent, ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index.llms.openai import OpenAIResponses
from llama_index.llms.openai_like import OpenAILike
from place import Place

url, task, question = sys.argv[1:]


def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def shown(**values):
    print(json.dumps(values), flush=True)


async def job(way, llm):
    agent = FunctionAgent(tools=[read_file], llm=llm)
    memory = Memory.from_defaults(session_id=way)
    run = agent.run(task, memory=memory)
    events = [event async for event in run.stream_events()]
    deltas = [event.delta for event in events if isinstance(event, AgentStream) and event.delta]
    results = [event.tool_output.content for event in events if isinstance(event, ToolCallResult)]
    shown(way=way, job="read", text=str(await run), deltas=deltas, results=results)
    shown(way=way, job="second turn", text=str(await agent.run(question, memory=memory)))

    answer = await llm.as_structured_llm(Place).achat([ChatMessage(question)])
    shown(way=way, job="object", object=answer.raw.model_dump())


async def main():
    settings = {"model": "m", "api_base": url, "api_key": "none", "temperature": 0, "max_retries": 0}
    await job("responses", OpenAIResponses(context_window=131_072, **settings))
    await job("chat", OpenAILike(is_chat_model=True, is_function_calling_model=True, **settings))


asyncio.run(main())
