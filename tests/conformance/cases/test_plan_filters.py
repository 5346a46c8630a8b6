"""Whatever a report shows can be asked for again."""

import pytest

from specvino.conformance.cases.plan import Plan, plan
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Target
from specvino.conformance.job import Job, layers_of
from specvino.conformance.rule_catalog import all_rules


def planned(rule: str, whole: Dialect) -> Plan:
    return Job(Target("http://127.0.0.1:1/v1", "sk-key"), whole, layers=layers_of([rule]), filters=(rule,)).plan()


def test_each_rule_for_all_answers_is_a_filter(whole: Dialect) -> None:
    rules = [rule for rule in all_rules() if rule.split("/")[1] in ("rules", "capabilities")]
    assert len(rules) > 200
    for rule in rules:
        chosen = planned(rule, whole)
        assert not chosen.cases
        assert chosen.rules == (rule,)


def test_each_check_of_the_fuzz_is_a_filter(whole: Dialect) -> None:
    rules = [rule for rule in all_rules() if "/fuzz/" in rule]
    assert {layers_of([rule]) for rule in rules} == {("fuzz",)}
    assert planned("transport/fuzz/run", whole).is_empty


def test_a_case_is_a_filter_that_tells_what_its_answers_break(whole: Dialect) -> None:
    chosen = planned("chat/basics/answers", whole)
    assert [case.rule for case in chosen.cases] == ["chat/basics/answers"]
    assert chosen.reports("chat/rules/answer-shape")


@pytest.fixture(scope="module")
def whole() -> Dialect:
    return Dialect("specvino")


def rules_asked(*filters: str, dialect: Dialect) -> set[str]:
    chosen = plan(dialect, profile="full", layers=("cases", "streams"), filters=filters, key=True)
    return {case.endpoint for case in chosen.unreported}


def test_a_rule_for_all_answers_has_all_cases_of_its_endpoint(whole: Dialect) -> None:
    assert rules_asked("chat/rules/stream-order", dialect=whole) == {"chat", "transport"}
    assert rules_asked("chat/rules/ids-unique", "tokenize/rules", dialect=whole) == {"chat", "tokenize", "transport"}
    # Stored responses have cases among those of responses, errors among all.
    everything = {"chat", "compact", "completions", "count_tokens", "detokenize", "input_tokens", "messages", "models"}
    everything |= {"conversations", "ollama_chat", "ollama_generate", "responses", "tokenize", "transport"}
    assert rules_asked("response/rules/answer-shape", dialect=whole) == everything
    assert rules_asked("transport/rules/no-server-error", dialect=whole) == everything


def test_a_filter_of_cases_brings_no_others(whole: Dialect) -> None:
    for filters in (["chat"], ["chat/stop"], ["*/tools/*"], ["*"], []):
        assert not rules_asked(*filters, dialect=whole)
