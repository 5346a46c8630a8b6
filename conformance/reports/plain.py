"""Findings as text, for terminals and for text-only reports."""

from collections.abc import Iterator

from specvino.conformance.reports.records import Found, Line, Shown

# Characters of a body or a command in a report.
LONGEST = 2_000


def explained(line: Line) -> str:
    """Returns a result with all its details."""
    return "\n".join(_lines(line))


def _lines(line: Line) -> Iterator[str]:
    yield line.says
    if line.advice:
        yield f"A server should do so: {line.advice} ({line.source})"
    if line.because:
        yield line.because
    if line.spec:
        yield f"see {line.spec} in the document"
    for issue in line.issues:
        yield f"see {issue}"
    for finding in line.findings:
        yield ""
        yield from finding_lines(finding)


def finding_lines(found: Found) -> Iterator[str]:
    """Yields the lines of a finding and its exchanges."""
    yield found.message
    for shown in found.exchanges:
        yield str(shown)
        yield f"  {cut(shown.curl)}"
        yield from (f"  {line}" for line in _response(shown))


def _response(shown: Shown) -> Iterator[str]:
    if shown.response is None:
        return
    for name, value in shown.response.headers.items():
        yield f"{name}: {value}"
    yield ""
    yield from cut(shown.response.body).splitlines()


def cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"
