"""The judge as others run it: settings, one call for a whole run, and the report in each format."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

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
from specvino.conformance.verdict import Severity

DEFAULT_DIALECT = "openai"

# The options of requests that are generated anew.
NEW = "--seed, --max-examples, --include-check and --exclude-check"

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
    """What a run is to test, and how far. Only `url` is needed, or `replay`; times are in seconds.

    The fields have the meaning of the options of `specvino conform`, and are checked when the run begins: `key` is
    `--api-key`, `key_header` is `--auth-header`, `headers` are lines such as `Name: value`, and `layers` and `filters`
    are those of `--layer` and `--filter`.
    """

    url: str | None = None
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    key_header: str | None = None
    headers: tuple[str, ...] = field(default=(), repr=False)
    cacert: Path | None = None
    insecure: bool = False
    dialect: str | None = None
    """By default `openai`."""
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
    """A report of NDJSON, whose findings of the layer `fuzz` are sent again."""
    server: str = ""
    """What is tested, with its version, for the titles of reports."""

    def job(self) -> Job:
        """Returns the run with everything checked. Raises CannotRun."""
        if self.replay is not None:
            return self._replaying(self.replay)
        try:
            dialect = Dialect(self.dialect or DEFAULT_DIALECT)
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
            self._generated(layers),
            server=self.server,
        )

    def _replaying(self, file: Path) -> Job:
        """Returns the job that sends a report's requests again: to the same server, unless there is a URL."""
        if self._asks_for_new_requests():
            raise CannotRun(f"--replay sends the requests in {file}; it can't be combined with {NEW}")
        try:
            report = ndjson.read(file)
        except ndjson.BadReport as error:
            raise CannotRun(str(error)) from None
        except OSError as error:
            raise CannotRun(f"{file} can't be read: {error.strerror}") from None
        head = report.header
        if self.dialect not in (None, head.dialect):
            raise CannotRun(f"--dialect is {self.dialect}, but {file} was judged against {head.dialect}")
        settings = replace(
            self,
            replay=None,
            server=self.server or head.server,
            url=self.url or head.url,
            model=self.model or head.model,
            dialect=head.dialect,
            layers=("fuzz",),
        )
        job = replace(settings.job(), replayed=report)
        if not job.again():
            raise CannotRun(f"{file} has no fuzz findings to replay")
        return job

    def _asks_for_new_requests(self) -> bool:
        options = (self.seed, self.max_examples, self.include_checks or None, self.exclude_checks or None)
        return any(option is not None for option in options)

    def _generated(self, layers: tuple[str, ...]) -> Options:
        seed = SEED if self.seed is None else self.seed
        if "fuzz" not in layers and self._asks_for_new_requests():
            raise CannotRun(f"{NEW} require --layer fuzz")
        try:
            return Options(seed, self.max_examples, self.include_checks, self.exclude_checks)
        except ValueError as error:
            raise CannotRun(str(error)) from None


def run(settings: Settings, *, baseline: Path | None = None) -> Report:
    """Tests a server and returns the report of the whole run, with a line for each rule.

    `baseline` is a file of accepted findings. `Report.exit_code` is the exit code of the command `specvino conform`.
    Raises CannotRun if nothing can be tested: without a server at the URL, with a wrong key or an unknown model,
    with a filter that matches nothing, or where the baseline can't be read. In a running event loop use `run_async`.
    """
    return asyncio.run(run_async(settings, baseline=baseline))


async def run_async(settings: Settings, *, baseline: Path | None = None) -> Report:
    """Does what `run` does, in the event loop that is running."""
    accepted, job = _baseline(baseline), settings.job()
    async with Client(job.target) as client:
        running = await begin(job, client)
        async with aclosing(running.lines(accepted.mark)) as lines:
            async for _ in lines:
                pass
        running.report.footer = running.footer(complete=True)
        return running.report


def write_report(report: Report, path: Path, format: Format) -> None:
    """Writes a report in one of the formats of `specvino conform`. Raises OSError."""
    WRITERS[format](report, path)


def _baseline(path: Path | None) -> Baseline:
    try:
        return Baseline() if path is None else read_baseline(path)
    except BadBaseline as error:
        raise CannotRun(str(error)) from None
    except OSError as error:
        raise CannotRun(f"{path} can't be read: {error.strerror}") from None
