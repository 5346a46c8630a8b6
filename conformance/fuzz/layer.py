"""The third layer: what Schemathesis finds, as results."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from specvino.conformance.cases.plan import matches
from specvino.conformance.cases.run import MOST_FINDINGS
from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.check_texts import SAYS
from specvino.conformance.fuzz.document import body_fields
from specvino.conformance.fuzz.missing_endpoints import heeds_keys, missing
from specvino.conformance.fuzz.report import FuzzFinding, FuzzReport
from specvino.conformance.fuzz.run import PHASES, FuzzRun
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Finding, Result, Verdict
from specvino.document.operations import Operation

SEED = 20250101


# Checks that say of a 5xx what is no news.
OF_CRASHES = ("content_type_conformance", "error_code_conformance", "positive_data_acceptance")

ACCEPTANCE = "positive-data-acceptance"

# Refusals of valid requests, ordinary ones first, that can't all be for something special in the request.
MANY = 5

FIRST = ("response_schema_conformance", "response_headers_conformance", "content_type_conformance")


@dataclass(frozen=True, slots=True)
class Size:
    """Says how much a profile asks for; see FuzzRun."""

    max_examples: int
    phases: tuple[str, ...]


SIZES = {"core": Size(10, ("examples", "fuzzing")), "full": Size(25, PHASES)}


@dataclass(slots=True)
class Fuzz:
    """Runs the layer once, in a thread of its own. `models` are names to send requests with; without any those that
    the server lists. `max_time` is in seconds; `filters` are patterns of rules' ids."""

    target: Target
    dialect: Dialect
    models: Sequence[str] = ()
    profile: str = "full"
    max_time: float | None = None
    filters: Sequence[str] = ()
    seed: int = SEED
    report: FuzzReport = field(default_factory=FuzzReport)
    """Grows while it runs."""
    on_exchange: Callable[[Exchange], None] | None = None
    """Is given each exchange, in another thread."""
    _asked: list[str] = field(default_factory=list)
    """The endpoints that requests are made for."""

    @property
    def requests(self) -> int:
        """Tells how many requests were sent so far."""
        return self.report.count()

    def __str__(self) -> str:
        """Says how the run went, for people."""
        why = {
            "completed": "all that there was",
            "max_time": f"the time of {self.max_time:g} s was up" if self.max_time else "the time was up",
            "interrupted": "it was stopped",
            "server_unavailable": "the server went away",
        }
        refused = sum(self.report.excused.values())
        return f"{self.requests} requests: {why[self.report.ended]}; {refused} valid ones were refused for a reason"

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields the results by endpoint and check, when the run is over. Ends it in an orderly way where
        it is itself ended early."""
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

        # A daemon, so that a request that hangs can't keep the process from ending.
        threading.Thread(target=work, name="fuzz", daemon=True).start()
        try:
            await over.wait()
        finally:
            stopped.set()
            for run in running:
                run.stop()
        for endpoint, because in left_out.items():
            yield Result(f"{endpoint}/fuzz/requests", "fuzz", SAYS["requests"], Verdict.SKIP, because=because)
        for result in self._results():
            yield result
        for problem in problems:
            yield _broken(problem)

    def _runs(self, left_out: dict[str, str]) -> Iterator[FuzzRun]:
        """Yields the runs: one for all operations; in a box of time one for each kind of thing, the small ones first,
        with its share of the time. Schemathesis would not come to the last ones: it takes one operation after the
        other."""
        target, dialect = self.target, self.dialect
        deadline = None if self.max_time is None else time.monotonic() + self.max_time
        server = Server(target, dialect.document)
        models = tuple(self.models) or server.models
        if dialect.name != WHOLE:  # our own document is tested against all of a server
            left_out |= missing(server, dialect, models[0])
        # Schemathesis leaves out, and falsifies, the header that the document names.
        named = target.key is not None and target.key_header is None
        without = [] if named and heeds_keys(server, dialect, models[0]) else ["ignored_auth"]
        # What is told of the run as a whole is of all endpoints.
        whole = any(each.startswith("transport/fuzz") for each in self.filters)
        asked = [
            operation
            for endpoint, operation in dialect.operations.items()
            if whole or any(matches(f"{endpoint}/fuzz/{check}", self.filters) for check in SAYS)
        ]
        for endpoint in [each for each in left_out if dialect.operations[each] not in asked]:
            del left_out[endpoint]
        asked = [each for each in asked if each.endpoint not in left_out]
        self._asked = [each.endpoint for each in asked]
        groups = [asked] if deadline is None else _kinds(dialect, asked)
        size = SIZES[self.profile]
        weights = [_weight(dialect, group) for group in groups]
        for number, group in enumerate(groups):
            share = None
            if deadline is not None:
                share = (deadline - time.monotonic()) * weights[number] / sum(weights[number:])
            if not group or (share is not None and share <= 0):
                return
            yield FuzzRun(
                target,
                dialect,
                size.max_examples,
                self.seed,
                size.phases,
                [each.id for each in group],
                models=models,
                without=without,
                max_time=share,
                frugal=True,
                report=self.report,
                on_exchange=self.on_exchange,
            )

    def _results(self) -> Iterator[Result]:
        report, told = self.report, _once(self.report.findings)
        endpoints = {f"{each.method} {each.path}": endpoint for endpoint, each in self.dialect.operations.items()}
        for operation, endpoint in endpoints.items():
            if not report.count(operation=operation):
                if endpoint in self._asked and report.ended == "max_time":
                    rule = f"{endpoint}/fuzz/requests"
                    yield Result(rule, "fuzz", SAYS["requests"], Verdict.SKIP, because="the time was up before")
                continue
            yield Result(
                f"{endpoint}/fuzz/requests",
                "fuzz",
                SAYS["requests"],
                Verdict.PASS,
                because=str(self),
                checked=report.count(operation=operation),
            )
            for check, says in SAYS.items():
                rule = f"{endpoint}/fuzz/{check}"
                found = [each for each in told if (each.operation, dashed(each.check)) == (operation, check)]
                checked = report.checked[operation, check.replace("-", "_")]
                if not checked or not matches(rule, self.filters):
                    continue
                if check == ACCEPTANCE:
                    yield self._acceptance(rule, operation, found, checked)
                else:
                    yield _result(rule, says, found, checked)
        yield from self._silences(endpoints)
        for label, problem in report.errors:
            rule = f"{endpoints.get(label, 'transport')}/fuzz/run"
            yield Result(rule, "fuzz", SAYS["run"], Verdict.ERROR, because=f"{label}: {problem}")

    def _acceptance(self, rule: str, operation: str, found: Sequence[FuzzFinding], checked: int) -> Result:
        """Returns the result of a rule: a server may refuse one valid request or another, for what it can't do; not all
        of them."""
        result = _result(rule, SAYS[ACCEPTANCE], found, checked)
        accepted, refused = self.report.accepted[operation], self.report.refused[operation]
        if not refused:
            return result
        said = f"{refused} of {refused + accepted} valid requests were refused"
        because = f"{result.because}; {said}" if result.because else said
        # What a path names may be nowhere.
        if accepted or refused < MANY or "{" in operation:
            return replace(result, because=because)
        finding = Finding(f"none of {refused} valid requests was answered", tuple(self.report.refusals[operation]))
        return replace(result, verdict=Verdict.FAIL, because=because, findings=(finding, *result.findings))

    def _silences(self, endpoints: dict[str, str]) -> Iterator[Result]:
        by_endpoint: dict[str, list[str]] = {}
        for label, problem in self.report.silences:
            if label in endpoints and self.report.ended == "server_unavailable":
                continue  # that the server went away is told once
            by_endpoint.setdefault(endpoints.get(label, "transport"), []).append(problem)
        for endpoint, problems in by_endpoint.items():
            findings = tuple(map(Finding, problems[:MOST_FINDINGS]))
            yield Result(f"{endpoint}/fuzz/answers", "fuzz", SAYS["answers"], Verdict.FAIL, findings=findings)


def _kinds(dialect: Dialect, operations: Sequence[Operation]) -> list[list[Operation]]:
    """Returns the operations by the first part of their paths, those with few fields first."""
    kinds: dict[str, list[Operation]] = {}
    for each in operations:
        kinds.setdefault(each.path.split("/")[1], []).append(each)
    return sorted(kinds.values(), key=lambda kind: _weight(dialect, kind))


def _weight(dialect: Dialect, operations: Sequence[Operation]) -> int:
    """Tells how much there is to ask of some operations: what a request costs beside its fields is worth a few of
    these."""
    return sum(4 + len(body_fields(each)) for each in operations)


def dashed(check: str) -> str:
    return check.replace("_", "-")


def _result(rule: str, says: str, found: Sequence[FuzzFinding], checked: int) -> Result:
    shown = _various(found)
    because = f"{len(found)} of {checked} break it; {len(shown)} are shown" if len(found) > len(shown) else ""
    verdict = Verdict.FAIL if found else Verdict.PASS
    findings = tuple(Finding(each.message, (each.exchange,)) for each in shown)
    return Result(rule, "fuzz", says, verdict, because=because, findings=findings, checked=checked)


def _once(found: Sequence[FuzzFinding]) -> list[FuzzFinding]:
    """Returns one finding for each fault: without what follows from another finding in the same answer."""
    crashes = {_shown(each) for each in found if each.check == "not_a_server_error"}
    first = {_shown(each) for each in found if each.check in FIRST}

    def follows(each: FuzzFinding) -> bool:
        if each.check == "second_judge" and _shown(each) in first:
            return True
        return each.check in OF_CRASHES and _shown(each) in crashes

    return [each for each in found if not follows(each)]


def _shown(found: FuzzFinding) -> tuple[str, bytes | None, bytes]:
    exchange = found.exchange
    return exchange.request.path, exchange.request.content, exchange.content


def _various(found: Sequence[FuzzFinding]) -> list[FuzzFinding]:
    """Returns a few findings, those with messages of their own first."""
    first: dict[str, FuzzFinding] = {}
    for each in found:
        first.setdefault(each.message, each)
    others = [each for each in found if first[each.message] is not each]
    return [*first.values(), *others][:MOST_FINDINGS]


def _broken(problem: Exception) -> Result:
    because = f"the run broke: {type(problem).__name__}: {problem}"
    if isinstance(problem, OSError):
        because = f"the server did not answer: {problem}"
    return Result("transport/fuzz/run", "fuzz", SAYS["run"], Verdict.ERROR, because=because)
