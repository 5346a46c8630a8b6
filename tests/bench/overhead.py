"""What HTTP costs beside the bare engine, and beside any other server."""

import asyncio
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table
from support.serving import Server

from bench import machine
from bench.bare import Bare
from bench.client import drive, replay
from bench.workload import Load
from specvino.engine.models import ModelSource

GOALS = {"tokens": 0.97, "first_ms": 8.0, "first": 1.2, "server_us": 50.0}
"""Tokens/s beside the bare engine's; the first token so many ms (1 stream), or so many times, after its; CPU time."""

# The answers' length in a turn that warms up.
_WARMING = 8

COLUMNS = (
    *("streams", "side", "tok/s", "/ bare", "first token ms", "- bare", "/ bare"),
    *("CPU us/tok", "/ bare", "server us/tok", "client us/tok"),
)


@dataclass
class Side:
    """What one side did with a load, a figure for each round. `cpu_us` is the CPU time of all processes for a token,
    and `server_us` that of the server's own process."""

    tokens_per_second: list[float] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    server_us: list[float] = field(default_factory=list)
    client_us: list[float] = field(default_factory=list)

    def add(self, tokens_per_second: float, first: float, **cpu_us: float) -> None:
        self.tokens_per_second.append(tokens_per_second)
        self.first_ms.append(1000 * first)
        for name, value in cpu_us.items():
            getattr(self, name).append(value)


@dataclass
class Compared:
    """A load, and each side's figures."""

    streams: int
    sides: dict[str, Side]

    def tokens(self, side: str) -> float:
        """The median of the rounds' ratios to the bare engine."""
        return _ratio(self.sides[side].tokens_per_second, self.sides["bare"].tokens_per_second)

    def first(self, side: str) -> float:
        return _ratio(self.sides[side].first_ms, self.sides["bare"].first_ms)

    def cpu(self, side: str) -> float | None:
        own = self.sides[side].cpu_us
        return _ratio(own, self.sides["bare"].cpu_us) if own else None

    def later_ms(self, side: str) -> float:
        pairs = zip(self.sides[side].first_ms, self.sides["bare"].first_ms, strict=True)
        return statistics.median(own - bare for own, bare in pairs)

    def shown(self) -> dict[str, Any]:
        """As JSON, with the ratios."""
        sides = {
            name: asdict(side)
            | {"tokens_ratio": self.tokens(name), "first_ratio": self.first(name), "cpu_ratio": self.cpu(name)}
            for name, side in self.sides.items()
        }
        return {"streams": self.streams, "sides": sides}

    def rows(self) -> Iterator[Sequence[str]]:
        for name, side in self.sides.items():
            yield (
                str(self.streams),
                name,
                f"{statistics.median(side.tokens_per_second):.0f}",
                f"{self.tokens(name):.3f}",
                f"{statistics.median(side.first_ms):.0f}",
                f"{self.later_ms(name):+.1f}",
                f"{self.first(name):.2f}",
                _median(side.cpu_us),
                f"{cpu:.3f}" if (cpu := self.cpu(name)) else "",
                _median(side.server_us),
                _median(side.client_us),
            )


def compare(
    server: Server,
    source: ModelSource,
    loads: Sequence[Load],
    turns: Callable[[int], int],
    others: Mapping[str, str],
    console: Console,
    cache_size: float | None = None,
) -> Iterator[Compared]:
    """Measures each load on each side, with so many turns for its number of streams, prints the figures and yields
    them. `others` are servers' URLs by name; `cache_size` is the bare engine's, in GB."""
    bare = Bare(source, cache_size)
    try:
        for load in loads:
            comparison = Compared(load.streams, {name: Side() for name in ("HTTP", "bare", *others)})
            list(_round(server, bare, replace(load, new_tokens=_WARMING), 0, others))
            for salt in range(1, turns(load.streams) + 1):
                for name, tokens_per_second, first, cpu in _round(server, bare, load, salt, others):
                    comparison.sides[name].add(tokens_per_second, first, **cpu)
            table = Table(*COLUMNS)
            for row in comparison.rows():
                table.add_row(*row)
            console.print(table)
            yield comparison
    finally:
        bare.close()


def _round(
    server: Server, bare: Bare, load: Load, salt: int, others: Mapping[str, str]
) -> Iterator[tuple[str, float, float, dict[str, float]]]:
    pid = server.process.pid
    own, every = machine.cpu_seconds(pid), machine.cpu_of_all(pid)
    run = asyncio.run(drive(*server.address, load, salt))
    taken = {
        "server_us": machine.cpu_seconds(pid) - own,
        "cpu_us": machine.cpu_of_all(pid) - every,
        "client_us": run.client_cpu,
    }
    cpu = {name: 1e6 * seconds / run.tokens for name, seconds in taken.items()}
    yield "HTTP", run.tokens / run.seconds, statistics.median(run.first), cpu
    # The same client work goes on beside the bare engine, which runs in its own process too.
    every = machine.cpu_seconds(bare.pid)
    seconds, first = bare.run(load, salt, lambda: asyncio.run(replay(run.arrivals)))
    cpu = {"cpu_us": 1e6 * (machine.cpu_seconds(bare.pid) - every) / run.tokens}
    yield "bare", run.tokens / seconds, first, cpu
    for name, url in others.items():
        address = httpx.URL(url)
        model = httpx.get(f"{url.rstrip('/')}/models").json()["data"][0]["id"]
        other = asyncio.run(drive(address.host, address.port or 80, load, salt, model))
        yield name, other.tokens / other.seconds, statistics.median(other.first), {}


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f}" if values else ""


def _ratio(own: Sequence[float], other: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(own, other, strict=True))


def print_health(server: Server, console: Console) -> None:
    """Prints how long others wait meanwhile."""
    console.print(f"/health under 16 streams: {asyncio.run(_health(server))}")


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
