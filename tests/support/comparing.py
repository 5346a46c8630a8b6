"""Two servers compared over real HTTP, beside a test."""

import asyncio
from typing import Any

from specvino.conformance import Report, Settings, parity_async
from specvino.conformance.reports.records import Line
from support.asgi import answering


def compared(a: Any, b: Any, *filters: str, key: str | None = None, **settings: Any) -> Report:
    """The comparison of two ASGI applications by the cases that `filters` name. `settings` are fields of Settings."""

    async def beside_both() -> Report:
        async with answering(a) as one, answering(b) as other:
            named = {"key": key, "filters": filters, **settings}
            return await parity_async(Settings(one, **named), Settings(other, **named))

    return asyncio.run(beside_both())


def differences(report: Report) -> dict[str, Line]:
    """The lines of differences by their rules, without those of the judge's own rules."""
    return {line.rule: line for line in report.bad if "/parity/" in line.rule}


def messages(report: Report) -> dict[str, str]:
    """The first message of each difference."""
    return {rule: line.findings[0].message for rule, line in differences(report).items()}
