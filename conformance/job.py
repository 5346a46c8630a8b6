"""A whole run, as `specvino conform` does it, without terminal output and files."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from specvino.conformance.cases.plan import Plan, matches, plan
from specvino.conformance.cases.run import Run
from specvino.conformance.clients.profile import ClientProfile
from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import documented_path
from specvino.conformance.fuzz.options import Options, is_installed, not_installed
from specvino.conformance.http.client import Client, Target
from specvino.conformance.preflight import CannotRun, preflight
from specvino.conformance.reports.convert import Converter
from specvino.conformance.reports.faults import fault_records
from specvino.conformance.reports.readiness import lacks
from specvino.conformance.reports.records import BAD, Footer, Generated, Header, Line, Report
from specvino.conformance.reports.redact import Redactor
from specvino.conformance.rule_catalog import RULES_VERSION, all_rules
from specvino.conformance.verdict import Result, Severity, Verdict

if TYPE_CHECKING:
    from specvino.conformance.fuzz.layer import Fuzz
    from specvino.conformance.fuzz.replay import Replay


# The layers of a run without `--layer` and `--filter`.
DEFAULT_LAYERS = ("cases", "streams")


def layers_of(filters: Sequence[str]) -> tuple[str, ...]:
    """Returns the default layers for these filters: `cases` and `streams`, and `fuzz` if a filter names it."""
    is_fuzz = ["/fuzz/" in f"{pattern}/" for pattern in filters]
    cases = () if filters and all(is_fuzz) else DEFAULT_LAYERS
    return (*cases, "fuzz") if any(is_fuzz) else cases


@dataclass(frozen=True, slots=True)
class Job:
    """The options of a run: the server, the dialect, layers and filters. Times are in seconds."""

    target: Target
    dialect: Dialect
    profile: str = "full"
    layers: tuple[str, ...] = DEFAULT_LAYERS
    filters: tuple[str, ...] = ()
    concurrency: int = 1
    max_time: float | None = None
    fail_on: Severity = Severity.MUST
    generated: Options = field(default_factory=Options)
    """Options of the layer `fuzz`."""
    replayed: Report | None = None
    """A report whose `fuzz` findings are replayed instead of generating requests."""
    server: str = ""
    """The server's name and version, for report titles."""
    client: ClientProfile | None = None
    """The client program that the run is for. Then its profile selects the rules."""

    def plan(self) -> Plan:
        """Returns the plan of the cases. Raises CannotRun if a filter, or the whole plan, selects no rule, or if the
        layer `fuzz` needs Schemathesis and it isn't installed. Replays don't need Schemathesis."""
        if "fuzz" in self.layers and self.replayed is None and not is_installed():
            raise CannotRun(not_installed())
        keyed = self.target.key is not None
        if self.client is not None:
            self._require_endpoints(self.client)
            rules = self.client.rules
            selection = plan(self.dialect, profile=self.profile, layers=self.layers, filters=rules, key=keyed)
            return replace(selection, cases=(*self.client.cases(), *selection.cases))
        for pattern in self.filters or (None,):
            filters = () if pattern is None else (pattern,)
            selection = plan(self.dialect, profile=self.profile, layers=self.layers, filters=filters, key=keyed)
            if selection.is_empty and not self._fuzzes(filters):
                raise CannotRun(self._empty_reason(selection, pattern))
        return plan(self.dialect, profile=self.profile, layers=self.layers, filters=self.filters, key=keyed)

    def _require_endpoints(self, client: ClientProfile) -> None:
        for request in client.requests:
            if not request.optional and request.endpoint not in self.dialect.operations:
                path = documented_path(request.endpoint)
                raise CannotRun(f"{client.title} uses {path}, which the dialect {self.dialect.name} doesn't have")

    def _fuzzes(self, filters: tuple[str, ...]) -> bool:
        ids = (rule for rule in all_rules() if "/fuzz/" in rule)
        return "fuzz" in self.layers and any(matches(rule, filters) for rule in ids)

    def replayed_lines(self) -> list[Line]:
        """Returns the lines of the report whose requests are sent again."""
        lines = self.replayed.lines if self.replayed else ()
        return [line for line in lines if line.layer == "fuzz" and line.findings and matches(line.rule, self.filters)]

    def _empty_reason(self, selection: Plan, pattern: str | None) -> str:
        subject = f"the filter {pattern!r} selects" if pattern else "there is"
        if selection.left_out:
            return f"{subject} nothing to test: {next(iter(selection.left_out.values()))}"
        return f"{subject} no rule in the profile {self.profile} of {' and '.join(self.layers)}"


@dataclass(slots=True)
class RunningJob:
    """A started job. `report` has its header from the start, and gets lines during the run."""

    job: Job
    plan: Plan
    client: Client
    model: str
    report: Report
    _begun: float = field(default_factory=time.monotonic)
    _run: Run | None = None
    _fuzz: "Fuzz | Replay | None" = None

    @property
    def requests(self) -> int:
        """Returns the number of requests sent so far."""
        return self.client.sent + (self._fuzz.requests if self._fuzz else 0)

    async def lines(self, mark: Callable[[Line], Line]) -> AsyncGenerator[Line, None]:
        """Yields lines as rules get their verdicts. `mark` applies a baseline to a line."""
        converter = Converter(self.job.target)
        async with aclosing(self._results()) as results:
            async for result in results:
                line = converter.line(result)
                if line.verdict in BAD:
                    line = mark(line)
                    # A crashed check has no verdict on the server, whatever the rule's severity.
                    fails = not line.accepted and (self._is_binding(line) or line.verdict is Verdict.ERROR)
                    line = line.model_copy(update={"fails": fails})
                elif line.verdict is Verdict.UNSUPPORTED and self.job.client is not None:
                    line = line.model_copy(update={"fails": self._is_binding(line)})
                self.report.lines.append(line)
                yield line

    def _is_binding(self, line: Line) -> bool:
        """Returns whether the run fails if the server breaks the rule of a line. A run for a client fails without what
        the client needs, or with `should` also without what it uses."""
        strict = self.job.fail_on is Severity.SHOULD
        if self.job.client is None:
            return strict or line.severity is Severity.MUST
        return any(lacks(line, reliance) for reliance, needed in self.job.client.reliances() if needed or strict)

    def footer(self, *, complete: bool) -> Footer:
        """Returns the footer: counts so far, and how the run ended."""
        lost, limited = (self._run.availability.lost, self._run.availability.limited) if self._run else (None, None)
        if lost is None and self._fuzz and self._fuzz.report.ended == "server_unavailable":
            lost = "the layer fuzz"
        return Footer(
            counts=self.report.counts,
            requests=self.requests,
            seconds=round(time.monotonic() - self._begun, 3),
            complete=complete and lost is None and limited is None,
            limited=limited,
            lost=lost,
            time_up=self._run is not None and self._run.time_up,
            faults=fault_records(self.report.lines),
        )

    async def _results(self) -> AsyncGenerator[Result, None]:
        job, model = self.job, self.model
        replaced = self.report.header.replaced
        if not self.plan.is_empty:
            self._run = Run(self.client, job.dialect, model, self.plan, job.concurrency, job.max_time, replaced)
            async with aclosing(self._run.results()) as results:
                async for result in results:
                    yield result
            if self._run.availability.limited:
                return
        if job.replayed:
            from specvino.conformance.fuzz.replay import Replay

            base = job.replayed.header.url
            self._fuzz = Replay(self.client, job.dialect, model, base, job.replayed_lines(), replaced)
            async with aclosing(self._fuzz.results()) as results:
                async for result in results:
                    yield result
        elif "fuzz" in job.layers:
            from specvino.conformance.fuzz.layer import Fuzz

            left = None if job.max_time is None else max(job.max_time - (time.monotonic() - self._begun), 1.0)
            self._fuzz = Fuzz(job.target, job.dialect, [model], job.profile, left, job.filters, job.generated, replaced)
            self._fuzz.on_exchange = self.client.on_exchange
            async with aclosing(self._fuzz.results()) as results:
                async for result in results:
                    yield result


async def begin(job: Job, client: Client) -> RunningJob:
    """Checks the server, chooses the model and returns the job, ready to run. Raises CannotRun."""
    selection = job.plan()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    redactor = Redactor.of(job.target)
    try:
        model, replaced = await preflight(client, job.dialect, job.target.model)
    except CannotRun as error:  # its reason may quote the server
        raise CannotRun(redactor.text(str(error))) from None
    header = Header(
        tool=f"specvino {version('specvino')}",
        server=job.server,
        client=job.client.name if job.client else "",
        url=job.target.url,
        model=redactor.text(model),
        rules=RULES_VERSION,
        dialect=job.dialect.name,
        document=job.dialect.digest,
        profile=job.profile,
        layers=job.layers,
        filters=job.filters,
        started=started,
        fail_on=job.fail_on,
        generated=_generated(job),
        left_out=selection.left_out,
        replaced=replaced,
    )
    return RunningJob(job, selection, client, model, Report(header))


def _generated(job: Job) -> Generated | None:
    if "fuzz" not in job.layers or job.replayed:
        return None
    options = job.generated
    return Generated(seed=options.seed, max_examples=options.most(job.profile), checks=options.checks)
