# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["crewai>=1.15.30"]
# ///
"""A crew of CrewAI with two tasks: one reads a file, the other one gets what it read. Prints a JSON object a line: what
happened."""

import json
import os
import sys
from pathlib import Path

# It stores memories in the user's data folder, and reports to its makers.
os.environ |= {"HOME": os.getcwd(), "CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from place import Place

url, task, question = sys.argv[1:]


@tool("read_file")
def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def shown(**values):
    print(json.dumps(values), flush=True)


llm = LLM(model="openai/m", base_url=url, api_key="none", temperature=0)
reader = Agent(role="Reader", goal="Read files", backstory="It reads.", llm=llm, tools=[read_file])
read = Task(description=task, expected_output="A word", agent=reader)
ask = Task(description=question, expected_output="A word", agent=reader, context=[read])
done = Crew(agents=[reader], tasks=[read, ask]).kickoff()
first, second = done.tasks_output
shown(job="read", text=first.raw)
shown(job="second turn", text=second.raw)
shown(job="object", object=llm.call(question, response_model=Place).model_dump())
