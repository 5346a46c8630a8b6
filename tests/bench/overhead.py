"""What HTTP costs beside the bare engine."""

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil
from rich.console import Console
from rich.table import Table
from support.serving import Server

from bench.bare import Bare
from bench.client import Run, drive, replay
from bench.workload import LOADS, Load
from specvino.engine.models import resolve

COLUMNS = ("streams", "HTTP tok/s", "bare tok/s", "HTTP/bare", "first token +ms", "server us/tok", "client us/tok")

ROUNDS = 3  # each load is run this often on each side, in turns


@dataclass
class Measured:
    http: Run
    server_cpu: float
    bare_seconds: float
    bare_first: float


def compare(server: Server, model: str | None, console: Console) -> None:
    """Prints each load's figures on both sides, and how long others wait meanwhile."""
    bare = Bare(resolve(model))
    try:
        table = Table(*COLUMNS)
        for load in LOADS:
            runs = [_measure(server, bare, load, salt) for salt in range(ROUNDS + 1)][1:]  # the first warms up
            table.add_row(*_row(load, runs))
        console.print(table)
    finally:
        bare.close()
    console.print(f"/health under 16 streams: {asyncio.run(_health(server))}")


def _measure(server: Server, bare: Bare, load: Load, salt: int) -> Measured:
    process = psutil.Process(server.process.pid)
    before = process.cpu_times()
    run = asyncio.run(drive(*server.address, load, salt))
    after = process.cpu_times()
    cpu = after.user + after.system - before.user - before.system
    # The same client work goes on beside the bare engine, which runs in its own process too.
    seconds, first = bare.run(load, salt, lambda: asyncio.run(replay(run.arrivals)))
    return Measured(run, cpu, seconds, first)


def _row(load: Load, runs: list[Measured]) -> list[str]:
    def median(value: Callable[[Measured], float]) -> float:
        return statistics.median(value(run) for run in runs)

    return [
        str(load.streams),
        f"{median(lambda r: r.http.tokens / r.http.seconds):.0f}",
        f"{median(lambda r: r.http.tokens / r.bare_seconds):.0f}",
        f"{median(lambda r: r.bare_seconds / r.http.seconds):.3f}",
        f"{median(lambda r: 1000 * (statistics.median(r.http.first) - r.bare_first)):.1f}",
        f"{median(lambda r: 1e6 * r.server_cpu / r.http.tokens):.0f}",
        f"{median(lambda r: 1e6 * r.http.client_cpu / r.http.tokens):.0f}",
    ]


async def _health(server: Server) -> str:
    """Probes /health while 16 streams run."""
    host, port = server.address
    times = []
    load = asyncio.create_task(drive(host, port, Load(16, 4), salt=77))
    reader, writer = await asyncio.open_connection(host, port)
    while not load.done():
        start = time.perf_counter()
        writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        answer = await reader.readuntil(b"}")
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            raise RuntimeError(f"/health answered {answer!r}")
        times.append(time.perf_counter() - start)
        await asyncio.sleep(0.01)
    writer.close()
    await load
    times.sort()
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    return f"{len(times)} probes, p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, worst {times[-1] * 1000:.1f} ms"
