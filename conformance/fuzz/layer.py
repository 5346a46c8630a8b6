"""The layer `fuzz`: runs Schemathesis in a thread and converts its findings to results."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from specvino.conformance.cases.plan import matches
from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import with_value
from specvino.conformance.fuzz.document import body_fields
from specvino.conformance.fuzz.endpoint_results import EndpointResults
from specvino.conformance.fuzz.options import SAYS, Options
from specvino.conformance.fuzz.report import FuzzReport
from specvino.conformance.fuzz.request_limits import SMALL, limit_fields
from specvino.conformance.fuzz.run import PHASES, FuzzRun
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.refused_fields import RefusedFields
from specvino.conformance.verdict import Result, Verdict
from specvino.document.operations import Operation
from specvino.document.pointers import resolved

# Schemathesis' phases by profile.
PHASES_OF = {"core": ("examples", "fuzzing"), "full": PHASES}


@dataclass(slots=True)
class Fuzz:
    """One run of the layer. `models` are names for requests, by default the models that the server lists. `max_time` is
    in seconds; `filters` are patterns of rule ids."""

    target: Target
    dialect: Dialect
    models: Sequence[str] = ()
    profile: str = "full"
    max_time: float | None = None
    filters: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    replaced: Mapping[str, str | None] = field(default_factory=dict)
    """The fields that the model refuses, with the field that is sent instead; None if they are left out."""
    report: FuzzReport = field(default_factory=FuzzReport)
    """Grows during the run."""
    on_exchange: Callable[[Exchange], None] | None = None
    """Called with each exchange, in the worker thread."""
    _asked: list[str] = field(default_factory=list)
    """The endpoints for which requests are generated."""

    @property
    def requests(self) -> int:
        """Returns the number of requests sent so far."""
        return self.report.count()

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields the results by endpoint and check, after the run. Closing the generator early stops the run."""
        loop, finished = asyncio.get_running_loop(), asyncio.Event()
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
                with contextlib.suppress(RuntimeError):  # the loop may be closed
                    loop.call_soon_threadsafe(finished.set)

        # A daemon thread: a hanging request must not keep the process alive.
        threading.Thread(target=work, name="fuzz", daemon=True).start()
        try:
            await finished.wait()
        finally:
            stopped.set()
            for run in running:
                run.stop()
        for endpoint, because in left_out.items():
            yield Result(f"{endpoint}/fuzz/requests", "fuzz", SAYS["requests"], Verdict.SKIP, because=because)
        without = self.options.left_out
        results = EndpointResults(self.report, self.dialect, self._asked, self.filters, without, self._why_it_ended())
        for result in results.results():
            yield result
        for problem in problems:
            yield _crash_result(problem)

    def _why_it_ended(self) -> str:
        if self.report.ended == "max_time" and self.max_time:
            return f"the time limit of {self.max_time:g} s was reached"
        return {"interrupted": "the run was interrupted", "server_unavailable": "the server became unreachable"}.get(
            self.report.ended, ""
        )

    def _runs(self, left_out: dict[str, str]) -> Iterator[FuzzRun]:
        """Yields one run for all operations or, with a time limit, one for each kind of resource, small ones first,
        with a share of the time each. Schemathesis processes operations in sequence, so with one run it might not reach
        the last ones."""
        target, dialect = self.target, self.dialect
        deadline = None if self.max_time is None else time.monotonic() + self.max_time
        server = Server(target, dialect.document)
        models = tuple(self.models) or server.models
        refused = RefusedFields(dialect, self.replaced)
        if not dialect.is_exact:  # else a server must have all endpoints
            left_out |= missing_endpoints(server, refused, models[0])
        without = {*self.options.left_out}
        # The check ignored_auth changes the header that the document names.
        uses_bearer = target.key is not None and target.key_header is None
        if not (uses_bearer and checks_keys(server, refused, models[0])):
            without.add("ignored_auth")
        # Rules for the run as a whole need all endpoints.
        selects_all = any(pattern.startswith("transport/fuzz") for pattern in self.filters)
        selected = [
            operation
            for endpoint, operation in dialect.operations.items()
            if selects_all or any(matches(f"{endpoint}/fuzz/{check}", self.filters) for check in SAYS)
        ]
        for endpoint in [name for name in left_out if dialect.operations[name] not in selected]:
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
                replaced=self.replaced,
                frugal=True,
                report=self.report,
                on_exchange=self.on_exchange,
            )


def _kinds(dialect: Dialect, operations: Sequence[Operation]) -> list[list[Operation]]:
    """Returns the operations grouped by the first part of their paths, those with few fields first."""
    kinds: dict[str, list[Operation]] = {}
    for operation in operations:
        kinds.setdefault(operation.path.split("/")[1], []).append(operation)
    return sorted(kinds.values(), key=lambda kind: _weight(dialect, kind))


def _weight(dialect: Dialect, operations: Sequence[Operation]) -> int:
    """Returns the weight of operations for the time limit: their fields, plus a constant for each operation."""
    return sum(4 + len(body_fields(operation)) for operation in operations)


def _crash_result(problem: Exception) -> Result:
    because = f"the run failed: {type(problem).__name__}: {problem}"
    if isinstance(problem, OSError):
        because = f"the server didn't answer: {problem}"
    return Result("transport/fuzz/run", "fuzz", SAYS["run"], Verdict.ERROR, because=because)


MISSING = (404, 405, 501)


def missing_endpoints(server: Server, refused: RefusedFields, model: str) -> dict[str, str]:
    """Returns the endpoints that the server lacks, with the reason. Raises OSError for a server that doesn't answer."""
    reasons: dict[str, str] = {}
    for endpoint, operation in refused.dialect.operations.items():
        if operation.is_only_at_root:
            reasons[endpoint] = "the endpoint isn't under the base URL"
            continue
        path = _existing(operation.path, server, model)
        if path is None:
            reasons[endpoint] = f"the server stores no {operation.path.split('/')[1]}"
            continue
        status = server.status(operation.method, path, _example(refused, operation, model))
        if status in MISSING:
            reasons[endpoint] = f"{operation.method} {operation.path} returns {status}"
    return reasons


def checks_keys(server: Server, refused: RefusedFields, model: str) -> bool:
    """Returns whether any endpoint refuses a wrong key. If none does, the server has no keys."""
    return any(
        server.status(operation.method, operation.path, _example(refused, operation, model), key="wrong") in (401, 403)
        for operation in refused.dialect.operations.values()
        if "{" not in operation.path and operation.definition.get("security") != []
    )


def _existing(path: str, server: Server, model: str) -> str | None:
    """Returns the path of something that exists; None if the server doesn't store it. What it stores is new: requests
    may have deleted the previous one."""
    named = {"model": model}
    try:
        if "{response_id}" in path:
            named["response_id"] = server.new_response(model, background=False) or ""
        if "{conversation_id}" in path:
            named["conversation_id"] = id = server.new_conversation() or ""
            named["item_id"] = min(server.conversation_items(id)) if id else ""
    except (OSError, LookupError, TypeError, ValueError):  # the path is missing, or another endpoint
        return None
    return path.format_map({name: quote(id, safe="") for name, id in named.items()}) if all(named.values()) else None


def _example(refused: RefusedFields, operation: Operation, model: str) -> Any:
    """Returns a small request body that is valid and has no refused fields; None for an operation without a body."""
    body = resolved(refused.dialect.document, operation.definition.get("requestBody", {}))
    examples = body.get("content", {}).get("application/json", {}).get("examples", {})
    for example in examples.values():
        value = {name: item for name, item in example["value"].items() if not name.startswith("stream")}
        limits = limit_fields(operation)
        small = {name: field for name, field in value.items() if name not in limits} | {"model": model}
        return refused.replaced(operation.path, with_value(small, limits[0], SMALL) if limits else small)
    return None
