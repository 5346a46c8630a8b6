"""mypy holds generated/ and everyone who uses it to the document."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HANDLERS = """
from collections.abc import AsyncGenerator

from specvino.generated import handlers, models, wire


class Models:
    async def list_models(self, context: handlers.RequestContext) -> handlers.Reply[wire.ModelList]:
        return handlers.Reply({"object": "list", "data": []})

    async def retrieve_model(self, context: handlers.RequestContext, model: str) -> handlers.Reply[wire.Model]:
        return handlers.Reply({"id": model, "object": "model", "created": 1, "owned_by": "specvino"})


served: handlers.ModelsHandlers = Models()
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy --strict beside a tree in which generated/ has its package's name."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "specvino").mkdir()
    (tree / "specvino" / "generated").symlink_to(ROOT / "generated")

    def run(*arguments, cwd=tree):
        options = ["--strict", "--explicit-package-bases", "--no-color-output", "--cache-dir", tree / "cache"]
        command = [sys.executable, "-m", "mypy", "--config-file=", *options, *arguments]
        environment = os.environ | {"MYPYPATH": str(tree)}
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)

    return run


def test_generated_is_strictly_typed(mypy) -> None:
    run = mypy("-p", "specvino.generated")
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_right_handler(mypy, tmp_path) -> None:
    (tmp_path / "served.py").write_text(HANDLERS)
    run = mypy("served.py", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("model: str", "model: bytes", "served:"),
        ("Reply[wire.ModelList]", "Reply[wire.Health]", "served:"),
        ("async def list_models", "def list_models", "served:"),
        ("retrieve_model", "retrieve", "served:"),
        ('"created": 1', '"created": "now"', "return handlers.Reply("),
    ],
)
def test_a_wrong_handler(mypy, tmp_path, right, wrong, line) -> None:
    text = HANDLERS.replace(right, wrong)
    (tmp_path / "served.py").write_text(text)
    run = mypy("served.py", cwd=tmp_path)
    number = max(n for n, text_line in enumerate(text.splitlines(), 1) if line in text_line)
    assert run.returncode == 1, run.stderr
    assert f"served.py:{number}: error: Incompatible types" in run.stdout
