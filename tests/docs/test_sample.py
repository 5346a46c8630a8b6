"""The sample in docs/sample is what the commands make, and what they make pages of."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
from support.examples import ROOT
from typer.testing import CliRunner

from specvino.cli.main import app

SAMPLE = ROOT / "docs" / "sample"
REPORTS = sorted(SAMPLE.glob("*.ndjson"))


def lines(report: Path) -> list[dict[str, object]]:
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


def test_the_matrix_is_made_of_the_reports(tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["conform", "matrix", *map(str, REPORTS), "-o", str(tmp_path)])
    assert made.exit_code == 0, made.output
    assert {page.name for page in tmp_path.iterdir()} == {"index.html", "llama-cpp.html", "specvino.html"}
    matrix = (tmp_path / "index.html").read_text("utf-8")
    rules = {line["rule"] for report in REPORTS for line in lines(report) if line["kind"] == "result"}
    assert rules
    assert [rule for rule in sorted(map(str, rules)) if rule not in matrix] == []
