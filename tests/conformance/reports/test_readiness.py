"""Verdicts for a client, by the lines of a report."""

from typing import Any

import pytest
from support.reports import HEADER, line, report

from specvino.conformance.clients import profile
from specvino.conformance.clients.profile import ClientProfile, RecordedRequest, Reliance
from specvino.conformance.reports import badge, markdown, ndjson, readiness
from specvino.conformance.reports.readiness import Readiness
from specvino.conformance.reports.records import Report

CLIENT = ClientProfile(
    name="thing",
    title="Thing",
    version="1.0",
    source="A client for tests.",
    needs=(Reliance(rules=("chat/capabilities/tools",), because="It calls tools."),),
    uses=(Reliance(rules=("chat/rules", "chat/usage/longer"), because="It reads answers."),),
    requests=(RecordedRequest(name="first_one", endpoint="chat", sender="thing 1.0", body={"messages": []}),),
)
TOOLS, REQUEST = line("chat/capabilities/tools"), line("chat/clients/thing-first-one")
RULE = line("chat/rules/answer-shape")


@pytest.fixture(autouse=True)
def one_client(monkeypatch):
    for module in (profile, readiness, badge, markdown):
        monkeypatch.setattr(module, "all_clients", lambda: {"thing": CLIENT})


def of(*lines: Any, **header: Any) -> Report:
    made = report(*lines)
    made.header = HEADER.model_copy(update={"client": "thing", "left_out": {}, **header})
    return made


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ([TOOLS, REQUEST, RULE], "READY"),
        ([line(TOOLS.rule, "fail"), REQUEST, RULE], "NOT READY"),
        ([line(TOOLS.rule, "unsupported", because="400"), REQUEST, RULE], "NOT READY"),
        ([TOOLS, line(REQUEST.rule, "fail"), RULE], "NOT READY"),
        ([TOOLS, REQUEST, line(RULE.rule, "fail")], "LIMITED"),
        ([line(TOOLS.rule, "not-exercised", because="no call"), REQUEST, RULE], "LIMITED"),
        ([REQUEST, RULE], "LIMITED"),
        # What a baseline accepts; advice, unless it is named; a rule for all answers that nothing exercised.
        ([line(TOOLS.rule, "fail", accepted=True), REQUEST, RULE], "READY"),
        ([TOOLS, REQUEST, line(RULE.rule, "fail", severity="should")], "READY"),
        ([TOOLS, REQUEST, RULE, line("chat/usage/longer", "fail", severity="should")], "LIMITED"),
        ([TOOLS, REQUEST, line(RULE.rule, "not-exercised")], "READY"),
    ],
)
def test_a_verdict(lines, verdict) -> None:
    assert readiness.readiness(of(*lines)) == verdict


def test_a_rule_that_was_left_out() -> None:
    made = of(REQUEST, RULE, left_out={TOOLS.rule: "tools is ignored in openai"})
    assert readiness.readiness(made) is Readiness.LIMITED
    outcome = readiness.outcomes(made)[0]
    assert outcome.reasons == ("chat/capabilities/tools was left out: tools is ignored in openai",)


def test_a_report_of_no_client_or_of_one_that_is_unknown() -> None:
    assert readiness.readiness(report(TOOLS)) is None
    assert readiness.readiness(of(TOOLS, client="newer")) is None


def test_reports_show_it(tmp_path) -> None:
    made = of(line(TOOLS.rule, "unsupported", because="no tools here"), REQUEST, RULE)
    markdown.write(made, tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert "**Thing 1.0: NOT READY**" in text
    assert "- needs: It calls tools. chat/capabilities/tools: no tools here" in text
    assert badge.badge(made) == {"schemaVersion": 1, "label": "Thing", "message": "not ready", "color": "red"}
    ndjson.write(made, tmp_path / "report.ndjson")
    assert readiness.readiness(ndjson.read(tmp_path / "report.ndjson")) is Readiness.NOT_READY
