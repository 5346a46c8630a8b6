"""What the server's processes hold: memory, files, threads, tasks. A leak is what grows from one rest to the next."""

import asyncio
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

# What counts as flat, over the second half of a run: an allocator keeps a little more now and then.
FLAT_BYTES = 32 * 2**20
FLAT_SHARE = 0.04

# What else a process may have more of at the end, in bytes. Compiled grammars are kept until there are some hundreds
# (decision 006), then the pipeline is made anew; and OpenVINO keeps what it has compiled for each shape of a batch.
KEPT = {"worker": 256 * 2**20, "trial": 64 * 2**20}

PROCESSES = "processes"

# Idle moments differ by so many files, threads and tasks: a database's pool keeps some connections.
SLACK = 3

# The memory of the server's KV cache, in GB.
CACHE_SIZE = 1

# A half of fewer seconds has too few bursts to tell a leak from what one of them has left.
SHORTEST = 90

# Seconds in which a process loads what it needs.
YOUNG = 60

# A process has a slope where it lived through so much of the second half.
_MOST = 0.8

# Seconds that a server may take to come to rest.
_REST = 180


class Memory(NamedTuple):
    """What one process has at a time, in seconds since the beginning. `share` is its part of the CPU time of a core."""

    seconds: float
    role: str
    pid: int
    rss: int


class Census(NamedTuple):
    """Counts at an idle moment, by name: of processes, files, threads and sockets by the processes' role. `rss` is that
    of all processes together, `tokens` is how many there were."""

    seconds: float
    counts: Mapping[str, int]
    rss: int
    tokens: int


@dataclass
class Watch:
    """Notes the memory of all processes every second, and counts where it is told to."""

    process: psutil.Process
    folder: Path
    begun: float = field(default_factory=time.monotonic)
    token_bytes: float = 0.0
    """What a token takes of the KV cache: that grows to its size, and is no leak."""
    memory: list[Memory] = field(default_factory=list)
    censuses: list[Census] = field(default_factory=list)

    def processes(self) -> dict[str, psutil.Process]:
        """Returns the server and its children by their roles; of several with the same role, one."""
        return dict(self._all())

    def _all(self) -> Iterator[tuple[str, psutil.Process]]:
        yield "server", self.process
        for child in self.process.children(recursive=True):
            with suppress(psutil.Error):
                if command := child.cmdline():  # none of one that has ended
                    yield role(command), child

    async def run(self) -> None:
        while True:
            now = time.monotonic() - self.begun
            for name, process in self.processes().items():
                with suppress(psutil.Error):
                    self.memory.append(Memory(now, name, process.pid, process.memory_info().rss))
            await asyncio.sleep(1)

    async def count(self, url: str, key: str | None) -> None:
        """Waits until the server is idle, and counts. Raises TimeoutError."""
        deadline = time.monotonic() + _REST
        while busy := await self.busy(url, key):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the server doesn't come to rest: {busy}")
            await asyncio.sleep(0.5)
        counts: Counter[str] = Counter()
        rss = 0
        for name, process in self._all():
            with suppress(psutil.Error):
                counts[f"{name}: {PROCESSES}"] += 1
                counts[f"{name}: files"] += process.num_fds()
                counts[f"{name}: threads"] += process.num_threads()
                counts[f"{name}: sockets"] += len(process.net_connections("inet"))
                rss += process.memory_info().rss
        counts["tasks"] = await self._tasks()
        counts["temporary files"] = sum(path.is_file() for path in (self.folder / "tmp").rglob("*"))
        page = await self._page(url, key)
        self.token_bytes = CACHE_SIZE * 2**30 / metric(page, "specvino:kv_cache_tokens")
        tokens = metric(page, "vllm:prompt_tokens_total") + metric(page, "vllm:generation_tokens_total")
        self.censuses.append(Census(time.monotonic() - self.begun, counts, rss, int(tokens)))

    async def busy(self, url: str, key: str | None) -> str:
        """Returns what the server still does, nothing for an idle one."""
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            health = await client.get(f"{url.removesuffix('/v1')}/health")
        if health.status_code != 200:
            return f"/health is {health.status_code}"
        page = await self._page(url, key)
        held = {name: metric(page, f"vllm:{name}") for name in ("num_requests_running", "num_requests_waiting")}
        held["kv_cache_usage_perc"] = metric(page, "vllm:kv_cache_usage_perc")
        if any(held.values()):
            return f"{held}"
        computing = [name for name, process in self.processes().items() if _computes(process)]
        return f"{', '.join(computing)} compute" if computing else ""

    async def _page(self, url: str, key: str | None) -> str:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            answer = await client.get(f"{url.removesuffix('/v1')}/metrics", headers=headers)
        return answer.raise_for_status().text

    async def _tasks(self) -> int:
        file = self.folder / "tasks"
        before = _lines(file)
        self.process.send_signal(signal.SIGUSR1)
        while len(lines := _lines(file)) == len(before):  # noqa: ASYNC110 - nothing tells when a file has a new line
            await asyncio.sleep(0.05)
        return int(lines[-1])


def role(command: Sequence[str]) -> str:
    """Returns what a child process is for, by its command line."""
    return command[-1] if any(argument.startswith("specvino.engine") for argument in command) else " ".join(command[:4])


def metric(page: str, name: str) -> float:
    """Returns the sum of a metric's samples on Prometheus' page."""
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith((f"{name}{{", f"{name} "))
    )


def leaks(watch: Watch) -> Iterator[str]:
    """Yields what grew in the second half of the run, each a sentence."""
    yield from grown_counts(watch.censuses)
    yield from grown_memory(watch.memory, watch.token_bytes * new_tokens(watch.censuses))


def grown_counts(censuses: Sequence[Census]) -> Iterator[str]:
    """Compares the idle moments of both halves. The first one is before all loads."""
    middle = (len(censuses) + 1) // 2
    before, after = censuses[1:middle], censuses[middle:]
    if not before or not after:
        return
    for name in after[-1].counts:
        earlier = [census.counts[name] for census in before if name in census.counts]
        if not earlier and not name.endswith(PROCESSES):
            continue  # of a process that was first needed in the second half
        most = max(earlier, default=1)
        least = min(census.counts.get(name, 0) for census in after[-2:])
        if least > most + SLACK:
            yield f"{name} grew: at most {most} in the first half, {least} at the end"


def new_tokens(censuses: Sequence[Census]) -> int:
    """Returns how many tokens there were in the second half."""
    if not censuses:
        return 0
    middle = max(census.seconds for census in censuses) / 2
    before = [census.tokens for census in censuses if census.seconds < middle]
    return censuses[-1].tokens - (before[-1] if before else 0)


def grown_memory(samples: Sequence[Memory], cached: float) -> Iterator[str]:
    """Fits a line through the second half of each process that lived through it, when it was no longer young.

    What a burst has left is no leak: the process must also have more at the end than ever in the first half. The
    worker may have put so many bytes into its cache meanwhile.
    """
    end = max((sample.seconds for sample in samples), default=0.0)
    by_process = defaultdict(list)
    for sample in samples:
        by_process[sample.role, sample.pid].append((sample.seconds, float(sample.rss)))
    for (name, _), life in by_process.items():
        grown_up = [point for point in life if point[0] - life[0][0] >= YOUNG]
        before = [rss for seconds, rss in grown_up if seconds < end / 2]
        points = [point for point in grown_up if point[0] >= end / 2]
        lived = points[-1][0] - points[0][0] if points else 0.0
        if lived < max(SHORTEST, _MOST * end / 2):
            continue
        growth = slope(points) * lived
        mean = sum(rss for _, rss in points) / len(points)
        allowed = max(FLAT_BYTES, FLAT_SHARE * mean) + (name == "worker") * cached + KEPT.get(name, 0)
        if growth > allowed and points[-1][1] > max(before, default=0.0):
            yield f"{name} grew by {growth / 2**20:.0f} MB in {lived:.0f} s, to {points[-1][1] / 2**20:.0f} MB"


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Returns the slope of the least squares' line."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines() if file.exists() else []


def _computes(process: psutil.Process) -> bool:
    try:
        before = process.cpu_times()
        time.sleep(0.1)
        after = process.cpu_times()
    except psutil.Error:
        return False
    return after.user + after.system - before.user - before.system > 0.05
