"""Reports as NDJSON: a header, a line for each rule in the order of completion, a footer."""

from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from specvino.conformance.reports.records import RECORDS, Footer, Header, Line, Report


class BadReport(Exception):
    """Raised for a file that isn't a report; the message is the reason."""


def write(report: Report, path: Path) -> None:
    """Writes a whole report. Raises OSError."""
    records = [report.header, *report.lines, *([report.footer] if report.footer else ())]
    path.write_bytes(b"".join(map(as_line, records)))


def as_line(record: Header | Line | Footer) -> bytes:
    return record.model_dump_json().encode() + b"\n"


class Writer:
    """Writes records immediately, so that a killed run keeps its findings. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Unbuffered: after an error, closing would write the buffer again.
        self._file = path.open("wb", buffering=0)

    def write(self, record: Header | Line | Footer) -> None:
        self._file.write(as_line(record))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()


def read(path: Path) -> Report:
    """Reads a report. A truncated file gives a report that isn't `complete`. Raises BadReport and OSError."""
    lines = path.read_bytes().split(b"\n")
    # A last line without a line feed is truncated.
    lines, rest = lines[:-1], lines[-1]
    if not lines:
        raise BadReport(f"{path} isn't a conformance report: it has no complete line")
    report: Report | None = None
    for number, line in enumerate(lines, 1):
        try:
            record = RECORDS.validate_json(line)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, problem["loc"]))
            raise BadReport(f"{path} isn't a conformance report: line {number}: {field}: {problem['msg']}") from None
        if report is None and isinstance(record, Header):
            report = Report(record)
        elif report is None or isinstance(record, Header) or report.footer is not None:
            raise BadReport(f"{path} isn't a conformance report: unexpected {record.kind} in line {number}")
        elif isinstance(record, Footer):
            report.footer = record
        else:
            report.lines.append(record)
    assert report is not None
    if rest or (report.footer is not None and report.footer.counts != report.counts):
        report.footer = None  # the file is truncated or was edited
    return report
