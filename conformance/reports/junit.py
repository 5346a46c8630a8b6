"""JUnit XML reports, for CI systems. An incomplete run adds an erroneous test.

The output is valid by the schema of Jenkins' xUnit plugin (junit-10.xsd), which allows no other totals in the root. But
for these it is valid by the strictest schema, Ant's (github.com/windyroad/JUnit-Schema).
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from specvino.conformance.reports.faults import fault_records
from specvino.conformance.reports.plain import explained
from specvino.conformance.reports.records import Line, Report, by_subject
from specvino.conformance.verdict import Verdict


def write(report: Report, path: Path) -> None:
    """Writes a JUnit XML report. Raises OSError."""
    root = Element("testsuites")
    titles: dict[str, list[str]] = defaultdict(list)
    for fault in fault_records(report.lines):
        for rule in fault.rules:
            titles[rule].append(fault.title)
    for subject, lines in by_subject(report.lines).items():
        _suite(root, subject, [_case(line, titles[line.rule]) for line in lines], report)
    if report.shortcoming:
        broken = Element("testcase", name="runs to its end", classname="specvino.run", time="0.000")
        _outcome(broken, "error", report.shortcoming, report.shortcoming)
        _suite(root, "run", [broken], report)
    for total in ("tests", "failures", "errors"):
        root.set(total, str(sum(int(suite.attrib[total]) for suite in root)))
    root.set("time", f"{sum(float(suite.attrib['time']) for suite in root):.3f}")
    indent(root)
    with path.open("wb") as file:
        ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def _suite(root: Element, name: str, cases: Sequence[Element], report: Report) -> None:
    header = report.header
    suite = SubElement(root, "testsuite", id=str(len(root)), package="specvino", name=name)
    # Ant's schema doesn't allow a time zone; the time is UTC.
    suite.set("timestamp", header.started[: len("2026-01-02T03:04:05")])
    suite.set("hostname", urlsplit(header.url).hostname or "localhost")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.attrib['time']) for case in cases):.3f}")
    properties = SubElement(suite, "properties")
    attributes = {"url": header.url, "model": header.model, "dialect": header.dialect, "rules": header.rules}
    for key, value in attributes.items():
        SubElement(properties, "property", name=key, value=value)
    suite.extend(cases)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _case(line: Line, titles: Sequence[str]) -> Element:
    subject, _, name = line.rule.rpartition("/")
    case = Element("testcase", name=name, classname=subject.replace("/", "."), time=f"{line.seconds:.3f}")
    text = "\n".join([*(f"Fault: {title}" for title in titles), explained(line)])
    match line.verdict:
        case Verdict.PASS:
            pass
        case Verdict.FAIL | Verdict.ERROR if line.accepted:
            _outcome(case, "skipped", f"accepted: {line.why}", text)
        case Verdict.FAIL if not line.fails:
            _outcome(case, "skipped", f"advice: {line.why}", text)
        case Verdict.FAIL:
            _outcome(case, "failure", line.why, text)
        case Verdict.ERROR:
            _outcome(case, "error", line.why, text)
        case _:
            _outcome(case, "skipped", f"{line.verdict}: {line.why}", "")
    return case


def _outcome(case: Element, tag: str, message: str, text: str) -> None:
    outcome = SubElement(case, tag, message=message)
    if tag != "skipped":
        outcome.set("type", str(Verdict.FAIL if tag == "failure" else Verdict.ERROR))
    outcome.text = text
