"""What speculative decoding gains and costs: servers with and without it take turns."""

import asyncio
import contextlib
import re
from typing import Any

import httpx
from bench.client import drive
from bench.workload import Load
from rich.console import Console
from support.serving import Server

from sizes.measured import TURNS_OF_LOAD, WORDS, serving_model
from sizes.models import Model, models

PLAIN = "none"
_STREAMS = (1, 4)
_TOKENS = 64


def drafting(model: Model, console: Console) -> dict[str, Any]:
    """Returns for each number of streams and each side the tokens/s of the turns and the share of the generated tokens
    that were accepted drafts."""
    assert model.draft is not None
    path = model.written()
    sides = {
        PLAIN: (),
        "the model itself": ("--draft-model", str(path)),
        model.draft: ("--draft-model", str(models()[model.draft].written())),
        "prompt lookup": ("--prompt-lookup",),
    }
    with contextlib.ExitStack() as stack:
        # Nobody asks for the full logits, for whose copies four servers don't have the room.
        servers = {
            name: stack.enter_context(serving_model(path, "--full-logits", "off", *options))
            for name, options in sides.items()
        }
        loads = [_load(servers, streams) for streams in _STREAMS]
    console.print(loads)
    return {"loads": loads}


def _load(servers: dict[str, Server], streams: int) -> dict[str, Any]:
    load = Load(streams, 1, words=WORDS, new_tokens=_TOKENS)
    speeds: dict[str, list[float]] = {name: [] for name in servers}
    before: dict[str, tuple[float, float]] = {}
    for turn in range(TURNS_OF_LOAD[streams] + 1):
        for name, server in servers.items():
            run = asyncio.run(drive(*server.address, load, turn))
            if turn:
                speeds[name].append(run.tokens / run.seconds)
            else:  # it warms up
                before[name] = _counted(server)
    sides = {
        name: {"tokens_per_second": speeds[name], "accepted": _accepted(before[name], _counted(server))}
        for name, server in servers.items()
    }
    return {"streams": streams, "sides": sides}


def _accepted(before: tuple[float, float], after: tuple[float, float]) -> float:
    return (after[0] - before[0]) / (after[1] - before[1])


def _counted(server: Server) -> tuple[float, float]:
    """Returns how many drafts were accepted, and how many tokens generated. Without drafting, no drafts are counted."""
    metrics = httpx.get(f"{server.url.removesuffix('/v1')}/metrics").text

    def total(name: str) -> float:
        return sum(float(value) for value in re.findall(rf"^vllm:{name}_total\S* (\S+)", metrics, re.MULTILINE))

    return total("spec_decode_num_accepted_tokens"), total("generation_tokens")
