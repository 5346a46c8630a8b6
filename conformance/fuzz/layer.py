"""The layer `fuzz`: findings of Schemathesis as results."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from specvino.conformance.cases.plan import matches
from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.document import body_fields
from specvino.conformance.fuzz.options import SAYS, Options
from specvino.conformance.fuzz.report import FuzzReport
from specvino.conformance.fuzz.request_limits import SMALL
from specvino.conformance.fuzz.run import PHASES, FuzzRun
from specvino.conformance.fuzz.server import Server
from specvino.conformance.fuzz.verdicts import Verdicts
from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Result, Verdict
from specvino.document.loading import group
from specvino.document.operations import Operation
from specvino.document.pointers import resolved

# The phases of each profile; see FuzzRun.
PHASES_OF = {"core": ("examples", "fuzzing"), "full": PHASES}


@dataclass(slots=True)
class Fuzz:
    """A single run of the layer, in a thread of its own. `models` are names for requests; by default those that the
    server lists. `max_time` is in seconds; `filters` are patterns of rule ids."""

    target: Target
    dialect: Dialect
    models: Sequence[str] = ()
    profile: str = "full"
    max_time: float | None = None
    filters: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    report: FuzzReport = field(default_factory=FuzzReport)
    """Grows while it runs."""
    on_exchange: Callable[[Exchange], None] | None = None
    """Called with each exchange, in another thread."""
    _asked: list[str] = field(default_factory=list)
    """The endpoints for which requests are generated."""

    @property
    def requests(self) -> int:
        """Returns the number of requests sent so far."""
        return self.report.count()

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields the results by endpoint and check, after the run. Where it is itself ended early, it stops the run
        cleanly."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        left_out: dict[str, str] = {}
        problems: list[Exception] = []
        running: list[FuzzRun] = []
        stopped = threading.Event()

        def work() -> None:
            try:
                for run in self._runs(left_out):
                    running[:] = [run]
                    if stopped.is_set() or self.report.ended == "server_unavailable":
                        break
                    run.execute()
            except Exception as problem:
                problems.append(problem)
            finally:
                with contextlib.suppress(RuntimeError):  # the loop may be gone by now
                    loop.call_soon_threadsafe(over.set)

        # A daemon, so that a hanging request can't keep the process from ending.
        threading.Thread(target=work, name="fuzz", daemon=True).start()
        try:
            await over.wait()
        finally:
            stopped.set()
            for run in running:
                run.stop()
        for endpoint, because in left_out.items():
            yield Result(f"{endpoint}/fuzz/requests", "fuzz", SAYS["requests"], Verdict.SKIP, because=because)
        without = self.options.left_out
        verdicts = Verdicts(self.report, self.dialect, self._asked, self.filters, without, self._why_it_ended())
        for result in verdicts.results():
            yield result
        for problem in problems:
            yield _broken(problem)

    def _why_it_ended(self) -> str:
        if self.report.ended == "max_time" and self.max_time:
            return f"the time of {self.max_time:g} s was up"
        return {"interrupted": "it was stopped", "server_unavailable": "the server went away"}.get(
            self.report.ended, ""
        )

    def _runs(self, left_out: dict[str, str]) -> Iterator[FuzzRun]:
        """Yields the runs: one for all operations; with a time limit one for each kind of resource, the small ones
        first, each with its share of the time. Otherwise Schemathesis, which takes one operation after the other,
        wouldn't reach the last ones."""
        target, dialect = self.target, self.dialect
        deadline = None if self.max_time is None else time.monotonic() + self.max_time
        server = Server(target, dialect.document)
        models = tuple(self.models) or server.models
        if dialect.name != WHOLE:  # a server must have all of our own document
            left_out |= missing(server, dialect, models[0])
        without = {*self.options.left_out}
        # Schemathesis omits, and falsifies, the header that the document names.
        named = target.key is not None and target.key_header is None
        if not (named and checks_keys(server, dialect, models[0])):
            without.add("ignored_auth")
        # Rules about the run as a whole concern all endpoints.
        whole = any(pattern.startswith("transport/fuzz") for pattern in self.filters)
        selected = [
            operation
            for endpoint, operation in dialect.operations.items()
            if whole or any(matches(f"{endpoint}/fuzz/{check}", self.filters) for check in SAYS)
        ]
        for endpoint in [each for each in left_out if dialect.operations[each] not in selected]:
            del left_out[endpoint]
        selected = [operation for operation in selected if operation.endpoint not in left_out]
        self._asked = [operation.endpoint for operation in selected]
        kinds = [selected] if deadline is None else _kinds(dialect, selected)
        weights = [_weight(dialect, kind) for kind in kinds]
        for number, kind in enumerate(kinds):
            share = None
            if deadline is not None:
                share = (deadline - time.monotonic()) * weights[number] / sum(weights[number:])
            if not kind or (share is not None and share <= 0):
                return
            yield FuzzRun(
                target,
                dialect,
                self.options.most(self.profile),
                self.options.seed,
                PHASES_OF[self.profile],
                [operation.id for operation in kind],
                models=models,
                without=without,
                max_time=share,
                frugal=True,
                report=self.report,
                on_exchange=self.on_exchange,
            )


def _kinds(dialect: Dialect, operations: Sequence[Operation]) -> list[list[Operation]]:
    """Returns the operations by the first part of their paths, those with few fields first."""
    kinds: dict[str, list[Operation]] = {}
    for operation in operations:
        kinds.setdefault(operation.path.split("/")[1], []).append(operation)
    return sorted(kinds.values(), key=lambda kind: _weight(dialect, kind))


def _weight(dialect: Dialect, operations: Sequence[Operation]) -> int:
    """Returns the weight of some operations: their number of fields, plus a constant for each operation."""
    return sum(4 + len(body_fields(operation)) for operation in operations)


def _broken(problem: Exception) -> Result:
    because = f"the run broke: {type(problem).__name__}: {problem}"
    if isinstance(problem, OSError):
        because = f"the server did not answer: {problem}"
    return Result("transport/fuzz/run", "fuzz", SAYS["run"], Verdict.ERROR, because=because)


MISSING = (404, 405, 501)


def missing(server: Server, dialect: Dialect, model: str) -> dict[str, str]:
    """Returns the reasons for endpoints that are left out. Raises OSError for a server that doesn't answer."""
    reasons: dict[str, str] = {}
    for endpoint, operation in dialect.operations.items():
        path = operation.path.replace("{model}", quote(model, safe=""))
        if operation.is_only_at_root:
            reasons[endpoint] = "it is not under the base URL"
            continue
        if "{response_id}" in path:
            kept = _kept(server, model)  # a new one: the previous one may have been deleted
            if kept is None:
                reasons[endpoint] = "the server stores no responses"
                continue
            path = path.replace("{response_id}", quote(kept, safe=""))
        status = server.status(operation.method, path, _example(dialect, operation, model))
        if status in MISSING:
            reasons[endpoint] = f"the server answers {status}: it has no {operation.method} {operation.path}"
    return reasons


def checks_keys(server: Server, dialect: Dialect, model: str) -> bool:
    """Returns whether any endpoint of the server refuses a wrong key; if none does, the server was started without
    one."""
    return any(
        server.status(operation.method, operation.path, _example(dialect, operation, model), key="wrong") in (401, 403)
        for operation in dialect.operations.values()
        if "{" not in operation.path and operation.definition.get("security") != []
    )


def _kept(server: Server, model: str) -> str | None:
    try:
        return server.new_response(model, background=False)
    except (OSError, LookupError, TypeError, ValueError):  # it has another endpoint under that path, or none
        return None


def _example(dialect: Dialect, operation: Operation, model: str) -> dict[str, Any] | None:
    """Returns a small valid request; None for an operation without a body."""
    body = resolved(dialect.document, operation.definition.get("requestBody", {}))
    examples = body.get("content", {}).get("application/json", {}).get("examples", {})
    for example in examples.values():
        value = {name: item for name, item in example["value"].items() if not name.startswith("stream")}
        known = body_fields(operation)
        limits = group("token_limits").paths
        limit = next(({name: SMALL} for name in limits if name in known), {})
        return {name: field for name, field in value.items() if name not in limits} | limit | {"model": model}
    return None
