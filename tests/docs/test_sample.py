"""The sample in docs/sample is what the commands make, and what they make pages of."""

import json
from itertools import pairwise, product, zip_longest
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import jsonschema_rs
import pytest
from support.examples import ROOT
from support.reports import text_of, tree
from typer.testing import CliRunner

from specvino.cli.main import app
from specvino.conformance.verdict import Severity, Verdict

SAMPLE = ROOT / "docs" / "sample"
REPORTS = sorted(SAMPLE.glob("*.ndjson"))


def lines(report: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in report.read_text("utf-8").splitlines()]


def test_there_are_two_servers() -> None:
    assert [report.stem for report in REPORTS] == ["llama.cpp", "specvino"]


@pytest.mark.parametrize("report", REPORTS, ids=[report.stem for report in REPORTS])
def test_a_report_is_whole_and_fits_its_schema(report: Path) -> None:
    schema = json.loads((ROOT / "conformance" / "reports" / "line.schema.json").read_text("utf-8"))
    validator = jsonschema_rs.validator_for(schema)
    found = lines(report)
    assert [each for each in found if not validator.is_valid(each)] == []
    assert found[-1]["kind"] == "footer"
    assert found[-1]["complete"]


def results(report: Path) -> dict[str, dict[str, Any]]:
    return {line["rule"]: line for line in lines(report) if line["kind"] == "result"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages that the command makes of the reports."""
    folder = tmp_path_factory.mktemp("site")
    made = CliRunner().invoke(app, ["conform", "matrix", *map(str, REPORTS), "-o", str(folder)])
    assert made.exit_code == 0, made.output
    return {page.name: page.read_text("utf-8") for page in folder.iterdir()}


def one_line(text: str) -> str:
    return " ".join(text.split())


def place(rule: str) -> str:
    """A rule's place in a page."""
    return rule.replace("/", ".")


def page_of(report: Path) -> str:
    return report.stem.replace(".", "-") + ".html"


def shown(line: dict[str, Any]) -> str:
    advice = line["severity"] == "should" and line["verdict"] in ("fail", "error")
    return f"{line['verdict']} (should)" if advice else str(line["verdict"])


def test_there_is_a_page_for_each_server_and_one_for_all(site: dict[str, str]) -> None:
    assert site.keys() == {"index.html", *map(page_of, REPORTS)}


def test_each_cell_of_the_matrix_is_what_the_report_says(site: dict[str, str]) -> None:
    table = tree(site["index.html"]).find(".//table[@class='matrix']")
    assert table is not None
    assert [text_of(cell) for cell in table.findall("thead/tr/th")][1:-1] == [report.stem for report in REPORTS]
    servers = {page_of(report): results(report) for report in REPORTS}
    says = {rule: line["says"] for found in servers.values() for rule, line in found.items()}
    rows = []
    for row in table.findall("tbody/tr"):
        rule, *cells, said = row.findall("td")
        links = [cell.find("a") for cell in cells]
        rows.append(
            (
                text_of(rule),
                list(map(text_of, cells)),
                [None if a is None else a.get("href") for a in links],
                text_of(said),
            )
        )
    expected = [
        (
            rule,
            [shown(found[rule]) if rule in found else "–" for found in servers.values()],
            [f"{page}#{place(rule)}" if rule in found else None for page, found in servers.items()],
            one_line(said),
        )
        for rule, said in says.items()
    ]
    assert len(expected) > 500
    assert sorted(rows) == sorted(expected)


def test_the_totals_are_those_of_the_reports(site: dict[str, str]) -> None:
    rows = tree(site["index.html"]).findall(".//table")[0].findall("tbody/tr")
    for row, (report, severity) in zip_longest(rows, product(REPORTS, Severity)):
        verdicts = [line["verdict"] for line in results(report).values() if line["severity"] == severity]
        counts = [str(verdicts.count(verdict) or "") for verdict in Verdict]
        assert text_of(row.find("th")) == (report.stem if severity == "must" else "")
        assert [text_of(cell) for cell in row.findall("td")][:-1] == [severity, *counts, str(len(verdicts))]


@pytest.mark.parametrize("report", REPORTS, ids=[report.stem for report in REPORTS])
def test_a_server_s_page_shows_what_was_found(site: dict[str, str], report: Path) -> None:
    """Each rule with its verdict and reasons, its findings, and the requests that show them with their answers."""
    sections = tree(site[page_of(report)]).findall(".//section[@class='rule']")
    shown = [
        (
            section.get("id"),
            text_of(section.find("h3/span")),
            text_of(section.find("h3/a")),
            [text_of(paragraph) for paragraph in section.findall("p")],
            [
                (text_of(found.find("summary")), list(zip(texts(found, "p/code"), curls(found), strict=True)))
                for found in section.findall("details")
            ],
        )
        for section in sections
    ]
    expected = [
        (
            place(rule),
            line["verdict"],
            rule,
            [one_line(part) for part in (line["says"], advised(line), line["because"], reference(line)) if part],
            [
                (one_line(found["message"]), [(came(each), one_line(each["curl"])) for each in found["exchanges"]])
                for found in line["findings"]
            ],
        )
        for rule, line in results(report).items()
    ]
    assert sorted(shown) == sorted(expected)


def texts(element: Element, path: str) -> list[str]:
    return list(map(text_of, element.findall(path)))


def curls(finding: Element) -> list[str]:
    """What stands below each exchange's head."""
    return [text_of(below) for head, below in pairwise(finding) if head.tag == "p" and head.find("code") is not None]


def came(exchange: dict[str, Any]) -> str:
    request, response = exchange["request"], exchange["response"]
    answer = response["status"] if response else exchange["problem"] or exchange["ended"]
    return f"{request['method']} {request['url']} -> {answer}"


def advised(line: dict[str, Any]) -> str:
    source = line["source"].removeprefix("https://")
    return f"A server should do so: {line['advice']} {source}" if line["advice"] else ""


def reference(line: dict[str, Any]) -> str:
    return " ".join([line["spec"], *(issue.removeprefix("https://github.com/") for issue in line["issues"])]).strip()
