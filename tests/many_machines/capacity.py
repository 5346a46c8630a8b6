"""What many replicas cost, and whether a sum from few tells it: `PYTHONPATH=tests python -m many_machines.capacity`.

Ten scripted replicas are measured idle and under load. What fifty need at the same load for each is computed from it,
and then measured. Last, what a stored response costs a PostgreSQL server."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from rich.console import Console
from rich.table import Table
from support.postgresql import postgresql
from support.replicas import SCRIPTED, deployed, slow
from support.serving import Server

FEW, MANY = 10, 50
STREAMS_PER_REPLICA = 4
# The seconds between a stream's tokens: with it fifty replicas have the two cores of the machine nearly full.
DELAY = 0.25
# Streams don't end while they are measured, and their prompts fit the scripted engine's context.
TOKENS = 2000
# Begun at once, streams need so long until all of them send; and so long is measured.
BEGINNING, MEASURED = 40.0, 60.0
KINDS = {"ray::ServeReplica": "replicas", "ray::ProxyActor": "proxy"}
OWN = "Ray's own"


@dataclass(frozen=True)
class Seconds:
    """CPU seconds for each second, by kind of process, and what was sent meanwhile."""

    cpu: dict[str, float]
    tokens: float = 0
    size: float = 0


def cpu_times(server: Server) -> dict[str, float]:
    times = dict.fromkeys((*KINDS.values(), OWN), 0.0)
    for process in [*server.children(), psutil.Process(server.process.pid)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            command = " ".join(process.cmdline())
            kind = next((kind for begins, kind in KINDS.items() if command.startswith(begins)), OWN)
            times[kind] += sum(process.cpu_times()[:2])
    return times


class Sent:
    tokens = 0
    size = 0


@contextlib.asynccontextmanager
async def load(url: str, streams: int) -> AsyncIterator[Sent]:
    sent = Sent()
    no_limit = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=no_limit) as client:

        async def one(number: int) -> None:
            body = slow("/chat/completions", number, TOKENS, DELAY)
            async with client.stream("POST", "/chat/completions", json=body) as response:
                response.raise_for_status()
                async for line in response.aiter_lines():
                    sent.tokens += '"content":"' in line
                    sent.size += len(line) + 1

        tasks = [asyncio.create_task(one(number)) for number in range(streams)]
        await asyncio.sleep(BEGINNING)
        assert not [task.result() for task in tasks if task.done()], "a stream ended before it was measured"
        try:
            yield sent
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def spent(server: Server, sent: Sent) -> Seconds:
    """What a minute of this cost."""
    before, tokens, size, began = cpu_times(server), sent.tokens, sent.size, time.monotonic()
    await asyncio.sleep(MEASURED)
    after, seconds = cpu_times(server), time.monotonic() - began
    cpu = {kind: (after[kind] - before[kind]) / seconds for kind in after}
    return Seconds(cpu, (sent.tokens - tokens) / seconds, (sent.size - size) / seconds)


async def idle_and_at_work(server: Server, replicas: int) -> tuple[Seconds, Seconds]:
    await asyncio.sleep(BEGINNING)
    idle = await spent(server, Sent())
    async with load(server.url, STREAMS_PER_REPLICA * replicas) as sent:
        return idle, await spent(server, sent)


def measured(replicas: int) -> tuple[float, Seconds, Seconds]:
    """The seconds until all are ready, and what they need idle and at work."""
    began = time.monotonic()
    with deployed(*SCRIPTED, "--replicas", str(replicas)) as server:
        ready = time.monotonic() - began
        idle, at_work = asyncio.run(idle_and_at_work(server, replicas))
    return ready, idle, at_work


async def store(url: str, responses: int) -> None:
    """Makes responses, each second one of which goes on from the one before."""
    async with httpx.AsyncClient(base_url=url, timeout=600) as client:

        async def one() -> None:
            previous = None
            for number in range(responses // 4):
                body = {"model": "m", "input": "word " * 100, "previous_response_id": previous if number % 2 else None}
                answer = (await client.post("/responses", json=body)).raise_for_status()
                previous = answer.json()["id"]

        await asyncio.gather(*(one() for _ in range(4)))


def stored() -> tuple[float, float]:
    """The CPU seconds of PostgreSQL and the bytes on its disk for a response."""

    def state() -> tuple[float, int]:
        time.sleep(3)
        processes = psutil.process_iter(["name", "cpu_times"])
        seconds = sum(sum(process.info["cpu_times"][:2]) for process in processes if process.info["name"] == "postgres")
        return seconds, sum(file.stat().st_size for file in (folder / "data" / "base").rglob("*") if file.is_file())

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = ("--engine", "scripted", "--served-model-name", "m", "--replicas", "2")
        with postgresql(folder) as database, deployed(*options, "--response-store", database) as server:
            asyncio.run(store(server.url, 200))
            seconds, size = state()
            asyncio.run(store(server.url, 1000))
            after, larger = state()
    return (after - seconds) / 1000, (larger - size) / 1000


def main() -> None:
    console = Console()
    _, idle, at_work = measured(FEW)
    ready, idle_many, at_work_many = measured(MANY)
    table = Table("cores", f"{FEW} replicas", f"{MANY}, computed", f"{MANY}, measured")
    for kind in ("replicas", "proxy"):
        resting = idle.cpu[kind] * (MANY / FEW if kind == "replicas" else 1)
        working = resting + (at_work.cpu[kind] - idle.cpu[kind]) * MANY / FEW
        table.add_row(f"{kind}, idle", f"{idle.cpu[kind]:.3f}", f"{resting:.3f}", f"{idle_many.cpu[kind]:.3f}")
        table.add_row(f"{kind}, at work", f"{at_work.cpu[kind]:.3f}", f"{working:.3f}", f"{at_work_many.cpu[kind]:.3f}")
    table.add_row(OWN, f"{at_work.cpu[OWN]:.3f}", "", f"{at_work_many.cpu[OWN]:.3f}")
    asked = STREAMS_PER_REPLICA * MANY / DELAY
    table.add_row("tokens/s", f"{at_work.tokens:.0f}", f"{asked:.0f}", f"{at_work_many.tokens:.0f}")
    console.print(table)
    for replicas, before, after in ((FEW, idle, at_work), (MANY, idle_many, at_work_many)):
        milliseconds = {
            kind: (after.cpu[kind] - before.cpu[kind]) / after.tokens * 1000 for kind in ("proxy", "replicas")
        }
        console.print(
            f"{replicas} replicas, ms a token: {milliseconds['proxy']:.2f} a proxy, "
            f"{milliseconds['replicas']:.2f} a replica"
        )
    console.print(f"{MANY} ready after {ready:.0f} s; {at_work_many.size / at_work_many.tokens:.0f} bytes a token")
    seconds, size = stored()
    console.print(
        f"a stored response: {seconds * 1000:.2f} ms of PostgreSQL's CPU time, {size:.0f} bytes of its tables"
    )


if __name__ == "__main__":
    main()
