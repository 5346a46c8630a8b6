"""Options that name a system, and what a shell completes of them."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("serve --dialect ol", ["ollama"]),
        ("spec --dialect s", ["sglang"]),
        ("spec drift --dialect mlc", ["mlc-llm"]),
        ("sdk python --dialect vl", ["vllm", "vllm@0.29"]),
        ("conform --dialect sp", ["specvino"]),
        ("conform parity --dialect fa", ["fastdeploy"]),
        ("conform --client co", ["codex", "continue"]),
    ],
)
def test_names_are_completed(line: str, completed: list[str]) -> None:
    words = f"specvino {line}"
    environment = {"_SPECVINO_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    run = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'specvino'; from specvino.cli import main; main()"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == completed
