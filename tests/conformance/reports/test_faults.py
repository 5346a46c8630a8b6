"""Findings folded to faults."""

from support.reports import line

from specvino.conformance.reports.faults import faults, shape
from specvino.conformance.reports.records import FindingRecord


def fault_line(rule, message, **more):
    return line(rule, "fail", findings=(FindingRecord(message=message),), **more)


def folded(*lines):
    return [[line.rule for line in fault.lines] for fault in faults(lines)]


def test_one_message_with_other_values_is_one_fault() -> None:
    one = fault_line("chat/streams/plain", 'choices.0.message.content is "a" unary, but the stream makes it "ab"')
    other = fault_line("chat/streams/stop", 'choices.12.message.content is "\\"q\\"" unary, but the stream makes it ""')
    third = fault_line("chat/streams/usage", 'usage.prompt_tokens is "a" unary, but the stream makes it "ab"')
    assert folded(other, third, one) == [["chat/streams/plain", "chat/streams/stop"], ["chat/streams/usage"]]


def test_a_rule_for_all_answers_is_one_fault_of_all_endpoints() -> None:
    lacks = "usage: total_tokens is required"
    assert folded(
        fault_line("chat/rules/answer-shape", lacks), fault_line("completions/rules/answer-shape", lacks)
    ) == [["chat/rules/answer-shape", "completions/rules/answer-shape"]]
    assert len(folded(fault_line("chat/rules/answer-shape", lacks), fault_line("chat/rules/stream-order", lacks))) == 2


def test_what_follows_is_told_with_its_cause() -> None:
    cause = fault_line("chat/rules/no-server-error", "status 500: it broke")
    case = fault_line("chat/a/refused", "the status is 500, not 400", follows=cause.rule)
    elsewhere = fault_line("responses/rules/no-server-error", "status 503: it broke")
    assert folded(case, elsewhere, cause) == [[cause.rule, elsewhere.rule, case.rule]]


def test_what_follows_from_the_errors_of_a_path_that_isn_t_there_is_told_with_them() -> None:
    cause = fault_line("transport/rules/unrouted-envelope", 'error: "param" is a required property')
    follows = fault_line(
        "completions/capabilities/endpoint", "it is refused", follows="completions/rules/error-envelope"
    )
    assert folded(follows, cause) == [[cause.rule, follows.rule]]


def test_what_binds_is_not_told_below_advice() -> None:
    advice = fault_line("models/rules/documented-refusal", "404 is not documented", severity="should")
    binds = fault_line("models/list/served", "the answer is 404, not 200: nothing", follows=advice.rule)
    assert folded(binds, advice) == [[binds.rule], [advice.rule]]


def test_what_follows_stands_alone_where_its_cause_is_accepted() -> None:
    cause = fault_line("chat/rules/no-server-error", "status 500", accepted=True)
    assert folded(fault_line("chat/a/refused", "the status is 500, not 400", follows=cause.rule), cause) == [
        ["chat/a/refused"]
    ]


def test_values_that_are_taken_are_one_fault_and_refusals_one_for_each_reason() -> None:
    taken = [
        fault_line(f"chat/bounds/{name}", f"the status is 200, not {status}")
        for name, status in (("a", 400), ("b", 422))
    ]
    assert folded(*taken) == [["chat/bounds/a", "chat/bounds/b"]]
    refused = [
        fault_line(f"chat/x/{reason}", f"the status is 400, not 200: no {reason}, got 7")
        for reason in ("tools", "stop")
    ]
    assert folded(*refused, fault_line("chat/y/stop", "the status is 400, not 200: no stop, got 9")) == [
        ["chat/x/stop", "chat/y/stop"],
        ["chat/x/tools"],
    ]


def test_wrong_values_wrong_names_and_what_http_makes_of_them_are_taken_each_for_itself() -> None:
    rules = {
        "chat/basics/model-is-unknown": 404,
        "chat/types/stop": 400,
        "responses/refusals/names-the-field": 400,
        "transport/bodies/no-text": 400,
        "transport/errors/streamed-unknown-model": 404,
    }
    assert folded(*(fault_line(rule, f"the status is 200, not {status}") for rule, status in rules.items())) == [
        ["chat/types/stop", "responses/refusals/names-the-field"],
        ["chat/basics/model-is-unknown"],
        ["transport/bodies/no-text"],
        ["transport/errors/streamed-unknown-model"],
    ]


def test_refusals_by_another_status_are_one_fault_for_each_pair_of_statuses() -> None:
    lines = [
        fault_line(f"chat/x/{name}", f"the status is {came}, not {expected}: because of {name}")
        for name, came, expected in (("a", 422, 400), ("b", 422, 400), ("c", 404, 405), ("d", 400, "404 or 4xx"))
    ]
    assert folded(*lines) == [["chat/x/a", "chat/x/b"], ["chat/x/c"], ["chat/x/d"]]


def test_an_endpoint_that_fails_is_one_fault() -> None:
    lines = [
        fault_line("chat/rules/no-server-error", "the status is 500: x is undefined"),
        fault_line("chat/types/stop", "the status is 500, not 400: y is undefined"),
        fault_line("responses/rules/no-server-error", "the status is 501: there is no such thing"),
    ]
    assert folded(*lines) == [["chat/rules/no-server-error", "chat/types/stop"], ["responses/rules/no-server-error"]]


def test_a_field_that_is_ignored_is_one_fault() -> None:
    limits = {
        "chat/limits/max-tokens": "the answer has 9 tokens, though max_tokens is 5",
        "chat/limits/max-completion-tokens": "the answer has 9 tokens, though max_completion_tokens is 5",
        "chat/rules/token-limit": "the answer has 8 tokens, though max_tokens is 2 for each of 2 texts",
    }
    stops = {
        "chat/rules/stop-absent": "the stop string 'a' is in 'abc'",
        "chat/stop/string": "the stop string 'bc' is in 'abcd'",
    }
    logprobs = {
        "chat/capabilities/logprobs": "logprobs: true was answered with 200, but the answer has no choices.0.logprobs",
        "chat/rules/logprobs-join": "logprobs: true was sent, but the answer has no choices.0.logprobs",
    }
    assert folded(*(fault_line(rule, says) for rule, says in (limits | stops | logprobs).items())) == [
        ["chat/rules/logprobs-join", "chat/capabilities/logprobs"],
        ["chat/rules/stop-absent", "chat/stop/string"],
        ["chat/rules/token-limit", "chat/limits/max-tokens"],
        ["chat/limits/max-completion-tokens"],
    ]


def test_another_id_a_choice_without_an_end_and_a_field_that_is_not_named_are_one_fault_each() -> None:
    ids = {
        "responses/stored/deleted": "the id differs: 'resp_c' in the answer to the deletion, 'resp_a' in the request",
        "responses/stored/reads-back": "the id differs: answered 'resp_a', read 'resp_b'",
    }
    ends = {
        "chat/choices/three-streamed": "choice 1 has no finish_reason",
        "chat/rules/stream-order": "choice 2 was never closed by finish",
        "chat/streams/choices": "choices.1.finish_reason is only present when not streamed",
    }
    fields = {
        "chat/types/stop": "error.param is None, not stop",
        "responses/types/input": "error.param is None, not input",
    }
    assert folded(*(fault_line(rule, says) for rule, says in (ids | ends | fields).items())) == [
        ["chat/rules/stream-order", "chat/choices/three-streamed", "chat/streams/choices"],
        ["chat/types/stop", "responses/types/input"],
        ["responses/stored/deleted", "responses/stored/reads-back"],
    ]


def test_members_that_are_missing_are_one_fault_by_the_first() -> None:
    one = fault_line("chat/rules/answer-shape", 'it: "model" is a required property')
    several = fault_line("chat/rules/event-shape", 'event 0: it: "model" and "created" are required properties')
    assert folded(one, several) == [[one.rule, several.rule]]
    assert (
        len(folded(one, fault_line("chat/rules/event-shape", 'event 0: it: "id" and "model" are required properties')))
        == 2
    )


def test_what_binds_most_and_what_most_rules_tell_comes_first() -> None:
    advice = [fault_line(f"chat/a/{name}", "the answer is late", severity="should") for name in "abc"]
    often = [fault_line(f"chat/z/{name}", "the answer is empty") for name in "ab"]
    assert folded(*advice, fault_line("chat/b/a", "the answer is long"), *often) == [
        ["chat/z/a", "chat/z/b"],
        ["chat/b/a"],
        ["chat/a/a", "chat/a/b", "chat/a/c"],
    ]


def test_what_passes_or_is_no_verdict_is_no_fault() -> None:
    assert not faults([line("chat/a/b"), line("chat/a/c", "unsupported", because="the answer is empty")])


def test_a_shape_keeps_names() -> None:
    assert shape(fault_line("chat/a/b", "output_0 has 3 parts")) != shape(fault_line("chat/a/b", "input_0 has 3 parts"))


def test_a_member_is_one_fault_in_answers_and_in_events() -> None:
    wrong = 'audio: null is not of type "object"'
    answers, events = (
        fault_line("chat/rules/answer-shape", wrong),
        fault_line("chat/rules/event-shape", f"event 3: choices.0.{wrong}"),
    )
    lacks = fault_line("response/rules/answer-shape", 'it: "model" is a required property')
    lacks_too = fault_line("response/rules/event-shape", 'event 0: response: "model" is a required property')
    other = fault_line("models/rules/answer-shape", 'data.0: "id" is a required property')
    assert folded(answers, events, lacks, lacks_too, other) == [
        [answers.rule, events.rule],
        [lacks.rule, lacks_too.rule],
        [other.rule],
    ]
