"""A whole run: what the command `specvino conform` does, without its terminal and files."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from specvino.conformance.cases.plan import Plan, matches, plan
from specvino.conformance.cases.run import Run
from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.options import NOT_INSTALLED, Options, is_installed
from specvino.conformance.http.client import Client, Target
from specvino.conformance.preflight import CannotRun, preflight
from specvino.conformance.reports.convert import Converter
from specvino.conformance.reports.records import BAD, Footer, Generated, Header, Line, Report
from specvino.conformance.reports.redact import Redactor
from specvino.conformance.rule_ids import RULES_VERSION, all_rules
from specvino.conformance.verdict import Result, Severity, Verdict

if TYPE_CHECKING:
    from specvino.conformance.fuzz.layer import Fuzz
    from specvino.conformance.fuzz.replay import Replay


# The layers of a run for which neither layers nor filters are chosen.
DEFAULT_LAYERS = ("cases", "streams")


def layers_of(filters: Sequence[str]) -> tuple[str, ...]:
    """Returns the default layers of a run: the cases, and `fuzz` if a filter names it."""
    of_fuzz = ["/fuzz/" in f"{pattern}/" for pattern in filters]
    cases = () if filters and all(of_fuzz) else DEFAULT_LAYERS
    return (*cases, "fuzz") if any(of_fuzz) else cases


@dataclass(frozen=True, slots=True)
class Job:
    """The plan of a run: the server, the dialect, and what is tested. Times are in seconds."""

    target: Target
    dialect: Dialect
    profile: str = "full"
    layers: tuple[str, ...] = DEFAULT_LAYERS
    filters: tuple[str, ...] = ()
    concurrency: int = 1
    max_time: float | None = None
    fail_on: Severity = Severity.MUST
    generated: Options = field(default_factory=Options)
    """For the layer `fuzz`."""
    replayed: Report | None = None
    """A report, the requests of whose findings of the layer `fuzz` are sent in place of new ones."""
    server: str = ""
    """The server's name as its user has it, for the titles of reports."""

    def plan(self) -> Plan:
        """Raises CannotRun if a filter, or all of it, leaves nothing, and if Schemathesis isn't installed for the
        layer `fuzz`; to replay a report it isn't needed."""
        if "fuzz" in self.layers and self.replayed is None and not is_installed():
            raise CannotRun(NOT_INSTALLED)
        keyed = self.target.key is not None
        for pattern in self.filters or (None,):
            filters = () if pattern is None else (pattern,)
            found = plan(self.dialect, profile=self.profile, layers=self.layers, filters=filters, key=keyed)
            if found.is_empty and not self._fuzzes(filters):
                raise CannotRun(self._nothing(found, pattern))
        return plan(self.dialect, profile=self.profile, layers=self.layers, filters=self.filters, key=keyed)

    def _fuzzes(self, filters: tuple[str, ...]) -> bool:
        ids = (rule for rule in all_rules() if "/fuzz/" in rule)
        return "fuzz" in self.layers and any(matches(rule, filters) for rule in ids)

    def again(self) -> list[Line]:
        """Returns the lines whose requests are sent again."""
        lines = self.replayed.lines if self.replayed else ()
        return [line for line in lines if line.layer == "fuzz" and line.findings and matches(line.rule, self.filters)]

    def _nothing(self, found: Plan, pattern: str | None) -> str:
        what = f"the filter {pattern!r} leaves" if pattern else "there is"
        if found.left_out:
            return f"{what} nothing to judge: {next(iter(found.left_out.values()))}"
        return f"{what} no rule in the profile {self.profile} of {' and '.join(self.layers)}"


@dataclass(slots=True)
class RunningJob:
    """A job that is running. `report` grows with it, and has its header after `begin`."""

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
        """Returns how many requests were sent so far."""
        return self.client.sent + (self._fuzz.requests if self._fuzz else 0)

    async def lines(self, mark: Callable[[Line], Line]) -> AsyncGenerator[Line, None]:
        """Yields the lines as they come; `mark` adds to a line what a baseline accepts of it."""
        converter = Converter(self.job.target)
        async with aclosing(self._results()) as results:
            async for result in results:
                line = converter.line(result)
                if line.verdict in BAD:
                    line = mark(line)
                    binds = self.job.fail_on is Severity.SHOULD or line.severity is Severity.MUST
                    # A check that failed itself says nothing about the server, whatever its severity.
                    fails = not line.accepted and (binds or line.verdict is Verdict.ERROR)
                    line = line.model_copy(update={"fails": fails})
                self.report.lines.append(line)
                yield line

    def footer(self, *, complete: bool) -> Footer:
        """Returns how the run ended, or its state so far."""
        lost = self._run.lost if self._run else None
        ended = self._fuzz.report.ended if self._fuzz else "completed"
        return Footer(
            counts=self.report.counts,
            requests=self.requests,
            seconds=round(time.monotonic() - self._begun, 3),
            complete=complete,
            lost=lost or ("the layer fuzz" if ended == "server_unavailable" else None),
            time_up=self._run is not None and self._run.time_up,
        )

    async def _results(self) -> AsyncGenerator[Result, None]:
        job, model = self.job, self.model
        if not self.plan.is_empty:
            self._run = Run(self.client, job.dialect, model, self.plan, job.concurrency, job.max_time)
            async with aclosing(self._run.results()) as results:
                async for result in results:
                    yield result
        if job.replayed:
            from specvino.conformance.fuzz.replay import Replay

            base = job.replayed.header.url
            self._fuzz = Replay(self.client, job.dialect, model, base, job.again())
            async with aclosing(self._fuzz.results()) as results:
                async for result in results:
                    yield result
        elif "fuzz" in job.layers:
            from specvino.conformance.fuzz.layer import Fuzz

            left = None if job.max_time is None else max(job.max_time - (time.monotonic() - self._begun), 1.0)
            self._fuzz = Fuzz(job.target, job.dialect, [model], job.profile, left, job.filters, job.generated)
            self._fuzz.on_exchange = self.client.on_exchange
            async with aclosing(self._fuzz.results()) as results:
                async for result in results:
                    yield result


async def begin(job: Job, client: Client) -> RunningJob:
    """Asks the server for its model, and returns the run. Raises CannotRun."""
    chosen = job.plan()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    model = await preflight(client, job.dialect, job.target.model)
    header = Header(
        tool=f"specvino {version('specvino')}",
        server=job.server,
        url=job.target.url,
        model=Redactor.of(job.target).text(model),
        rules=RULES_VERSION,
        dialect=job.dialect.name,
        document=job.dialect.digest,
        profile=job.profile,
        layers=job.layers,
        filters=job.filters,
        started=started,
        fail_on=job.fail_on,
        generated=_generated(job),
        left_out=chosen.left_out,
    )
    return RunningJob(job, chosen, client, model, Report(header))


def _generated(job: Job) -> Generated | None:
    if "fuzz" not in job.layers or job.replayed:
        return None
    requested = job.generated
    return Generated(seed=requested.seed, max_examples=requested.most(job.profile), checks=requested.checks)
