"""`specvino conform parity`: two servers compared, with terminal output and files."""

from collections.abc import Iterator

from rich.console import Console

from specvino.cli.conform_run import Files, Terminal, cancelled_by_sigterm, exit_code, printing, writing
from specvino.conformance.http.client import Client
from specvino.conformance.preflight import CannotRun
from specvino.conformance.python_api import Settings, parity_jobs
from specvino.conformance.reports import ndjson
from specvino.conformance.reports.baseline import Baseline
from specvino.conformance.reports.table import heading
from specvino.conformance.two_servers.run import Parity, begin
from specvino.conformance.two_servers.terminal import show_differences, show_summary


def compare(a: Settings, b: Settings, files: Files, *, quiet: bool, verbose: bool) -> int:
    """Compares the servers, writes the reports and returns the exit code."""
    accepted = files.accepted()
    files.check()
    return exit_code(_compare(a, b, files, accepted, quiet=quiet, verbose=verbose))


async def _compare(a: Settings, b: Settings, files: Files, accepted: Baseline, *, quiet: bool, verbose: bool) -> int:
    cancelled_by_sigterm()
    console = Terminal(highlight=False, quiet=quiet)
    jobs = parity_jobs(a, b)
    async with Client(jobs[0].target) as client, Client(jobs[1].target) as other:
        parity = await begin(*jobs, client, other)
        report = parity.report
        with printing():
            console.print(heading(report.header), soft_wrap=True)
        try:
            await _run(parity, accepted, console)
        finally:  # also for an interrupted run
            files.write(report)
            if files.ndjson is not None:
                with writing(files.ndjson):
                    ndjson.write(report, files.ndjson)
            with printing():
                show_differences(console, report, verbose=verbose)
                show_summary(console, parity, _unneeded(accepted, parity))
    if files.write_baseline is not None:
        with writing(files.write_baseline):
            accepted.updated(report.lines).write(files.write_baseline)
        # All remaining differences are accepted.
        report.lines = [line.model_copy(update={"fails": False}) for line in report.lines]
    if report.exit_code == 2:
        raise CannotRun(report.shortcoming or "no answers could be compared")
    return report.exit_code


async def _run(parity: Parity, accepted: Baseline, console: Console) -> None:
    with console.status("") as status:

        def show() -> None:
            status.update(f"{parity.done} of {parity.cases} cases, {parity.requests} requests")

        await parity.compare(accepted.mark, show)


def _unneeded(accepted: Baseline, parity: Parity) -> Iterator[str]:
    """Yields a text for each entry of the baseline without a difference, if all cases ran."""
    if parity.report.complete:
        bad = {line.rule for line in parity.report.bad}
        yield from (f"no longer needed in the baseline: {rule}" for rule in sorted(accepted.accepted.keys() - bad))
