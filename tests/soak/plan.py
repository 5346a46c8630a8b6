"""A run: rounds of quiet and hostile phases, with idle moments between them, in the first half with faults as well."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import httpx
import psutil
from support.serving import Server, serving

from soak.caller import Caller
from soak.census import CACHE_SIZE, Watch
from soak.ends import Ends
from soak.faults import Faults
from soak.honest import KINDS, SEEING, client
from soak.hostile.run import Assault, attack
from soak.journal import Journal
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client, Target

# What goes on beside honest clients, until it is told to end.
Other = Callable[[asyncio.Event], Awaitable[None]]

# Seconds of each phase of a round; a census follows each of them.
QUIET, HOSTILE, FAULTS = 20.0, 30.0, 20.0

HONEST_KEYS = ("honest-1", "honest-2")
HOSTILE_KEYS = ("hostile-1", "hostile-2")
HONEST = 3
"""Honest clients, each with one request at a time."""

# Below what half a minute of silent connections comes to.
_MOST_CONNECTIONS = 256

_PROBE = 0.05

# Seconds after which an answer counts as lost.
_LONGEST = 180.0


@dataclass
class Soak:
    """Holds what a run has seen of one server. `restored` are the seconds until it was ready again, by what broke;
    `log` is what the server said, but for its access log."""

    model: str
    minutes: float
    seed: int
    watch: Watch
    journal: Journal = field(default_factory=Journal)
    restored: dict[str, list[float]] = field(default_factory=dict)
    attacks: int = 0
    log: list[str] = field(default_factory=list)


@asynccontextmanager
async def _serving(model: str | None, folder: Path) -> AsyncIterator[Server]:
    """Starts a server whose files are all below `folder`."""
    (folder / "tmp").mkdir()
    (folder / "keys").write_text("\n".join((*HONEST_KEYS, *HOSTILE_KEYS)), "utf-8")
    (folder / "keys").chmod(0o600)
    env = {"TMPDIR": str(folder / "tmp"), "SOAK_TASKS": str(folder / "tasks"), "SPECVINO_DATA": str(folder / "data")}
    options = ["--served-model-name", "soak", "--max-connections", str(_MOST_CONNECTIONS)]
    options += ["--api-key-file", str(folder / "keys"), "--max-queue", "64", "--cache-size", str(CACHE_SIZE)]
    options += ["--trust-request-chat-template"]
    with serving(
        *([model] if model else []), *options, env=env, command=[sys.executable, "-m", "soak.served"]
    ) as server:
        yield server


async def soak(model: str | None, minutes: float, seed: int, say: Callable[[str], None]) -> Soak:
    """Runs all phases on a server of its own. Raises what the run itself gets wrong."""
    with TemporaryDirectory(prefix="soak") as name:
        folder = Path(name)
        async with _serving(model, folder) as server:
            run = Soak(model or "the default model", minutes, seed, Watch(psutil.Process(server.process.pid), folder))
            with ProcessPoolExecutor(1, get_context("spawn")) as attackers:
                await _Run(run, server, say, attackers, seeing="vision" in (model or "")).go()
            run.log = [line.rstrip() for line in server.lines if "specvino.access" not in line]
    return run


class _Run:
    def __init__(
        self, run: Soak, server: Server, say: Callable[[str], None], attackers: Executor, *, seeing: bool
    ) -> None:
        self._run = run
        self._journal = run.journal
        self._watch = run.watch
        self._server = server
        self._say = say
        self._random = Random(run.seed)
        self._faults = Faults(run.watch, run.journal, server.url, run.restored)
        self._ends = Ends(Dialect("specvino"))
        self._kinds = SEEING if seeing else KINDS
        self._seeing = seeing
        self._attackers = attackers
        self._seconds = 0.0  # of this phase
        self._others: list[str] = []

    async def go(self) -> None:
        end = time.monotonic() + 60 * self._run.minutes
        memory = asyncio.create_task(self._watch.run())
        try:
            await self._census()
            await self._phase("warm-up", HOSTILE, self._attacking)
            middle = time.monotonic() + (end - time.monotonic()) / 2
            frozen = False
            while time.monotonic() < end:
                await self._phase("quiet", QUIET)
                await self._phase("hostile", HOSTILE, self._attacking)
                if time.monotonic() < middle or not frozen:
                    await self._phase("faults", FAULTS, self._attacking, self._breaking)
                    if not frozen:
                        frozen = True
                        await self._phase("faults", 0, self._freezing)
        finally:
            memory.cancel()
            await asyncio.wait([memory])

    async def _phase(self, name: str, seconds: float, *others: Other) -> None:
        """Runs honest clients and others beside each other for so long, and waits until all have come to their ends."""
        self._say(f"{time.monotonic() - self._watch.begun:5.0f} s: {name}")
        self._journal.phase, self._seconds = name, seconds
        until = asyncio.Event()
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            for number in range(HONEST):
                http = await stack.enter_async_context(Client(Target(self._server.url, timeout=_LONGEST)))
                caller = self._caller(http, HONEST_KEYS[number % 2])
                group.create_task(client(caller, Random(self._random.random()), self._kinds, until))
            group.create_task(self._probe(until))
            running = [asyncio.ensure_future(other(until)) for other in others]
            await asyncio.sleep(seconds)
            if not seconds:
                await asyncio.gather(*running)
            until.set()
            await asyncio.gather(*running)
        await self._census()

    async def _census(self) -> None:
        self._journal.phase = "idle"
        try:
            await self._watch.count(self._server.url, HONEST_KEYS[0])
        except TimeoutError as error:
            self._journal.fault(str(error))

    async def _attacking(self, until: asyncio.Event) -> None:
        """Attacks for as long as the phase takes, without an eye on `until`: what has begun comes to its end."""
        assault = Assault(
            url=self._server.url,
            address=self._server.address,
            model="soak",
            keys=HOSTILE_KEYS,
            others=await self._kept(),
            seeing=self._seeing,
            phase=self._journal.phase,
            seconds=self._seconds,
            seed=self._run.seed,
            start=self._run.attacks,
            timeout=_LONGEST,
        )
        loop = asyncio.get_running_loop()
        done, journal = await loop.run_in_executor(self._attackers, attack, assault)
        self._run.attacks += done
        self._journal.extend(journal)

    async def _kept(self) -> list[str]:
        """Returns the ids of responses that no attacker may see."""
        if not self._others:
            async with Client(Target(self._server.url, timeout=_LONGEST)) as http:
                owner = self._caller(http, HONEST_KEYS[0])
                kept = await owner.answered("kept", "responses", {"input": "mine", "max_output_tokens": 4})
                self._others.append(kept.answer["id"])
        return self._others

    async def _breaking(self, until: asyncio.Event) -> None:
        while not until.is_set():
            await self._faults.next()
            await asyncio.sleep(1)

    async def _freezing(self, until: asyncio.Event) -> None:
        await self._faults.freeze_worker()

    def _caller(self, http: Client, key: str) -> Caller:
        return Caller(http, self._ends, self._journal, "honest", "soak", key)

    async def _probe(self, until: asyncio.Event) -> None:
        """Asks for /health/live all the time: who waits there waits for the event loop."""
        probes = self._journal.probes.setdefault(self._journal.phase, [])
        once = httpx.Limits(max_keepalive_connections=0)  # a connection that waits may be closed for one that asks
        async with httpx.AsyncClient(trust_env=False, timeout=_LONGEST, limits=once) as http:
            while not until.is_set():
                begun = time.monotonic()
                try:
                    answer = await http.get(f"{self._server.url.removesuffix('/v1')}/health/live")
                except httpx.HTTPError as error:
                    self._journal.fault(f"/health/live: {type(error).__name__} {error}")
                else:
                    probes.append(time.monotonic() - begun)
                    if answer.status_code != 200:
                        self._journal.fault(f"/health/live is {answer.status_code}")
                await asyncio.sleep(_PROBE)
