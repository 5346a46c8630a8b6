"""The list of servers, what is known of each and the reports of the portal agree."""

import pytest

from field.listing import listed
from field.outside import SCRIPTED, disagreements, judges, results
from field.page import PAGE, PUBLISHED, page, published
from field.truth import KNOWN, known, marked, unread
from specvino.conformance.reports.ndjson import read
from specvino.conformance.reports.records import BAD
from specvino.conformance.rule_catalog import all_rules

SERVERS = listed()


JUDGED = [name for name in SERVERS if published(name).exists()]


def test_each_report_is_of_a_server_of_the_list() -> None:
    assert sorted(file.stem for file in PUBLISHED.glob("*.ndjson")) == sorted(JUDGED)
    assert {file.stem for file in KNOWN.glob("*.yaml")} <= set(SERVERS)
    assert len(JUDGED) > 5


def test_a_version_is_the_one_that_is_installed() -> None:
    for server in SERVERS.values():
        installed = [*server.pip, *server.npm]
        assert not installed or any(server.title.split()[-1].lstrip("b") in version for version in installed), (
            server.title
        )


@pytest.mark.parametrize("name", JUDGED)
def test_each_finding_was_read(name) -> None:
    assert not unread(known(name))


@pytest.mark.parametrize("name", JUDGED)
def test_a_report_has_what_is_known_and_nothing_else(name) -> None:
    report = read(published(name))
    assert report.covers_plan
    assert report.header.server == SERVERS[name].title
    assert report.lines == marked(report, known(name)).lines, "python -m field --again --note NAME"
    assert sorted(known(name).accepted) == sorted(line.rule for line in report.lines if line.verdict in BAD)


@pytest.mark.parametrize("name", JUDGED)
def test_what_is_known_is_of_rules(name) -> None:
    assert not known(name).unknown(all_rules())


def test_the_page_has_each_server_as_it_was_judged() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m field --again --note"


def test_each_disagreement_of_other_judges_with_us_was_read() -> None:
    said = results()[SCRIPTED].judges
    assert said.keys() == judges().keys()
    failed = {judge: set(outcome.failed) for judge, outcome in said.items()}
    read = {judge: set(disagreements().get(judge, {})) for judge in judges()}
    assert failed == read


def test_an_older_judge_is_named_beside_what_it_said(monkeypatch) -> None:
    said = results()
    said["litellm"].title, said["litellm"].date = "LiteLLM 1.0", None
    said["litellm"].judges["llmprobe"].title = "llmprobe 0.1"
    monkeypatch.setattr("field.page.results", lambda: said)
    (row,) = (line for line in page().splitlines() if line.startswith("| LiteLLM 1.0 |"))
    assert row.endswith(" by llmprobe 0.1 |  |")


def test_what_another_judge_says_is_text_of_one_cell(monkeypatch) -> None:
    said = results()
    said[SCRIPTED].judges["llmprobe"].failed["responses-streaming"] = "a | `b` <img src=x>\nc"
    monkeypatch.setattr("field.page.results", lambda: said)
    assert r"| `responses-streaming` | a \| \`b\` \<img src=x\> c |" in page()
