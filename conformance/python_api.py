"""The Python API of conformance runs: settings, one call for a whole run, and reports in each format."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Literal

from specvino.conformance.clients.profile import ClientProfile, all_clients
from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.options import SEED, Options
from specvino.conformance.http.client import Client, Target
from specvino.conformance.job import Job, begin, layers_of
from specvino.conformance.preflight import (
    CannotRun,
    checked_certificates,
    checked_headers,
    checked_key,
    checked_key_header,
    checked_url,
)
from specvino.conformance.reports import badge, html, junit, markdown, ndjson, sarif
from specvino.conformance.reports.baseline import BadBaseline, Baseline
from specvino.conformance.reports.baseline import read as read_baseline
from specvino.conformance.reports.records import Report
from specvino.conformance.two_servers.run import begin as begin_parity
from specvino.conformance.verdict import Severity

DEFAULT_DIALECT = "openai"

# Options that apply to newly generated requests only.
GENERATION_OPTIONS = "--seed, --max-examples, --include-check and --exclude-check"

Format = Literal["badge", "html", "junit", "markdown", "ndjson", "sarif"]

WRITERS: dict[Format, Callable[[Report, Path], None]] = {
    "badge": badge.write,
    "html": html.write,
    "junit": junit.write,
    "markdown": markdown.write,
    "ndjson": ndjson.write,
    "sarif": sarif.write,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run. Only `url` is required, or `replay`; times are in seconds.

    Each field has the meaning of the option of `specvino conform` with the same name, and is validated when the run
    starts. Where the names differ: `key` is `--api-key`, `key_header` is `--auth-header`, `headers` are `Name: value`
    lines of `--header`, `layers` are `--layer`, `filters` are `--filter`.
    """

    url: str | None = None
    client: str | None = None
    """The name of a client program. Only what it relies on is tested, and `readiness` returns the verdict."""
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    key_header: str | None = None
    headers: tuple[str, ...] = field(default=(), repr=False)
    cacert: Path | None = None
    insecure: bool = False
    dialect: str | None = None
    """The default is `openai`."""
    profile: str = "full"
    layers: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    concurrency: int = 4
    timeout: float = 60.0
    max_time: float | None = None
    fail_on: Severity = Severity.MUST
    seed: int | None = None
    max_examples: int | None = None
    include_checks: tuple[str, ...] = ()
    exclude_checks: tuple[str, ...] = ()
    replay: Path | None = None
    """An NDJSON report. The requests of its `fuzz` findings are sent again."""
    server: str = ""
    """The name and version of the server under test, for report titles."""

    def job(self) -> Job:
        """Validates the settings and returns the job. Raises CannotRun."""
        client = self._client()
        if self.replay is not None:
            return self._replay_job(self.replay)
        try:
            dialect = Dialect(self.dialect or (client and client.dialect) or DEFAULT_DIALECT)
        except ValueError as error:
            raise CannotRun(str(error)) from None
        if not self.url:
            raise CannotRun("a server URL is required, such as http://127.0.0.1:8000/v1")
        key = checked_key(self.key)
        key_header = checked_key_header(self.key_header, key)
        headers = checked_headers(self.headers, key, key_header)
        cacert = None if self.cacert is None else checked_certificates(self.cacert, insecure=self.insecure)
        url = checked_url(self.url)
        layers = self.layers or layers_of(self.filters)
        return Job(
            Target(url, key, self.model, self.timeout, headers, cacert, self.insecure, key_header),
            dialect,
            self.profile,
            layers,
            self.filters,
            self.concurrency,
            self.max_time,
            self.fail_on,
            self._fuzz_options(layers),
            server=self.server,
            client=client,
        )

    def _client(self) -> ClientProfile | None:
        if self.client is None:
            return None
        if self.client not in all_clients():
            raise CannotRun(f"--client {self.client!r} is unknown; the clients are {', '.join(all_clients())}")
        if self.filters or self.layers or self.replay:
            raise CannotRun(
                "--client selects the rules; it can't be combined with --filter, --api, --layer and --replay"
            )
        return all_clients()[self.client]

    def _replay_job(self, file: Path) -> Job:
        """Returns the job that replays a report, against the server in the report unless `url` is set. Raises
        CannotRun."""
        if self._has_generation_options():
            raise CannotRun(f"--replay sends the requests in {file}; it can't be combined with {GENERATION_OPTIONS}")
        try:
            report = ndjson.read(file)
        except ndjson.BadReport as error:
            raise CannotRun(str(error)) from None
        except OSError as error:
            raise CannotRun(f"{file} can't be read: {error.strerror}") from None
        header = report.header
        if self.dialect not in (None, header.dialect):
            raise CannotRun(f"--dialect is {self.dialect}, but {file} was tested against {header.dialect}")
        settings = replace(
            self,
            replay=None,
            server=self.server or header.server,
            url=self.url or header.url,
            model=self.model or header.model,
            dialect=header.dialect,
            layers=("fuzz",),
        )
        job = replace(settings.job(), replayed=report)
        if not job.replayed_lines():
            raise CannotRun(f"{file} has no fuzz findings to replay")
        return job

    def _has_generation_options(self) -> bool:
        options = (self.seed, self.max_examples, self.include_checks or None, self.exclude_checks or None)
        return any(option is not None for option in options)

    def _fuzz_options(self, layers: tuple[str, ...]) -> Options:
        seed = SEED if self.seed is None else self.seed
        if "fuzz" not in layers and self._has_generation_options():
            raise CannotRun(f"{GENERATION_OPTIONS} require --layer fuzz")
        try:
            return Options(seed, self.max_examples, self.include_checks, self.exclude_checks)
        except ValueError as error:
            raise CannotRun(str(error)) from None


def run(settings: Settings, *, baseline: Path | None = None) -> Report:
    """Tests a server and returns the report, with a line for each rule.

    `baseline` is a file of accepted findings. `Report.exit_code` is the exit code of `specvino conform`. Raises
    CannotRun if nothing can be tested: no server at the URL, an invalid key, an unknown model, a filter without
    matches, an unreadable baseline. In a running event loop use `run_async`.
    """
    return asyncio.run(run_async(settings, baseline=baseline))


async def run_async(settings: Settings, *, baseline: Path | None = None) -> Report:
    """Does the same as `run`, in the running event loop."""
    accepted, job = _read_baseline(baseline), settings.job()
    async with Client(job.target) as client:
        running = await begin(job, client)
        async with aclosing(running.lines(accepted.mark)) as lines:
            async for _ in lines:
                pass
        running.report.footer = running.footer(complete=True)
        return running.report


# The variable in commands for B's key, if it has its own.
KEY_OF_B = "SPECVINO_API_KEY_B"


def parity(a: Settings, b: Settings, *, baseline: Path | None = None) -> Report:
    """Sends the same requests to two servers and returns what differs, with a line for each difference.

    `url`, `model`, `key` and what else is about the connection are each server's own; what is tested must be the same
    in both settings. `baseline` is a file of accepted differences. Raises CannotRun as `run` does.
    """
    return asyncio.run(parity_async(a, b, baseline=baseline))


async def parity_async(a: Settings, b: Settings, *, baseline: Path | None = None) -> Report:
    """Does the same as `parity`, in the running event loop."""
    accepted, jobs = _read_baseline(baseline), parity_jobs(a, b)
    async with Client(jobs[0].target) as client, Client(jobs[1].target) as other:
        comparison = await begin_parity(*jobs, client, other)
        await comparison.compare(accepted.mark)
        return comparison.report


def parity_jobs(a: Settings, b: Settings) -> tuple[Job, Job]:
    """Returns the jobs of a comparison. Raises CannotRun if they differ in what is tested, or have the layer `fuzz`."""
    one, other = a.job(), b.job()
    for name in ("dialect.name", "profile", "layers", "filters", "client", "max_time", "fail_on"):
        if attrgetter(name)(one) != attrgetter(name)(other):
            raise CannotRun(f"{name.partition('.')[0]} must be the same for both servers")
    if "fuzz" in one.layers:
        raise CannotRun("parity compares the answers to cases, and the layer fuzz has none")
    target = other.target
    if target.key != one.target.key:
        target = replace(target, key_variable=KEY_OF_B)
    return one, replace(other, target=target, dialect=one.dialect)


def write_report(report: Report, path: Path, format: Format) -> None:
    """Writes a report in one of the formats of `specvino conform`. Raises OSError."""
    WRITERS[format](report, path)


def _read_baseline(path: Path | None) -> Baseline:
    try:
        return Baseline() if path is None else read_baseline(path)
    except BadBaseline as error:
        raise CannotRun(str(error)) from None
    except OSError as error:
        raise CannotRun(f"{path} can't be read: {error.strerror}") from None
