"""16 streams of which half are held to a schema, beside 16 free ones."""

import asyncio
import statistics
from dataclasses import replace

from rich.console import Console
from support.serving import Server

from bench.client import drive
from bench.workload import Load

ROUNDS = 5

LEAST = 0.85
"""What is demanded of the ratio of the tokens per second."""

# A model can't come to the end of it within an answer: 128 tokens of this many characters there are not.
_TEXT = {"type": "string", "minLength": 400}
_PROPERTIES = {"title": {"type": "string", "maxLength": 60}, "summary": _TEXT, "background": _TEXT, "conclusion": _TEXT}
_FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "story",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": _PROPERTIES,
            "required": list(_PROPERTIES),
            "additionalProperties": False,
        },
    },
}

# Short prompts: it is about the new tokens.
FREE = Load(streams=16, rounds=1, words=20, new_tokens=128, response_format=_FORMAT)
HALF = replace(FREE, held=8)


def compare(server: Server, console: Console) -> None:
    """Prints the ratio of the tokens per second, measured in turns."""
    _speed(server, HALF, 500)  # the first to use a grammar waits for it
    ratios = []
    for salt in range(501, 501 + ROUNDS):
        free, half = _speed(server, FREE, salt), _speed(server, HALF, salt + ROUNDS)
        console.print(f"16 streams: {free:.0f} tok/s free, {half:.0f} tok/s with half of them held to a schema")
        ratios.append(half / free)
    shown = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    console.print(f"with a schema / free: {shown}; median {statistics.median(ratios):.3f}, demanded is {LEAST}")


def _speed(server: Server, load: Load, salt: int) -> float:
    run = asyncio.run(drive(*server.address, load, salt))
    return run.tokens / run.seconds
