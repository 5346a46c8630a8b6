"""`specvino conform` without its command line: a run against a server, as a report."""

import asyncio
from contextlib import aclosing
from typing import Any

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client, Target
from specvino.conformance.job import Job, begin
from specvino.conformance.reports.records import Report
from specvino.conformance.verdict import Severity, Verdict


def judge(url: str, *, key: str | None = None, dialect: str = "specvino", concurrency: int = 16, **how: Any) -> Report:
    """`how` are fields of a Job. Answers that a model generates together take less CPU time: the core on the default
    model 94 s, 139 s with the 4 at once of the command and 194 s one by one (a run of each, on a busy machine)."""
    return asyncio.run(report_of(Job(Target(url, key), Dialect(dialect), concurrency=concurrency, **how)))


async def report_of(job: Job) -> Report:
    """The report of a job's whole run."""
    async with Client(job.target) as client:
        judging = await begin(job, client)
        async with aclosing(judging.lines(lambda line: line)) as lines:
            async for _ in lines:
                pass
        judging.report.footer = judging.footer(complete=True)
        return judging.report


def counted(report: Report, verdict: Verdict) -> int:
    return sum(line.verdict is verdict for line in report.lines)


def failure_lines(report: Report, *, advice: bool = True) -> list[str]:
    """What a report has that isn't well, a line for each; without `advice` what must be well."""
    return [
        f"{line.verdict} {line.rule}: {line.because} {'; '.join(finding.message for finding in line.findings)}"
        for line in report.lines
        if line.verdict in (Verdict.FAIL, Verdict.ERROR) and (advice or line.severity is Severity.MUST)
    ]


def lines_without_verdict(report: Report) -> list[str]:
    """The cases without a verdict, with the reason. (Of the rules for all answers many concern none of a short run.)"""
    return [
        f"{line.verdict} {line.rule}: {line.because}"
        for line in report.lines
        if line.verdict in (Verdict.NOT_EXERCISED, Verdict.SKIP, Verdict.UNSUPPORTED) and "/rules/" not in line.rule
    ]
