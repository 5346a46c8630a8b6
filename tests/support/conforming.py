"""`specvino conform` as its users call it, and servers for it."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

from typer.testing import CliRunner, Result

from specvino.cli import main
from support.raw_server import answer, chat

PLAIN = {"COLUMNS": "200", "SPECVINO_API_KEY": "", "OPENAI_API_KEY": ""}

ANSWERS = ("-f", "chat/basics/answers")


def conform(*arguments: object, **env: str) -> Result:
    return CliRunner(env=PLAIN | env).invoke(main, ["conform", *map(str, arguments)])


async def well(asked: Any) -> AsyncIterator[bytes]:
    yield chat()


async def wrong(asked: Any) -> AsyncIterator[bytes]:
    """Every answer lacks its text."""
    yield answer(json.dumps({"id": "x", "object": "chat.completion", "created": 1700000000, "model": "m"}).encode())


def one_line(run: Result) -> str:
    """What a command that couldn't run says."""
    assert run.exit_code == 2
    assert isinstance(run.exception, SystemExit)
    assert re.fullmatch(r"specvino: [^\n]+\n", run.stderr)
    return run.stderr
