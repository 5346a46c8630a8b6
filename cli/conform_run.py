"""`specvino conform URL`: a run with its terminal output and its files."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, ExitStack, aclosing
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast, get_args

from rich.console import Console

from specvino.cli.ending import end
from specvino.conformance.fuzz.options import is_installed, not_installed
from specvino.conformance.http.client import Client
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.job import DEFAULT_LAYERS, Job, RunningJob, begin
from specvino.conformance.preflight import CannotRun
from specvino.conformance.python_api import Format, Settings, write_report
from specvino.conformance.reports import har, table
from specvino.conformance.reports.baseline import BadBaseline, Baseline, read
from specvino.conformance.reports.ndjson import Writer, as_line
from specvino.conformance.reports.records import JUDGED, Footer, Header, Line, Report
from specvino.conformance.rule_catalog import all_rules


@dataclass(frozen=True, slots=True)
class Files:
    """The files from the command line."""

    junit: Path | None
    sarif: Path | None
    html: Path | None
    markdown: Path | None
    ndjson: Path | None
    badge: Path | None
    har: Path | None
    baseline: Path | None
    write_baseline: Path | None
    strict: bool
    """Whether a baseline entry that matches no finding makes the run fail."""

    def check(self) -> None:
        """Ends the command if a file can't be written, before any request is sent."""
        taken: dict[Path, str] = {}
        for field in fields(self):
            path = getattr(self, field.name)
            if not isinstance(path, Path) or field.name == "baseline":
                continue
            if (other := taken.setdefault(path.absolute(), field.name)) != field.name:
                end(f"--{other} and --{field.name.replace('_', '-')} write to the same file, {path}")
            with writing(path):
                existed = path.exists()
                path.open("ab").close()
                if not existed:
                    path.unlink()

    def accepted(self) -> Baseline:
        """Returns the baseline; ends the command if the file isn't one."""
        if self.baseline is None:
            if self.strict:
                end("--strict requires --baseline")
            return Baseline()
        try:
            baseline = read(self.baseline)
        except BadBaseline as error:
            end(str(error))
        except OSError as error:
            end(f"{self.baseline} can't be read: {error.strerror}")
        if self.strict and (unknown := baseline.unknown(all_rules())):
            end(f"{self.baseline} contains unknown rules: {', '.join(unknown)}")
        return baseline

    def write(self, report: Report) -> None:
        for name in get_args(Format):
            # NDJSON lines are written immediately.
            path: Path | None = getattr(self, name) if name != "ndjson" else None
            if path is not None:
                with writing(path):
                    write_report(report, path, name)


@dataclass(frozen=True, slots=True)
class Output:
    """The options for printing. With `json`, standard output gets the NDJSON report instead of the human-readable
    output."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Ends the command with one line if a file can't be written."""
    try:
        yield
    except OSError as error:
        end(f"{path} can't be written: {error.strerror or error}")


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Ends the command with one line if standard output can't be written."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # Flushing the rest of the buffer would fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        end(f"standard output can't be written: {error.strerror}")


class Terminal(Console):
    """A console whose reader may close the pipe: rich would exit with the code for findings."""

    def on_broken_pipe(self) -> None:
        raise


def list_cases(settings: Settings) -> None:
    """Prints the cases of a run, and those that it would skip."""
    try:
        # The plan doesn't depend on the server.
        chosen = replace(settings, url=settings.url or "http://localhost").job().plan()
    except CannotRun as error:
        end(str(error))
    with printing():
        for case in chosen.cases:
            print(f"{case.rule}  {case.says}")
        for rule in chosen.rules or ():
            print(rule)
        for rule, because in chosen.left_out.items():
            print(f"skipped: {rule}  {because}")
        print(f"{len(chosen.cases)} cases; {len(chosen.left_out)} skipped")


def judge(settings: Settings, files: Files, output: Output) -> int:
    """Runs the test, writes the reports and returns the exit code."""
    accepted = files.accepted()
    files.check()
    try:
        job = settings.job()
    except CannotRun as error:
        end(str(error))
    return exit_code(_judge(job, files, accepted, output))


def exit_code(run: Coroutine[Any, Any, int]) -> int:
    """Returns the exit code of a run. One that can't be run, or is interrupted, ends the program."""
    try:
        return asyncio.run(run)
    except CannotRun as error:
        end(str(error))
    except KeyboardInterrupt:
        end("interrupted")
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None


async def _judge(job: Job, files: Files, accepted: Baseline, output: Output) -> int:
    cancelled_by_sigterm()
    console = Terminal(highlight=False, stderr=output.json, quiet=output.quiet)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(job.target, on_exchange=_traffic(job, files, stack)))
        running = await begin(job, client)
        report = running.report
        with printing():
            console.print(table.heading(report.header), soft_wrap=True)
            if job.layers == DEFAULT_LAYERS and not job.filters and job.client is None and not is_installed():
                console.print(f"left out: {not_installed()}", style="dim", soft_wrap=True, markup=False)
        try:
            await _run(running, files, accepted, console, output)
        finally:
            # Also for an interrupted run.
            files.write(report)
            with printing():
                table.show_findings(console, report, verbose=output.verbose)
                table.show_totals(console, report, _of_baseline(accepted, report))
                table.show_readiness(console, report)
    if not any(line.verdict in JUDGED for line in report.lines):
        why = f" ({report.shortcoming})" if report.shortcoming else ""
        raise CannotRun(f"no rule could be judged{why}")
    if files.write_baseline is not None:
        with writing(files.write_baseline):
            accepted.updated(report.lines).write(files.write_baseline)
        # All remaining findings are accepted.
        report.lines = [line.model_copy(update={"fails": False}) for line in report.lines]
    elif files.strict and any(accepted.unneeded(report.lines)):
        return 1
    if report.exit_code == 2:
        raise CannotRun(report.shortcoming)
    return report.exit_code


def cancelled_by_sigterm() -> None:
    """Makes SIGTERM cancel the current task, like Ctrl-C: an exception raised by the handler would end whichever task
    is running."""
    with contextlib.suppress(NotImplementedError):  # on Windows
        task = cast("asyncio.Task[int]", asyncio.current_task())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _traffic(job: Job, files: Files, stack: AsyncExitStack) -> Callable[[Exchange], None]:
    """Returns a function that writes each exchange to the HAR file, if there is one."""
    if files.har is None:
        return lambda _: None
    path = files.har
    with writing(path):
        writer = har.Writer(path, job.target, f"specvino {version('specvino')}")

    def close() -> None:
        with writing(path):
            writer.close()

    def write(exchange: Exchange) -> None:
        with writing(path):
            writer.write(exchange)

    stack.callback(close)
    return write


def _of_baseline(accepted: Baseline, report: Report) -> Iterator[str]:
    """Yields the problems of a baseline's entries."""
    yield from (f"no longer needed in the baseline: {rule}" for rule in accepted.unneeded(report.lines))
    unknown = accepted.unknown(all_rules()) if accepted.accepted else ()
    yield from (f"unknown rule in the baseline: {rule}" for rule in unknown)


async def _run(running: RunningJob, files: Files, accepted: Baseline, console: Console, output: Output) -> None:
    """Fills the report, and writes it line by line to the NDJSON file and to standard output."""
    report, cases = running.report, len(running.plan.cases)
    with ExitStack() as stack:
        writer = None
        if files.ndjson is not None:
            with writing(files.ndjson):
                writer = stack.enter_context(Writer(files.ndjson))

        def record(line: Header | Line | Footer) -> None:
            if writer is not None:
                with writing(writer.path):
                    writer.write(line)
            if output.json:
                with printing():
                    sys.stdout.buffer.write(as_line(line))

        record(report.header)
        live = table.LiveTable(console, report, cases, lambda: running.requests, verbose=output.verbose)
        shown = stack.enter_context(live)
        complete = False
        try:
            async with aclosing(running.lines(accepted.mark)) as lines:
                async for line in lines:
                    with printing():
                        shown.feed(line)
                    record(line)
            complete = True
        finally:
            report.footer = running.footer(complete=complete)
            record(report.footer)
