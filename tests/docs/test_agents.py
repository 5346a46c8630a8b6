"""The page on agents names the versions that are tested."""

import json
import re
from pathlib import Path

from open_responses.test_suite import COMMIT
from support.examples import ROOT

PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
NODE: dict[str, str] = json.loads((ROOT / "tests" / "agents" / "node" / "package.json").read_text())["dependencies"]
PINNED = Path(ROOT, "constraints.txt").read_text().splitlines()
PYTHON = dict(line.split("==") for line in PINNED if line.count("==") == 1)

TESTED = {
    "Codex CLI": NODE["@openai/codex"],
    "Claude Code": NODE["@anthropic-ai/claude-code"],
    "Anthropic's SDK for JavaScript": NODE["@anthropic-ai/sdk"],
    "Anthropic's SDK for Python": PYTHON["anthropic"],
    "AI SDK": NODE["ai"],
    "LangChain": PYTHON["langchain"],
    "pydantic-ai": PYTHON["pydantic-ai-slim"],
    "llm-comply": PYTHON["llm-comply"],
    "Open Responses' suite": COMMIT[:7],
}


def test_the_versions_are_those_of_the_tests() -> None:
    rows = re.findall(r"^\| ([^|]+?) \| (\d[^|]*?) \|", PAGE, re.MULTILINE)
    assert dict(rows) == TESTED
