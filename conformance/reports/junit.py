"""Reports for CI systems that read JUnit's XML. A run that isn't whole has an error among its tests."""

from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from junitparser.junitparser import FinalResult

from specvino.conformance.reports.plain import explained
from specvino.conformance.reports.records import Line, Report, by_subject
from specvino.conformance.verdict import Verdict


def write(report: Report, path: Path) -> None:
    """Writes a report for CI systems. Raises OSError."""
    xml = JUnitXml("specvino conform")
    for subject, lines in by_subject(report.lines).items():
        xml.add_testsuite(_suite(subject, lines, report))
    if report.shortcoming:
        broken = TestCase("runs to its end", "specvino.run")
        broken.result = [Error(report.shortcoming)]
        suite = TestSuite("run")
        suite.add_testcase(broken)
        xml.add_testsuite(suite)
    with path.open("wb") as file:
        xml.write(file)


def _suite(subject: str, lines: list[Line], report: Report) -> TestSuite:
    suite = TestSuite(subject)
    suite.timestamp = report.header.started
    suite.hostname = report.header.url
    for line in lines:
        case = TestCase(line.rule.rsplit("/", 1)[1], subject.replace("/", "."), line.seconds)
        case.result = _outcome(line)
        suite.add_testcase(case)
    return suite


def _outcome(line: Line) -> list[FinalResult]:
    text = _xml(explained(line))
    match line.verdict:
        case Verdict.PASS:
            return []
        case Verdict.FAIL | Verdict.ERROR if line.accepted:
            found: FinalResult = Skipped(_xml(f"accepted: {line.why}"))
        case Verdict.FAIL if not line.fails:
            found = Skipped(_xml(f"advice: {line.why}"))
        case Verdict.FAIL:
            found = Failure(_xml(line.why), str(line.verdict))
        case Verdict.ERROR:
            found = Error(_xml(line.why), str(line.verdict))
        case _:
            return [Skipped(_xml(f"{line.verdict}: {line.why}"))]
    found.text = text
    return [found]


def _xml(text: str) -> str:
    """Returns a text without the two characters that survive redaction and that XML can't have."""
    return text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
