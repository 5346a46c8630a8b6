"""`specvino conform matrix`: reports of several servers as web pages."""

from collections.abc import Iterable
from pathlib import Path

from specvino.cli.conform_diff import read_report
from specvino.conformance.reports import html


def side_by_side(files: Iterable[Path], output: Path) -> int:
    """Writes the pages to the folder `output` and returns the number of servers. A server's name is that of its run, or
    else of its file. Raises OSError if the folder can't be written."""
    reports = {}
    for file in files:
        report = read_report(file)
        name = report.header.server or file.stem
        reports[name if name not in reports else str(file)] = report
    html.write_matrix(reports, output)
    return len(reports)
