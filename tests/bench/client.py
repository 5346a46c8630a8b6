"""A light client: asyncio streams and a split on blank lines, so that the client's own cost stays small."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

from bench.workload import Load


@dataclass
class Run:
    """What a run measured. `first` holds each request's seconds to its first text; `arrivals` (seconds, bytes)."""

    tokens: int = 0
    seconds: float = 0.0
    first: list[float] = field(default_factory=list)
    arrivals: list[tuple[float, bytes]] = field(default_factory=list)
    client_cpu: float = 0.0


def parse(data: bytes) -> int:
    """Parses whole events; returns how many of them had text."""
    count = 0
    for event in data.split(b"\n\n"):
        if event.startswith(b"data: {"):
            choices = json.loads(event[6:])["choices"]
            count += bool(choices and choices[0]["delta"].get("content"))
    return count


async def drive(host: str, port: int, load: Load, salt: int, model: str = "bench") -> Run:
    """Runs a load against a server and measures it."""
    run = Run()
    cpu, start = time.process_time(), time.perf_counter()
    await asyncio.gather(
        *(
            _stream(host, port, prompts, {"model": model, **load.fields(stream)}, run, start)
            for stream, prompts in enumerate(load.prompts(salt))
        )
    )
    run.seconds = time.perf_counter() - start
    run.client_cpu = time.process_time() - cpu
    run.tokens = load.streams * load.rounds * load.new_tokens
    return run


async def _stream(host: str, port: int, prompts: list[str], fields: dict[str, Any], run: Run, start: float) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    for prompt in prompts:
        messages = [{"role": "user", "content": prompt}]
        body = json.dumps({"messages": messages, **fields}).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}:{port}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        sent = time.perf_counter()
        writer.write(head.encode() + body)
        status = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in status.split(b"\r\n", 1)[0]:
            raise RuntimeError(f"the server answered {status!r}")
        waiting = True
        rest = b""
        while not rest.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"):  # servers send it as a chunk of its own
            data = await reader.read(65536)
            if not data:
                raise RuntimeError("the server closed the connection")
            now = time.perf_counter()
            run.arrivals.append((now - start, data))
            if parse(_without_chunk_sizes(data)) and waiting:
                run.first.append(now - sent)
                waiting = False
            rest = (rest + data)[-2000:]
        if b'"finish_reason":"length"' not in rest.replace(b": ", b":"):
            raise RuntimeError(f"an answer ended before it was long enough: {rest!r}")
    writer.close()


def _without_chunk_sizes(data: bytes) -> bytes:
    return b"\n\n".join(line for line in data.split(b"\r\n") if line.startswith(b"data: "))


async def replay(arrivals: list[tuple[float, bytes]]) -> None:
    """Parses what arrived in a run, at the same pace: the load that a client puts on shared cores."""
    start = time.perf_counter()
    for offset, data in arrivals:
        if (pause := offset - (time.perf_counter() - start)) > 0:
            await asyncio.sleep(pause)
        parse(_without_chunk_sizes(data))
