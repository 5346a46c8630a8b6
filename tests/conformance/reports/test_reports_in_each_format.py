"""JUnit, SARIF, HTML and Markdown: what they hold, and that nothing a server sent gets out of its place."""

import json
import re
from itertools import product
from xml.etree.ElementTree import Element, parse

import pytest
from support.hostile import MARKUP
from support.reports import SHOWN, Page, exchange, line, report

from specvino.conformance.http.client import Target
from specvino.conformance.reports import badge, convert, html, junit, markdown, sarif
from specvino.conformance.reports.records import FindingRecord, ResponseRecord
from specvino.conformance.verdict import Finding, Result, Verdict


@pytest.fixture
def whole():
    return report(
        line("chat/a/good"),
        line("chat/a/bad", "fail", issues=("https://github.com/o/r/issues/1",), spec="/paths"),
        line("chat/a/known", "fail", accepted=True, note="fixed in 2.0"),
        line("chat/b/broken", "error"),
        line("chat/b/without", "unsupported", because="it answers 501"),
        line("chat/b/unasked", "skip", because="no key"),
        line(
            "chat/c/advice",
            "fail",
            severity="should",
            advice="Clients wait for it.",
            source="https://github.com/o/r",
            findings=(FindingRecord(message="it is late"),),
        ),
    )


@pytest.fixture
def hostile():
    shown = SHOWN.model_copy(update={"response": ResponseRecord(status=200, headers={"x": MARKUP}, body=MARKUP)})
    return report(
        line("chat/a/bad", "fail", findings=(FindingRecord(message=MARKUP, exchanges=(shown,)),), because=MARKUP)
    )


def test_servers_have_alerts_of_their_own(whole) -> None:
    def id_of(**header):
        whole.header = whole.header.model_copy(update=header)
        (run,) = sarif.sarif(whole)["runs"]
        return run["automationDetails"]["id"]

    one = id_of()
    assert one == "specvino/127.0.0.1:8000/m/openai/full/"
    others = [id_of(url="http://other:8000/v1"), id_of(model="org/a b"), id_of(dialect="vllm"), id_of(profile="core")]
    assert len({one, *others}) == 5
    assert others[1] == "specvino/other:8000/org/a%20b/openai/full/"


def test_junit_has_totals(tmp_path, whole) -> None:
    whole.lines[0] = whole.lines[0].model_copy(update={"seconds": 1.25})
    whole.lines[-1] = whole.lines[-1].model_copy(update={"seconds": 0.5})
    junit.write(whole, tmp_path / "j.xml")
    assert parse(tmp_path / "j.xml").getroot().attrib == {"tests": "7", "failures": "1", "errors": "1", "time": "1.750"}
    junit.write(report(), tmp_path / "j.xml")
    assert parse(tmp_path / "j.xml").getroot().attrib == {"tests": "0", "failures": "0", "errors": "0", "time": "0.000"}


def suites_of(path) -> dict[str, Element]:
    return {suite.attrib["name"]: suite for suite in parse(path).getroot()}


def counts(suite, *names):
    return tuple(int(suite.attrib[name]) for name in names or ("tests", "failures", "errors", "skipped"))


def test_junit_has_each_rule_once(tmp_path, whole) -> None:
    junit.write(whole, tmp_path / "j.xml")
    suites = suites_of(tmp_path / "j.xml")
    assert {name: counts(suite) for name, suite in suites.items()} == {
        "chat/a": (3, 1, 0, 1),
        "chat/b": (3, 0, 1, 2),
        "chat/c": (1, 0, 0, 1),
    }
    bad = next(case for case in suites["chat/a"].iter("testcase") if case.attrib["name"] == "bad")
    assert bad.attrib["classname"] == "chat.a"
    assert bad[0].attrib["message"] == "there is no choice"
    assert SHOWN.curl in (bad[0].text or "")
    assert (bad[0].text or "").startswith("Fault: There is no choice\nThere is a choice.\n")


def test_junit_fits_the_strictest_schema(tmp_path, whole) -> None:
    """Ant's, in words: what has to be there, in which order, and nothing else but the totals of the root."""
    whole.footer = None
    junit.write(whole, tmp_path / "j.xml")
    root = parse(tmp_path / "j.xml").getroot()
    assert (root.tag, sorted(root.attrib)) == ("testsuites", ["errors", "failures", "tests", "time"])
    for number, suite in enumerate(root):
        required = ["name", "timestamp", "hostname", "tests", "failures", "errors", "time", "package", "id"]
        assert sorted(suite.attrib) == sorted([*required, "skipped"])
        assert suite.attrib["id"] == str(number)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        assert suite.attrib["hostname"] == "127.0.0.1"
        cases = suite.findall("testcase")
        assert [element.tag for element in suite] == [
            "properties",
            *["testcase"] * len(cases),
            "system-out",
            "system-err",
        ]
        for case in cases:
            assert sorted(case.attrib) == ["classname", "name", "time"]
            assert len(case) <= 1
        for timed in (suite, *cases):
            assert re.fullmatch(r"\d+\.\d{3}", timed.attrib["time"])
    assert {(child.tag, *sorted(child.attrib)) for case in root.iter("testcase") for child in case} == {
        ("skipped", "message"),
        ("failure", "message", "type"),
        ("error", "message", "type"),
    }


@pytest.mark.parametrize("ended", [{"complete": False}, {"lost": "chat/a/b"}, {"time_up": True}])
def test_a_run_that_is_not_whole_is_not_green_in_junit(tmp_path, ended) -> None:
    junit.write(report(line("chat/a/good"), **ended), tmp_path / "j.xml")
    assert sum(counts(suite, "errors")[0] for suite in suites_of(tmp_path / "j.xml").values()) == 1


def test_junit_fails_by_advice_where_the_run_does(tmp_path) -> None:
    junit.write(report(line("chat/a/advice", "fail", severity="should", fails=True)), tmp_path / "j.xml")
    (suite,) = suites_of(tmp_path / "j.xml").values()
    assert counts(suite, "failures", "skipped") == (1, 0)


def test_junit_stays_xml_whatever_a_server_sent(tmp_path, hostile) -> None:
    junit.write(hostile, tmp_path / "j.xml")
    (case,) = parse(tmp_path / "j.xml").getroot().iter("testcase")
    assert "<script>" in (case[0].text or "")


def test_sarif_has_a_result_for_each_fault(tmp_path, whole) -> None:
    sarif.write(whole, tmp_path / "s.sarif")
    (run,) = json.loads((tmp_path / "s.sarif").read_text("utf-8"))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [(result["ruleId"], result["level"], "suppressions" in result) for result in run["results"]] == [
        ("chat/a/bad", "error", False),
        ("chat/b/broken", "note", False),
        ("chat/c/advice", "warning", False),
        ("chat/a/known", "error", True),
    ]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "error", "error", "warning"]
    assert [rule["properties"]["problem.severity"] for rule in rules] == ["error", "error", "error", "warning"]
    assert rules[0]["help"]["text"] == (
        "There is a choice.\nSource in the document: /paths.\nSee https://github.com/o/r/issues/1"
    )
    assert "Reason for this advice: Clients wait for it." in rules[3]["help"]["markdown"]
    assert run["results"][3]["suppressions"][0]["justification"] == "fixed in 2.0"
    assert rules[0]["helpUri"] == "https://github.com/o/r/issues/1"
    assert run["invocations"][0]["executionSuccessful"] is True
    assert SHOWN.curl in run["results"][0]["message"]["text"]


def test_sarif_has_all_findings_of_a_fault() -> None:
    lines = (
        line(f"chat/a/{name}", "fail", findings=(FindingRecord(message=message),))
        for name, message in (("b", "the answer has no usage.total_tokens"), ("c", "the answer has no total_tokens"))
    )
    (result,) = sarif.sarif(report(*lines))["runs"][0]["results"]
    assert result["message"]["text"] == (
        "Answers lack `total_tokens`\nthe answer has no usage.total_tokens\nchat/a/c: the answer has no total_tokens"
    )


def test_a_page_has_the_name_of_the_server_and_what_is_known(whole) -> None:
    whole.header = whole.header.model_copy(update={"server": "llama.cpp b11434"})
    page = html.page(whole)
    assert "<h1>llama.cpp b11434</h1>" in page
    unknown, known = page.split("<h2>Accepted violations of the document</h2>")[:2]
    assert "fixed in 2.0" not in unknown
    assert "fixed in 2.0" in known.partition("<h2>")[0]


def results_of(*findings, rule="chat/a/bad"):
    (run,) = sarif.sarif(report(line(rule, "fail", findings=findings)))["runs"]
    return run["results"]


def fingerprints(*findings, **more):
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in results_of(*findings, **more)]


def test_sarif_knows_a_fault_again() -> None:
    one, again, other = (
        FindingRecord(message=message) for message in ("3 tokens are 4", "5 tokens are 6", "no tokens")
    )
    assert fingerprints(one) == fingerprints(again) == fingerprints(one, again)
    assert len({*fingerprints(one, other), *fingerprints(one, rule="chat/a/b")}) == 3


@pytest.mark.parametrize(
    ("url", "path", "asked"),
    [
        ("/v1/chat/completions", "v1/chat/completions", "POST /v1/chat/completions"),
        ("/v1/responses/resp_1a2b/input_items", "v1/responses", "POST /v1/responses"),
        ("/no such", "no%20such", "POST /no such"),
    ],
)
def test_sarif_names_the_path_that_was_asked(url, path, asked) -> None:
    sent = SHOWN.request.model_copy(update={"url": f"http://127.0.0.1:8000{url}"})
    finding = FindingRecord(message="no", exchanges=(SHOWN.model_copy(update={"request": sent}),))
    (location,) = results_of(finding)[0]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == path
    assert location["logicalLocations"][0]["fullyQualifiedName"] == f"127.0.0.1:8000 {asked}"


def test_sarif_suppresses_what_is_accepted_only() -> None:
    results = results_of(FindingRecord(message="old", accepted=True), FindingRecord(message="new"))
    assert ["suppressions" in result for result in results] == [False, True]


def test_sarif_keeps_the_limits_of_code_scanning() -> None:
    long = line("chat/a/bad", "fail", issues=tuple(f"https://github.com/o/r/{n}" for n in range(99)), spec="/" * 999)
    (rule,) = sarif.sarif(report(long))["runs"][0]["tool"]["driver"]["rules"]
    assert all(len(rule[key]["text"]) <= 1024 for key in ("shortDescription", "fullDescription"))
    assert len(rule["properties"]["tags"]) <= 10


def test_sarif_says_that_a_run_was_broken_off() -> None:
    (invocation,) = sarif.sarif(report(line("chat/a/good"), complete=False))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "interrupted" in invocation["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize(
    ("lines", "message", "color"),
    [
        ([line("chat/a/b"), line("chat/a/c"), line("chat/a/d", "skip")], "2 of 2 pass", "brightgreen"),
        ([line("chat/a/b"), line("chat/a/c", "fail", accepted=True)], "1 of 2 pass, 1 fault", "red"),
        ([line("chat/a/b", "fail"), line("chat/a/c", "fail")], "0 of 2 pass, 1 fault", "red"),
        ([line("chat/a/b"), line("chat/a/c", "fail", severity="should")], "1 of 1 pass", "brightgreen"),
        ([line("chat/a/d", "skip")], "not judged", "lightgrey"),
    ],
)
def test_a_badge_counts_what_must_hold(tmp_path, lines, message, color) -> None:
    badge.write(report(*lines), tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text("utf-8")) == {
        "schemaVersion": 1,
        "label": "openai API",
        "message": message,
        "color": color,
    }


@pytest.mark.parametrize("ended", [{"complete": False}, {"lost": "chat/a/b", "complete": False}, {"time_up": True}])
def test_a_run_that_is_not_whole_has_no_green_badge(ended) -> None:
    assert badge.badge(report(line("chat/a/good"), **ended))["message"] == "not judged"


def test_a_page_has_each_rule_and_what_was_found(whole) -> None:
    page = Page(html.page(whole))
    assert {html.anchor(line.rule) for line in whole.lines} <= page.ids
    assert SHOWN.curl in page.text
    assert "must: 1 pass · 2 fail · 1 unsupported · 1 skip · 1 error of 6" in page.text
    assert "should: 0 pass · 1 fail of 1" in page.text
    assert "Reason for this advice: Clients wait for it." in page.text
    assert "1 left out, not in the dialect openai" in page.text


def test_a_page_refers_to_nothing_but_issues(whole) -> None:
    page = Page(html.page(whole))
    assert {reference for reference in page.references if reference[0] != "#"} == {
        "data:,",
        "https://github.com/o/r/issues/1",
        "https://github.com/o/r",
    }
    assert {reference[1:] for reference in page.references if reference[0] == "#"} <= page.ids
    assert "@import" not in page.text
    assert "url(" not in page.text


def test_what_a_server_sent_is_text_in_a_page(whole, hostile) -> None:
    page = Page(html.page(hostile))
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert MARKUP in page.text


def test_a_page_tells_that_the_run_was_broken_off() -> None:
    assert "The run was interrupted." in html.page(report(line("chat/a/good"), complete=False))


def test_the_summary_has_totals_and_findings(tmp_path, whole) -> None:
    markdown.write(whole, tmp_path / "s.md")
    text = (tmp_path / "s.md").read_text("utf-8")
    assert "| must | chat | 1 | 2 | 1 |  | 1 | 1 |" in text
    assert "| should | chat |  | 1 |  |  |  |  |" in text
    assert "of 6; should: 0 pass · 1 fail of 1; 1 left out, not in the dialect openai" in text
    assert ". Judged by rules 1.0 and the document of openai, profile full.\n" in text
    assert "| must | There is no choice | chat/a/bad | there is no choice |" in text
    assert "| should | It is late | chat/c/advice | it is late |" in text
    assert "chat/a/known" not in text


def test_the_summary_has_no_markup_of_a_server(tmp_path, hostile) -> None:
    markdown.write(hostile, tmp_path / "s.md")
    row = (tmp_path / "s.md").read_text("utf-8").splitlines()[-1]
    assert "\\<script\\>" in row
    assert "\\[x\\]\\(http" in row
    assert "\\@someone" in row
    assert row.replace("\\|", "").count("|") == 5


def test_the_summary_has_no_markup_of_a_field(tmp_path) -> None:
    """A difference's rule has the name of a field, which a server chooses."""
    findings = (FindingRecord(message="it is only at A"),)
    name = "a|![](http://x)<img>"
    lines = [line(f"chat/parity/{kind}/{name}", "fail", findings=findings) for kind in ("field", "event-field")]
    markdown.write(report(*lines), tmp_path / "s.md")
    row = (tmp_path / "s.md").read_text("utf-8").splitlines()[-1]
    assert row.count("a\\|\\!\\[\\]\\(http://x\\)\\<img\\>") == 2
    assert "</summary>chat/parity/field/" in row
    assert row.replace("\\|", "").count("|") == 5


def test_the_summary_has_room(tmp_path) -> None:
    letters = product("abcdefgh", repeat=2)
    findings = ((FindingRecord(message=f"the answer has no {one}{other}"),) for one, other in letters)
    many = report(*(line(f"chat/a/b{number}", "fail", findings=next(findings)) for number in range(60)))
    markdown.write(many, tmp_path / "s.md")
    assert "10 more faults" in (tmp_path / "s.md").read_text("utf-8")


def test_a_report_has_a_largest_size(monkeypatch) -> None:
    """Each exchange gets a share of what is left: later ones are shorter, and none is missing."""
    monkeypatch.setattr(convert, "LARGEST", 400_000)
    large = exchange(headers={f"x-{number}": "y" * 100 for number in range(500)}, content=b"x" * 1_000_000)
    converter = convert.Converter(Target("http://127.0.0.1:8000/v1"))
    result = Result("chat/a/b", "cases", "So.", Verdict.FAIL, findings=(Finding("no", (large,) * 8),) * 5)
    lines = [converter.line(result) for _ in range(20)]
    shown = [one.response for line in lines for finding in line.findings for one in finding.exchanges if one.response]
    assert len(shown) == 800
    assert len(shown[0].body) > len(shown[-1].body)
    assert sum(len(line.model_dump_json()) for line in lines) < 2 * 400_000 + 800 * 1_000
    assert shown[-1].size == 1_000_000


def test_a_page_does_not_grow_by_indents() -> None:
    deep = "[" * 900 + "]" * 900
    shown = SHOWN.model_copy(update={"response": ResponseRecord(status=200, headers={}, body=deep)})
    page = html.page(report(line("chat/a/bad", "fail", findings=(FindingRecord(message="no", exchanges=(shown,)),))))
    assert deep in Page(page).text
