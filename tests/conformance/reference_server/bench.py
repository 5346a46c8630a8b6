"""The suite at work on the reference server and its mutants, over real HTTP."""

import asyncio
import atexit
import socket
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import uvicorn
import uvloop

from reference_server.part import Part
from reference_server.server import ReferenceServer
from specvino.conformance.case_checks import controls
from specvino.conformance.cases.plan import Plan, plan
from specvino.conformance.cases.run import Run
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client, Target
from specvino.conformance.preflight import preflight
from specvino.conformance.verdict import Result

KEY = "sk-reference"
MODEL = "reference"

PACE = 0.004
"""Seconds that a token takes where cases compare times."""

BY_TIME = {"transport/connections/models-beside-a-stream"}
"""Cases that ask for what a server doesn't answer before its tokens have taken their time."""

BY_REQUESTS = {
    "transport/connections/stream-is-left",
    "transport/connections/answer-is-left",
    "transport/connections/stream-flows",
    "transport/connections/stream-of-a-message-flows",
    "transport/connections/stream-of-a-response-flows",
    "transport/connections/stream-of-a-text-flows",
}
"""Cases that count other requests, which is all the time that tokens take there."""

BY_BOUNDS = {
    "chat/bounds/beyond-bounds",
    "completions/settings/beyond-bounds",
    "responses/refusals/beyond-bounds",
    "tokenize/edges/beyond-bounds",
}
"""Cases of hundreds of requests each, which would find again what others find in one."""

# The server has nothing else to do than to answer the requests that are counted.
controls.PAUSE = 0.0

dialect = cache(Dialect)


class Bench:
    """One server in this process's loop, in which one after the other answers."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        # With its protocol named, asyncio sends small packets at once.
        self._socket = socket.socket(proto=socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._server = uvicorn.Server(
            uvicorn.Config(self._answer, interface="asgi3", log_level="critical", lifespan="off")
        )
        self._serving: asyncio.Task[None] | None = None
        self._app: ReferenceServer | None = None
        self._sent = 0

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        assert self._app is not None
        await self._app(scope, receive, send)

    def judged(
        self,
        app: ReferenceServer,
        by: str,
        plans: Sequence[Plan],
        after: Callable[[], None] | None = None,
        *,
        prepared: bool = False,
    ) -> dict[str, Result]:
        """The results of runs by these plans; `after` is called after each. `prepared` is whether the checks before a
        run come first."""
        return self._runner.run(self._judged(app, dialect(by), plans, after, prepared))

    async def _judged(
        self,
        app: ReferenceServer,
        judge: Dialect,
        plans: Sequence[Plan],
        after: Callable[[], None] | None,
        prepared: bool,
    ) -> dict[str, Result]:
        self._app = app
        if self._serving is None:
            self._serving = asyncio.create_task(self._server._serve([self._socket]))
        results: dict[str, Result] = {}
        async with Client(Target(self._url, key=KEY, model=MODEL, timeout=30.0)) as client:
            client.sent = self._sent  # exchanges of several runs have different numbers
            replaced = (await preflight(client, judge, MODEL)).replaced if prepared else {}
            for plan in plans:
                run = Run(client, judge, MODEL, plan, replaced=replaced)
                results |= {result.rule: result async for result in run.results()}
                if after:
                    after()
            self._sent = client.sent
        return results

    def close(self) -> None:
        async def stop() -> None:
            self._server.should_exit = True
            if self._serving is not None:
                await self._serving

        self._runner.run(stop())
        self._runner.close()
        self._socket.close()


@cache
def bench() -> Bench:
    made = Bench()
    atexit.register(made.close)
    return made


@cache
def full_plan(by: str) -> Plan:
    return plan(dialect(by), profile="full", layers=("cases", "streams"), key=True)


@cache
def whole_plan(by: str) -> Plan:
    """The whole suite, but for BY_BOUNDS, BY_TIME and BY_REQUESTS."""
    full, others = full_plan(by), BY_BOUNDS | BY_TIME | BY_REQUESTS
    return Plan(tuple(case for case in full.cases if case.rule not in others), full.left_out)


def judged(
    *parts: type[Part],
    by: str = "specvino",
    pace: float = 0.0,
    only: Collection[str] | None = None,
    prepared: bool = False,
) -> dict[str, Result]:
    """The results of the whole plan by their rules, or of `only` these cases, on the server with
    these parts."""
    if only is None:
        chosen = whole_plan(by)
    else:
        chosen = Plan(tuple(case for case in full_plan(by).cases if case.rule in only), {})
    return bench().judged(ReferenceServer(*parts, key=KEY, model=MODEL, pace=pace), by, [chosen], prepared=prepared)


def message_of(result: Result) -> str:
    return "; ".join(finding.message for finding in result.findings) or result.because
