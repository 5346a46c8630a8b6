"""A server that emulates OVMS answers with OVMS's statuses, except for some that stay different."""

import pytest
from ovms.test_answers import kind, send
from ovms.test_rules import RULES
from support.ovms_cases import load

# Cases in which the status stays different, by the rule of the ovms dialect that says why.
DIFFERENT = {"http: KServe metadata": "documented-paths-only", "http: metrics that are off": "metrics-are-on"}

CASES = list(load())


def test_what_stays_different_has_a_rule() -> None:
    assert {case.id: case.rule for case in CASES if case.id in DIFFERENT} == DIFFERENT
    assert {name for name, rule in RULES.items() if rule.get("emulated")} == {*DIFFERENT.values()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_status(clients_as_ovms, case) -> None:
    response = send(clients_as_ovms(case.server), case)
    if case.id in DIFFERENT:
        assert (kind(response), kind(response) != case.ovms) == (case.ours, True), response.text
    else:
        assert (response.status_code, kind(response)) == (case.status, case.ovms), response.text
