"""Findings folded to faults."""

from support.reports import line

from specvino.conformance.reports.faults import faults, shape
from specvino.conformance.reports.records import Found


def told(rule, message, **more):
    return line(rule, "fail", findings=(Found(message=message),), **more)


def folded(*lines):
    return [[each.rule for each in fault.lines] for fault in faults(lines)]


def test_one_message_with_other_values_is_one_fault() -> None:
    one = told("chat/streams/plain", 'choices.0.message.content is "a" unary, but the stream makes it "ab"')
    other = told("chat/streams/stop", 'choices.12.message.content is "\\"q\\"" unary, but the stream makes it ""')
    third = told("chat/streams/usage", 'usage.prompt_tokens is "a" unary, but the stream makes it "ab"')
    assert folded(other, third, one) == [["chat/streams/plain", "chat/streams/stop"], ["chat/streams/usage"]]


def test_a_rule_for_all_answers_is_one_fault_of_all_endpoints() -> None:
    lacks = "usage: total_tokens is required"
    assert folded(told("chat/rules/answer-shape", lacks), told("completions/rules/answer-shape", lacks)) == [
        ["chat/rules/answer-shape", "completions/rules/answer-shape"]
    ]
    assert len(folded(told("chat/rules/answer-shape", lacks), told("chat/rules/stream-order", lacks))) == 2


def test_what_follows_is_told_with_its_cause() -> None:
    cause = told("chat/rules/no-server-error", "status 500: it broke")
    case = told("chat/a/refused", "the status is 500, not 400", follows=cause.rule)
    elsewhere = told("responses/rules/no-server-error", "status 503: it broke")
    assert folded(case, elsewhere, cause) == [[cause.rule, elsewhere.rule, case.rule]]


def test_what_follows_stands_alone_where_its_cause_is_accepted() -> None:
    cause = told("chat/rules/no-server-error", "status 500", accepted=True)
    assert folded(told("chat/a/refused", "the status is 500, not 400", follows=cause.rule), cause) == [
        ["chat/a/refused"]
    ]


def test_values_that_are_taken_are_one_fault_and_refusals_one_for_each_reason() -> None:
    taken = [
        told(f"chat/bounds/{name}", f"the status is 200, not {status}") for name, status in (("a", 400), ("b", 422))
    ]
    assert folded(*taken) == [["chat/bounds/a", "chat/bounds/b"]]
    refused = [
        told(f"chat/x/{reason}", f"the status is 400, not 200: no {reason}, got 7") for reason in ("tools", "stop")
    ]
    assert folded(*refused, told("chat/y/stop", "the status is 400, not 200: no stop, got 9")) == [
        ["chat/x/stop", "chat/y/stop"],
        ["chat/x/tools"],
    ]


def test_what_binds_most_and_what_most_rules_tell_comes_first() -> None:
    advice = [told(f"chat/a/{name}", "the answer is late", severity="should") for name in "abc"]
    often = [told(f"chat/z/{name}", "the answer is empty") for name in "ab"]
    assert folded(*advice, told("chat/b/a", "the answer is long"), *often) == [
        ["chat/z/a", "chat/z/b"],
        ["chat/b/a"],
        ["chat/a/a", "chat/a/b", "chat/a/c"],
    ]


def test_what_passes_or_is_no_verdict_is_no_fault() -> None:
    assert not faults([line("chat/a/b"), line("chat/a/c", "unsupported", because="the answer is empty")])


def test_a_shape_keeps_names() -> None:
    assert shape(told("chat/a/b", "output_0 has 3 parts")) != shape(told("chat/a/b", "input_0 has 3 parts"))


def test_a_member_is_one_fault_in_answers_and_in_events() -> None:
    wrong = 'audio: null is not of type "object"'
    answers, events = (
        told("chat/rules/answer-shape", wrong),
        told("chat/rules/event-shape", f"event 3: choices.0.{wrong}"),
    )
    lacks = told("response/rules/answer-shape", 'it: "model" is a required property')
    lacks_too = told("response/rules/event-shape", 'event 0: response: "model" is a required property')
    other = told("models/rules/answer-shape", 'data.0: "id" is a required property')
    assert folded(answers, events, lacks, lacks_too, other) == [
        [answers.rule, events.rule],
        [lacks.rule, lacks_too.rule],
        [other.rule],
    ]
