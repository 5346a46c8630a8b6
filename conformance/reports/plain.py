"""Findings as plain text."""

from collections.abc import Iterator

from specvino.conformance.reports.records import ExchangeRecord, FindingRecord, Line

# The maximum length of a body or command, in characters.
LONGEST = 2_000


def explained(line: Line) -> str:
    """Returns a result with all details, as lines."""
    return "\n".join(_lines(line))


def _lines(line: Line) -> Iterator[str]:
    yield line.says
    if line.advice:
        yield f"Reason for this advice: {line.advice} ({line.source})"
    if line.because:
        yield line.because
    if line.spec:
        yield f"see {line.spec} in the document"
    for issue in line.issues:
        yield f"see {issue}"
    for finding in line.findings:
        yield ""
        yield from finding_lines(finding)


def finding_lines(finding: FindingRecord) -> Iterator[str]:
    """Yields the lines of a finding and its exchanges."""
    yield finding.message
    for exchange in finding.exchanges:
        yield str(exchange)
        yield f"  {cut(exchange.curl)}"
        yield from (f"  {line}" for line in _response(exchange))


def _response(exchange: ExchangeRecord) -> Iterator[str]:
    if exchange.response is None:
        return
    for name, value in exchange.response.headers.items():
        yield f"{name}: {value}"
    yield ""
    yield from cut(exchange.response.body).splitlines()


def cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"
