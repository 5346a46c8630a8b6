"""What a dialect, a profile and a key leave of the cases."""

from dataclasses import replace

import pytest

from specvino.conformance.cases.case import all_cases
from specvino.conformance.cases.plan import plan, why_not
from specvino.conformance.document.dialect import Dialect, at_pointer, whole

BY_RULE = {case.rule: case for case in all_cases()}
BROKEN = BY_RULE["transport/bodies/broken"]


def planned(name="specvino", **how):
    return plan(Dialect(name), **{"profile": "full", "layers": ("cases", "streams"), **how})


def test_every_pointer_leads_somewhere():
    for case in all_cases():
        for pointer in case.spec:
            at_pointer(whole(), pointer)


def test_cases_about_keys_need_one():
    assert planned().left_out["transport/keys/missing"] == "no key was given"
    assert "transport/keys/missing" in {case.rule for case in planned(key=True).cases}


def test_what_nobody_knows_is_left_out():
    assert why_not(BY_RULE["transport/media/wrong"], Dialect("openai")) == "nobody knows how openai refuses it"
    assert why_not(BY_RULE["transport/media/wrong"], Dialect("vllm")) == ""


def test_of_several_refusals_one_known_is_enough():
    step = {"raw": {}, "expect": {"refused": ["json", "media_type"]}}
    assert why_not(replace(BROKEN, steps=(step,)), Dialect("openai")) == ""


@pytest.mark.parametrize(("rule", "because"), [
    ("tokenize/lists/cut", "openai has no /tokenize"),
    ("models/one/code", ""),
    ("transport/bodies/too-large", "it is for specvino"),
])  # fmt: skip
def test_dialects_leave_out(rule, because):
    assert why_not(BY_RULE[rule], Dialect("openai")) == because


def test_core_is_part_of_full():
    core, full = ({case.rule for case in planned(profile=each).cases} for each in ("core", "full"))
    assert core < full


def test_filters_are_folders_or_patterns():
    assert {case.endpoint for case in planned(filters=("models", "tokenize/*")).cases} == {"models", "tokenize"}
