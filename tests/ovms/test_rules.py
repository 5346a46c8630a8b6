"""Each difference from OVMS hangs on a rule, and each rule is used as often as it says."""

from collections import Counter
from pathlib import Path

from support.ovms_cases import KINDS, load

from specvino.document import yaml_text

CASES = list(load())
DIALECT = Path(__file__).parents[2] / "openapi" / "dialects" / "ovms.yaml"
RULES = yaml_text.load(DIALECT.read_text("utf-8"))["differences"]


def test_no_request_is_lost_or_named_twice() -> None:
    assert len(CASES) == len({case.id for case in CASES}) == 424
    assert {kind for case in CASES for kind in (case.ovms, case.ours)} == set(KINDS)


def test_a_case_has_a_rule_where_the_kinds_of_answers_differ_and_only_there() -> None:
    assert [case.id for case in CASES if (case.rule is None) != (case.ours == case.ovms)] == []


def test_rules_are_used_as_often_as_they_say() -> None:
    assert Counter(case.rule for case in CASES if case.rule) == {name: rule["cases"] for name, rule in RULES.items()}


def test_what_ovms_answers_and_we_refuse_has_rules_of_its_own() -> None:
    answered = {case.rule for case in CASES if case.rule and case.ovms in ("200", "sse")}
    not_answered = {case.rule for case in CASES if case.rule and case.ovms not in ("200", "sse")}
    assert answered & not_answered == set()


def test_we_never_fail_where_ovms_does_not() -> None:
    assert [case.id for case in CASES if case.ours == "5xx"] == []
