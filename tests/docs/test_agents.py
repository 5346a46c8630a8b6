"""The page on agents names the versions that are tested, and links the pages of all clients."""

import json
import re
from pathlib import Path

from open_responses.test_suite import COMMIT
from support.examples import ROOT

PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
TESTS = ROOT / "tests" / "agents"
NODE: dict[str, str] = json.loads((TESTS / "node" / "package.json").read_text())["dependencies"]


def pinned(file: Path) -> dict[str, str]:
    return dict(line.split("==") for line in file.read_text().splitlines() if line.count("==") == 1)


PYTHON = pinned(ROOT / "constraints.txt")


def of_job(name: str, package: str) -> str:
    """The version of a package that a script of tests/agents/python is run with."""
    return pinned(TESTS / "python" / f"{name}_job.txt")[package]


TESTED = {
    "Codex CLI": NODE["@openai/codex"],
    "Claude Code": NODE["@anthropic-ai/claude-code"],
    "opencode": NODE["opencode-ai"],
    "Qwen Code": NODE["@qwen-code/qwen-code"],
    "Cline": NODE["cline"],
    "Continue": NODE["@continuedev/cli"],
    "aider": of_job("aider", "aider-chat"),
    "OpenAI's Agents SDK for Python": of_job("openai_agents", "openai-agents"),
    "OpenAI's Agents SDK for JavaScript": NODE["@openai/agents"],
    "LlamaIndex": of_job("llama_index", "llama-index-core"),
    "smolagents": PYTHON["smolagents"],
    "instructor": of_job("instructor", "instructor"),
    "CrewAI": of_job("crewai", "crewai"),
    "Anthropic's SDK for JavaScript": NODE["@anthropic-ai/sdk"],
    "Anthropic's SDK for Python": PYTHON["anthropic"],
    "AI SDK": NODE["ai"],
    "LangChain": PYTHON["langchain"],
    "pydantic-ai": PYTHON["pydantic-ai-slim"],
    "llm-comply": PYTHON["llm-comply"],
    "Open Responses' suite": COMMIT[:7],
}


ROWS = re.findall(r"^\| (?:\[([^|]+?)\]\(agents/([\w-]+\.md)\)|([^|]+?)) \| (\d[^|]*?) \|", PAGE, re.MULTILINE)


def test_the_versions_are_those_of_the_tests() -> None:
    assert {client or tool: version for client, _, tool, version in ROWS} == TESTED


def test_each_client_has_a_page() -> None:
    pages = [page for _, page, _, _ in ROWS if page]
    assert set(pages) == {path.name for path in (ROOT / "docs" / "agents").iterdir()}
