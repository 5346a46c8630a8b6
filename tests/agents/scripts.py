"""What makes the scripted engine of a test server call a tool, and what shows that an agent used its result."""

import json
import re
from pathlib import Path

from support.examples import ADDRESS, ROOT

# A file holds the word, and an agent reads it there; the question is its second turn.
WORD = "pomegranate"
QUESTION = "What was it?"

# What the engine answers when it is asked for a place (python/place.py): a short text that the schema allows.
PLACE = {"city": "a", "unit": "celsius", "days": 1}


def settings(client: str, url: str) -> str:
    """The first block of a client's page in docs/agents, for the model of a server's address with /v1."""
    page = (ROOT / "docs" / "agents" / f"{client}.md").read_text("utf-8")
    (block, *_) = re.findall(r"^```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return block.replace(ADDRESS, url.removesuffix("/v1")).replace("my-model", "m")


def task(text: str, tool: str, **arguments: object) -> str:
    """A user's message whose answer is the text, and a call of the tool."""
    call = json.dumps({"name": tool, "arguments": arguments})
    return f"{text}\n<tool_call>\n{call}\n</tool_call>"


def write_word(folder: Path) -> Path:
    """A new file with the word."""
    file = folder / "fruit.txt"
    file.write_text(f"{WORD}\n")
    return file


def holds_first_turn(body: object) -> bool:
    """Whether the body of a request has the first turn before the second one's question: the call, its result, and the
    answer from it."""
    text = json.dumps(body)
    before, question, _ = text.rpartition(QUESTION)
    return bool(question) and before.count(WORD) >= 2
