"""The suite at work on the reference server and its mutants, over real HTTP."""

import asyncio
import atexit
import inspect
import socket
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatch
from functools import cache
from typing import Any, NamedTuple

import uvicorn

from reference_server.server import ReferenceServer
from specvino.conformance.cases.plan import Plan, plan
from specvino.conformance.cases.run import Run
from specvino.conformance.document.dialect import Dialect
from specvino.conformance.http.client import Client, Target
from specvino.conformance.verdict import Result, Verdict

KEY = "sk-reference"
MODEL = "reference"

PACE = 0.004
"""Seconds that a token takes where cases compare times."""

dialect = cache(Dialect)


class Told(NamedTuple):
    """A verdict and why."""

    verdict: Verdict
    said: str


class Bench:
    """One server in this process's loop, in which one after the other answers."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        # With its protocol named, asyncio sends small packets at once.
        self._socket = socket.socket(proto=socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._server = uvicorn.Server(
            uvicorn.Config(self._answer, interface="asgi3", log_level="critical", lifespan="off")
        )
        self._serving: asyncio.Task[None] | None = None
        self._app: ReferenceServer | None = None

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        assert self._app is not None
        await self._app(scope, receive, send)

    def judged(
        self, app: ReferenceServer, by: str, plans: Sequence[Plan], after: Callable[[], None] | None = None
    ) -> dict[str, Result]:
        """The results of runs by these plans; `after` is called after each."""
        return self._runner.run(self._judged(app, dialect(by), plans, after))

    async def _judged(
        self, app: ReferenceServer, judge: Dialect, plans: Sequence[Plan], after: Callable[[], None] | None
    ) -> dict[str, Result]:
        self._app = app
        if self._serving is None:
            self._serving = asyncio.create_task(self._server._serve([self._socket]))
        results: dict[str, Result] = {}
        async with Client(Target(self._url, key=KEY, model=MODEL, timeout=3.0)) as client:
            for each in plans:
                results |= {result.rule: result async for result in Run(client, judge, MODEL, each).results()}
                if after:
                    after()
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
def whole_plan(by: str) -> Plan:
    return plan(dialect(by), profile="full", layers=("cases", "streams"), key=True)


def judged(
    server: Callable[..., ReferenceServer],
    *,
    by: str = "specvino",
    pace: float = 0.0,
    only: Collection[str] | None = None,
) -> dict[str, Result]:
    """The results of the whole suite by their rules, or of `only` these cases."""
    whole = whole_plan(by)
    chosen = whole if only is None else Plan(tuple(case for case in whole.cases if case.rule in only), {})
    return bench().judged(server(key=KEY, model=MODEL, pace=pace), by, [chosen])


@cache
def reaching() -> dict[str, frozenset[str]]:
    """By a method's name the cases that have the correct server call it: a mutant of it can't change any other."""
    called: set[str] = set()
    found: dict[str, set[str]] = {}
    plans = [Plan((case,), {}) for case in whole_plan("specvino").cases]
    coming = iter(plans)

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            called.add(name)
            return method(*arguments, **named)

        return noted

    def after() -> None:
        rule = next(coming).cases[0].rule
        for name in called:
            found.setdefault(name, set()).add(rule)
        called.clear()

    methods = {
        name: value
        for name, value in inspect.getmembers(ReferenceServer, inspect.isfunction)
        if not name.startswith("__")
    }
    noted = type("Noted", (ReferenceServer,), {name: noting(name, method) for name, method in methods.items()})
    bench().judged(noted(key=KEY, model=MODEL), "specvino", plans, after)
    return {name: frozenset(rules) for name, rules in found.items()}


def overridden(mutant: type[ReferenceServer]) -> list[str]:
    return [name for name, value in vars(mutant).items() if inspect.isfunction(value)]


def of_mutant(mutant: type[ReferenceServer], concerned: Collection[str], timed: Collection[str]) -> dict[str, Told]:
    """What the suite says of a mutant: `concerned` are the cases that can see it, `timed` those that compare times."""
    results = judged(mutant, only=concerned)
    slowly = {rule for rule in timed if matches(rule, mutant.breaks | mutant.also)}
    for _ in range(3 if slowly else 0):  # a busy machine can hide how long something takes
        again = judged(mutant, pace=PACE, only=slowly)
        results |= {rule: result for rule, result in again.items() if rule in slowly}
        if all(results[rule].verdict is Verdict.FAIL for rule in slowly if matches(rule, mutant.breaks)):
            break
    return {rule: Told(result.verdict, told(result)) for rule, result in results.items()}


def told(result: Result) -> str:
    return "; ".join(finding.message for finding in result.findings) or result.because


def failed(results: dict[str, Told]) -> set[str]:
    return {rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)}


def matches(rule: str, patterns: set[str]) -> bool:
    """A pattern means rules for all answers and capabilities only where it names them."""
    return any(
        fnmatch(rule, pattern) and all(kind in pattern or kind not in rule for kind in ("/rules/", "/capabilities/"))
        for pattern in patterns
    )
