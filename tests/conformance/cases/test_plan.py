"""What a dialect, a profile and a key leave of the cases."""

from dataclasses import replace

import pytest

from specvino.conformance.cases.case import all_cases
from specvino.conformance.cases.plan import excluded_by_document, exclusion_reason, plan
from specvino.conformance.dialect import NAMES, Dialect
from specvino.document.loading import systems, whole
from specvino.document.pointers import at

BY_RULE = {case.rule: case for case in all_cases()}
BROKEN = BY_RULE["transport/bodies/broken"]


def planned(name="specvino", **how):
    return plan(Dialect(name), **{"profile": "full", "layers": ("cases", "streams"), **how})


def test_every_pointer_leads_somewhere() -> None:
    for case in all_cases():
        for pointer in case.spec:
            at(whole(), pointer)


def test_cases_about_keys_need_one() -> None:
    assert planned().left_out["transport/keys/missing"] == "no key was given"
    assert "transport/keys/missing" in {case.rule for case in planned(key=True).cases}


def test_what_nobody_knows_is_left_out() -> None:
    case = BY_RULE["transport/media/wrong"]
    assert exclusion_reason(case, Dialect("openai")) == "the status of this refusal by openai is unknown"
    assert exclusion_reason(case, Dialect("vllm")) == ""


def test_of_several_refusals_one_known_is_enough() -> None:
    step = {"raw": {}, "expect": {"refused": ["json", "media_type"]}}
    assert exclusion_reason(replace(BROKEN, steps=(step,)), Dialect("openai")) == ""


@pytest.mark.parametrize(("rule", "because"), [
    ("tokenize/lists/cut", "openai has no /tokenize"),
    ("models/one/code", ""),
    ("transport/bodies/too-large", "The limits of the other systems aren't known."),
])  # fmt: skip
def test_dialects_leave_out(rule, because) -> None:
    assert exclusion_reason(BY_RULE[rule], Dialect("openai")) == because


def test_what_a_system_refuses_by_its_document_needs_no_asking() -> None:
    several = BY_RULE["completions/prompts/several"]
    because = "the probe of completions/capabilities/prompts isn't valid by the document of mlc-llm"
    assert [exclusion_reason(several, Dialect(name)) for name in ("mlc-llm", "openai")] == [because, ""]
    filters = ["completions/capabilities/*"]
    for name, asked in (("mlc-llm", False), ("openai", True)):
        capabilities = plan(Dialect(name), profile="full", layers=("cases",), filters=filters).capabilities
        assert ("completions.prompts" in capabilities) is asked


def test_systems_are_excluded_by_hand_only_where_the_document_cant_tell() -> None:
    dialects = [Dialect(name) for name in NAMES]
    for case in all_cases():
        if not (case.only or case.not_in):
            continue
        by_hand = {dialect.name for dialect in dialects if exclusion_reason(case, dialect)}
        for derived in (replace(case, needs_full_support=False), replace(case, needs_full_support=True)):
            by_levels = {dialect.name for dialect in dialects if excluded_by_document(derived, dialect)}
            assert by_hand != by_levels, f"{case.rule}: the levels say so (full: {derived.needs_full_support})"


def test_only_systems_that_the_document_has_are_excluded_by_hand() -> None:
    for case in all_cases():
        for name in case.not_in:
            assert name in systems(), f"{case.rule}: there is no system {name}"
            assert not excluded_by_document(case, Dialect(name)), f"{case.rule}: the document excludes {name}"


def test_an_object_that_no_field_of_the_system_has_is_absent() -> None:
    pointer = "/components/schemas/AllowedTools"
    assert Dialect("ovms").level(pointer, "chat") == "absent"
    assert Dialect("openai").level(pointer, "chat") == "full"


def test_a_base_path_is_there_or_not() -> None:
    assert [Dialect(name).level("/servers/1", "transport") for name in ("specvino", "ovms", "vllm")] == [
        "full", "full", "absent",
    ]  # fmt: skip


def test_the_mark_of_a_field_is_asked_for_where_the_field_is() -> None:
    pointer = "/components/schemas/CreateChatCompletionRequest/properties/service_tier/x-origin"
    assert [Dialect(name).level(pointer, "chat") for name in ("specvino", "openai", "vllm")] == [
        "full", "full", "ignored",
    ]  # fmt: skip


def test_what_a_system_may_take_it_need_not_refuse() -> None:
    because = "the document of vllm allows the request that must be refused"
    assert exclusion_reason(BY_RULE["chat/basics/model-is-missing"], Dialect("vllm")) == because


def test_some_cases_ask_for_the_whole_of_a_field() -> None:
    assert exclusion_reason(BY_RULE["chat/choices/three-streamed"], Dialect("ovms")) == "n is partial in ovms"


def test_core_is_part_of_full() -> None:
    core, full = ({case.rule for case in planned(profile=profile).cases} for profile in ("core", "full"))
    assert core < full


def test_filters_are_folders_or_patterns() -> None:
    assert {case.endpoint for case in planned(filters=("models", "tokenize/*")).cases} == {"models", "tokenize"}
