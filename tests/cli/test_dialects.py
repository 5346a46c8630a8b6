"""Options that name a system, and what a shell completes of these and other names."""

import os
import subprocess
import sys
from pathlib import Path

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
        ("spec explain chat.temp", ["chat.temperature", "chat.temp_scaled_logprobs"]),
        ("models rm smol", ["smollm2-9.9"]),
    ],
)
def test_names_are_completed(line: str, completed: list[str], tmp_path: Path) -> None:
    (tmp_path / "smollm2-9.9").mkdir()
    (tmp_path / "smollm2-9.9" / "SHA256SUMS").touch()
    words = f"specvino {line}"
    environment = {"_SPECVINO_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    environment["SPECVINO_CACHE"] = str(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'specvino'; from specvino.cli import main; main()"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == completed
