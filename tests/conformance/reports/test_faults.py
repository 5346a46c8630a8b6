"""Findings folded to faults, and the faults' titles."""

import json

import pytest
from support.reports import SHOWN, line

from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.records import FindingRecord, ResponseRecord


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


def test_answers_without_text_are_one_fault_of_an_endpoint() -> None:
    lines = [
        fault_line("chat/basics/answers", "the answer is empty"),
        fault_line(
            "chat/capabilities/json", 'response_format: {} was answered with 200, but choices.0.message.content is ""'
        ),
        fault_line("chat/choices/drawn-apart", "all 3 choices are ''"),
        fault_line("chat/sampling/logit-bias", "logit_bias has no effect on the answer ['']"),
        fault_line("chat/streams/plain", "choices.0.message.content is only present when streamed"),
    ]
    (fault,) = faults(lines)
    assert fault.title == "Answers have no text"
    assert len(fault.lines) == len(lines)
    elsewhere = fault_line("completions/streams/plain", "choices.0.text is only present when streamed")
    respected = fault_line("chat/sampling/top-p", "top_p has no effect on the answer ['a']")
    assert len(folded(*lines, elsewhere, respected)) == 3


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
        ["chat/basics/model-is-unknown", "transport/errors/streamed-unknown-model"],
        ["chat/types/stop", "responses/refusals/names-the-field"],
        ["transport/bodies/no-text"],
    ]


def test_refusals_by_another_status_are_one_fault_for_each_pair_of_statuses() -> None:
    lines = [
        fault_line(f"chat/x/{name}", f"the status is {came}, not {expected}: because of {name}")
        for name, came, expected in (("a", 422, 400), ("b", 422, 400), ("c", 404, 405), ("d", 400, "404 or 4xx"))
    ]
    assert folded(*lines) == [["chat/x/a", "chat/x/b"], ["chat/x/c"], ["chat/x/d"]]


def test_an_error_with_the_same_reason_is_one_fault_of_all_operations() -> None:
    lines = [
        fault_line("chat/rules/no-server-error", 'the status is 500: {"error": {"message": "x is undefined"}}'),
        fault_line("chat/tools/called", 'the answer is 500, not 200: {"error": {"message": "x is undefined"}}'),
        fault_line("responses/rules/no-server-error", "the status is 500: x is undefined"),
        fault_line("responses/basics/answers", "the status is 500, not 200: the disk is full"),
        fault_line("completions/rules/no-server-error", "the status is 501: x is undefined"),
    ]
    assert folded(*lines) == [
        ["chat/rules/no-server-error", "responses/rules/no-server-error", "chat/tools/called"],
        ["completions/rules/no-server-error"],
        ["responses/basics/answers"],
    ]
    assert [fault.title for fault in faults(lines)] == [
        "Requests fail with 500: x is undefined",
        "Requests fail with 501: x is undefined",
        "Requests fail with 500: the disk is full",
    ]


def test_requests_that_had_to_be_refused_fail_as_one_whatever_their_reasons() -> None:
    lines = [
        fault_line("chat/types/stop", "the status is 500, not 400: x is undefined"),
        fault_line("chat/basics/model-is-unknown", "the status is 500, not 404: y is undefined"),
        fault_line("chat/basics/answers", "the status is 500, not 200: z is undefined"),
    ]
    assert folded(*lines) == [["chat/basics/model-is-unknown", "chat/types/stop"], ["chat/basics/answers"]]
    assert faults(lines)[0].title == "Requests that should be refused fail with 500"


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


def test_ids_that_are_others_each_time_are_one_fault_wherever_they_are_told() -> None:
    lines = [
        fault_line("responses/stored/by-default", "id is 'resp_a', not 'resp_b'"),
        fault_line("responses/stored/reads-back", "the id differs: 'resp_a' in the answer, 'resp_b' when read"),
        fault_line("responses/previous/chain", "previous_response_id is 'resp_a', not 'resp_b'"),
    ]
    assert [fault.title for fault in faults(lines)] == ["Objects change their ids"]
    assert len(faults(lines[2:])) == 1


def test_fields_that_are_missing_are_one_fault_with_the_cases_that_miss_one() -> None:
    one = fault_line("chat/rules/answer-shape", 'it: "usage" is a required property')
    several = fault_line("chat/rules/event-shape", 'event 0: it: "usage" and "created" are required properties')
    cases = [
        fault_line("chat/usage/streamed", "include_usage was requested, but none of the 6 chunks has usage"),
        fault_line("chat/usage/counted", "the answer has no usage.total_tokens"),
    ]
    other = fault_line("chat/rules/event-shape", 'event 0: it: "id" is a required property')
    (fault,) = faults([one, several, *cases])
    assert [line.rule for line in fault.lines] == [one.rule, several.rule, "chat/usage/streamed", "chat/usage/counted"]
    assert fault.title == "Answers lack `usage` and `created`"
    assert folded(one, other) == [[one.rule], [other.rule]]


def test_two_findings_of_a_rule_are_two_faults_each_with_its_own() -> None:
    messages = ['it: "id" is a required property', 'created: 1.5 is not of type "integer"']
    rule = "chat/rules/answer-shape"
    both = line(rule, "fail", findings=tuple(FindingRecord(message=message) for message in messages))
    case = fault_line("chat/basics/created", 'created is wrong: 2.5 is not of type "integer"')
    told = faults([both, case])
    assert [(fault.title, [line.rule for line in fault.lines]) for fault in told] == [
        ('Answers have an invalid `created`: 1.5 is not of type "integer"', [rule, case.rule]),
        ("Answers lack `id`", [rule]),
    ]
    assert [[finding.message for finding in fault.head.findings] for fault in told] == [messages[1:], messages[:1]]


def test_a_finding_that_a_baseline_accepts_is_another_fault() -> None:
    old, new = FindingRecord(message="the answer has no id", accepted=True), FindingRecord(message="it is late")
    both = line("chat/a/b", "fail", findings=(old, new))
    assert [fault.title for fault in faults([both])] == ["It is late"]
    assert [fault.title for fault in faults([both], accepted=True)] == ["Answers lack `id`"]


def test_advice_of_the_same_cause_is_told_with_what_binds() -> None:
    advice = fault_line("chat/a/tool-choice", "the status is 200, not 400", severity="should")
    binds = fault_line("chat/z/stop", "the status is 200, not 400")
    (fault,) = faults([advice, binds])
    assert fault.head == binds
    assert [fault.name(line) for line in fault.lines] == ["chat/z/stop", "chat/a/tool-choice (should)"]


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        (["the status is 200, not 400"], "Invalid requests are accepted"),
        (["7 of 9 values beyond a bound aren't refused: of n, stop"], "Invalid values of `n` and `stop` are accepted"),
        (
            ["9 of 9 values beyond a bound aren't refused: of a, b, c, d, e"],
            "Invalid values of 5 fields (`a`, `b`, `c`, …) are accepted",
        ),
        (["the status is 200, not 401"], "Requests without a valid key are accepted"),
        (["the status is 200, not 404"], "Unknown names and ids are accepted"),
        (["the status is 422, not 400: no"], "Requests are answered with 422 instead of 400"),
        (["the status is 400, not 200: no tools, got 7"], "Valid requests are refused: no tools, got 7"),
        (["the answer has 9 tokens, though max_tokens is 5"], "`max_tokens` isn't respected"),
        (["logit_bias has no effect on the answer ['a']"], "`logit_bias` isn't respected"),
        (
            ["no tool is called, though tool_choice requires a call; the text is 'a'", "'a' is called, not b"],
            "`tool_choice` isn't respected",
        ),
        (
            ["completion_tokens is 0, though the answer has text", "finish_reason is 'length' after 0 of 1 tokens"],
            "Usage counts 0 `completion_tokens`",
        ),
        (["total_tokens is 3, but prompt_tokens and completion_tokens are 1 and 1"], "Usage has wrong `total_tokens`"),
        (["choices.0.text is only present when not streamed"], "Streamed and unary answers differ in `text`"),
        (["the answer has no header x-request-id"], "Answers lack the header `x-request-id`"),
        (["error.param is None, not stop"], "Errors don't name the invalid field in error.param"),
        (["the id 'a' is that of an earlier call", "two calls have the id 'b'"], "Several calls have the same id"),
        (["concurrently its prompt has 1 tokens, separately 2"], "Answers to concurrent requests are mixed up"),
        (["choices.0.text is 'a', not 'b'"], "choices.0.text is 'a', not 'b'"),
        (["the stream is empty"], "The stream is empty"),
        ([f"the text is {'a' * 200!r}"], f"The text is '{'a' * 147}…"),
    ],
)
def test_a_title_says_what_is_common(messages, title) -> None:
    lines = [fault_line(f"chat/a/{number}", message) for number, message in enumerate(messages)]
    assert [fault.title for fault in faults(lines)] == [title]


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


def test_names_are_no_values() -> None:
    assert (
        len(folded(fault_line("chat/a/b", "output_0 has 3 parts"), fault_line("chat/a/c", "input_0 has 3 parts"))) == 2
    )


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


def shown(number, *, status=200, path="/chat/completions", body="{}"):
    url = f"http://127.0.0.1:8000/v1{path}"
    request = SHOWN.request.model_copy(update={"url": url})
    response = ResponseRecord(status=status, headers={}, body=body)
    return SHOWN.model_copy(update={"number": number, "request": request, "response": response})


def shown_line(rule, message, exchange, **more):
    return line(rule, "fail", findings=(FindingRecord(message=message, exchanges=(exchange,)),), **more)


def test_what_only_the_answer_to_a_failed_case_breaks_is_told_with_the_case() -> None:
    case = shown_line("chat/a/streamed", "the stream is late", shown(7))
    only_there = shown_line("chat/rules/finish-agrees", "finish_reason is odd", shown(7), judged=9)
    (fault,) = faults([only_there, case])
    assert fault.title == "The stream is late"
    elsewhere = shown_line("chat/rules/finish-agrees", "finish_reason is odd", shown(8), judged=9)
    everywhere = only_there.model_copy(update={"because": "6 of 9 answers break the rule; 1 are shown"})
    always = only_there.model_copy(update={"judged": 1})
    for other in (elsewhere, everywhere, always):
        assert len(faults([other, case])) == 2


def test_a_difference_in_streams_follows_from_a_missing_field_of_the_same_operation() -> None:
    lacks = 'event 3: choices.0.delta: "refusal" is a required property'
    differs = "choices.0.message.refusal is only present when not streamed"
    case = shown_line("chat/streams/plain", differs, shown(2))
    (fault,) = faults([shown_line("chat/rules/event-shape", lacks, shown(1)), case])
    assert fault.title == "Answers lack `refusal`"
    assert len(faults([shown_line("chat/rules/event-shape", lacks, shown(1, path="/responses")), case])) == 2


def test_what_is_read_with_an_undocumented_status_follows_from_that() -> None:
    rule = shown_line(
        "models/rules/documented-status", "202 isn't documented; documented are 200", shown(1, status=202)
    )
    case = shown_line("chat/a/read", "the answer is 202, not 200: {}", shown(2, status=202))
    (fault,) = faults([case, rule])
    assert fault.title == "Answers have the status 202, which isn't documented"
    other = shown_line("chat/a/read", "the answer is 206, not 200: {}", shown(2, status=206))
    assert len(faults([other, rule])) == 2


def test_a_refusal_without_the_name_of_its_field_is_one_fault_of_all_fields() -> None:
    def refused(field):
        body = json.dumps({"error": {"message": f"{field} is not supported.", "param": field}})
        message = f"the status is 400, not 200: {field} is not supported."
        spec = f"/components/schemas/CreateChatCompletionRequest/properties/{field}"
        return shown_line(f"chat/accepted/{field}", message, shown(1, status=400, body=body), spec=spec)

    (fault,) = faults([refused("store"), refused("user")])
    assert fault.title == "Valid requests with `store` and `user` are refused: … is not supported."


def test_a_refusal_has_the_name_of_what_is_refused_not_of_what_the_requests_are_about() -> None:
    def refused(field, error):
        message = f"the status is 400, not 200: {error['message']}"
        spec = f"/components/schemas/CreateResponseRequest/properties/{field}"
        exchange = shown(1, status=400, body=json.dumps({"error": error}))
        body = json.dumps({field: 1, "temperature": 0})
        exchange = exchange.model_copy(update={"request": exchange.request.model_copy(update={"body": body})})
        return shown_line(f"responses/a/{field}", message, exchange, spec=spec)

    pointed = {"message": "Only the default is supported.", "param": "temperature"}
    (fault,) = faults([refused("input", pointed), refused("store", pointed)])
    assert fault.title == "Valid requests with `temperature` are refused: Only the default is supported."
    silent = {"message": "Nothing is here.", "param": None}
    (fault,) = faults([refused("input", silent), refused("store", silent)])
    assert fault.title == "Valid requests are refused: Nothing is here."
    (fault,) = faults([refused("store", silent)])
    assert fault.title == "Valid requests with `store` are refused: Nothing is here."


def test_a_count_of_0_is_one_fault() -> None:
    lines = [
        fault_line("chat/rules/usage-adds-up", "completion_tokens is 0, though the answer has text"),
        fault_line("chat/limits/one-token", "there are 1 choices with 0 tokens, not one with one"),
        fault_line(
            "chat/rules/finish-agrees", "finish_reason is length after 0 tokens (total_tokens is 9), but the limit is 2"
        ),
        fault_line("completions/settings/n", "usage.completion_tokens is wrong: 0 is less than the minimum of 2"),
    ]
    (fault,) = faults(lines)
    assert fault.title == "Usage counts 0 `completion_tokens`"


def test_what_isnt_there_is_one_fault_of_the_shape_and_of_the_cases() -> None:
    lines = [
        fault_line("responses/rules/answer-shape", 'it: "usage" is a required property'),
        fault_line("responses/background/finishes", "the finished response has no usage"),
        fault_line("responses/events/ends-whole", "the response of the last event has no usage: None"),
    ]
    assert [fault.title for fault in faults(lines)] == ["Answers lack `usage`"]
    lines = [
        fault_line("chat/rules/answer-shape", 'choices.0: "finish_reason" is a required property'),
        fault_line("chat/choices/two", "choice 0 has no finish_reason"),
        fault_line(
            "chat/limits/max-tokens", "with {'max_tokens': 5}, an answer has 5 tokens, and finish_reason is None"
        ),
    ]
    assert [fault.title for fault in faults(lines)] == ["Choices have no finish_reason"]


def test_a_failure_is_one_fault_whatever_ids_its_message_has() -> None:
    lines = [
        shown_line(
            "chat/rules/no-server-error",
            "the status is 500: boom",
            shown(number, status=500, body=json.dumps({"error": {"message": f"trace {id}: boom"}})),
        )
        for number, id in enumerate(("0x00ab12", "9f3c-77aa-12", "req_a1b2c3d4"))
    ]
    assert len(faults(lines)) == 1


def test_json_with_a_mark_is_one_fault_of_answers_and_of_events() -> None:
    bom = "\\ufeff"
    lines = [
        fault_line("models/list/shape", f"the answer isn't JSON (Unexpected UTF-8 BOM): '{bom}{{\"data\": []}}'"),
        fault_line("chat/rules/event-shape", f"event 0 isn't JSON: '{bom}{{\"id\": 1}}'"),
        fault_line("chat/rules/stream-order", "an event isn't JSON: \ufeff{}"),
    ]
    (fault,) = faults(lines)
    assert fault.title == "JSON begins with a byte order mark"


def test_a_stream_that_is_read_back_as_another_answer_follows_from_what_differs() -> None:
    unary = fault_line("responses/streams/plain", 'model is "a" in the unary answer, but "b" in the folded stream')
    read = fault_line("responses/stored/streamed-reads-back", "the model differs: 'b' in the answer, 'a' when read")
    assert folded(unary, read) == [[unary.rule, read.rule]]
    assert len(faults([read])) == 1


def test_what_the_request_says_and_the_answer_does_not_repeat_is_one_fault() -> None:
    sent = shown(1).model_copy(update={"request": SHOWN.request.model_copy(update={"body": '{"n": 2, "top_p": 0.5}'})})
    lines = [
        shown_line("responses/echo/n", "n is 1, not 2", sent),
        shown_line("responses/echo/top-p", "top_p is None, not 0.5", sent),
        shown_line("responses/echo/seed", "seed is None, not 3", sent),
    ]
    assert [fault.title for fault in faults(lines)] == [
        "Answers don't repeat the request's `n` and `top_p`",
        "Seed is None, not 3",
    ]


def test_what_comes_before_the_last_turn_follows_from_lost_turns() -> None:
    def unread(
        rule, *bodies, text="prompt_tokens is 12 for the shorter prompt and 12 for the longer one, expected 3 more"
    ):
        asked = [SHOWN.request.model_copy(update={"body": json.dumps(body)}) for body in bodies]
        exchanges = tuple(SHOWN.model_copy(update={"request": request}) for request in asked)
        return line(rule, "fail", findings=(FindingRecord(message=text, exchanges=exchanges),))

    hello = {"role": "user", "content": "Hello"}
    told = {"role": "system", "content": "Be brief."}
    turns = unread(
        "chat/basics/several-turns",
        {"messages": [hello]},
        {"messages": [hello, {"role": "assistant", "content": "Hi"}, hello]},
    )
    system = unread("chat/roles/system", {"messages": [hello]}, {"messages": [told, hello]})
    instructions = unread(
        "responses/input/instructions",
        {"input": "Hello"},
        {"input": "Hello", "instructions": "Be brief."},
        text="input_tokens is 12 without a part of the input and 12 with it, expected more",
    )
    previous = unread(
        "responses/capabilities/previous",
        {"input": "Hello", "store": True},
        {"input": "Go on", "previous_response_id": "resp_1"},
        text="previous_response_id has no effect: input_tokens is 14, but 51 for the earlier turn",
    )
    part = unread(
        "chat/content/several-parts", {"messages": [hello]}, {"messages": [{**hello, "content": "Hello you"}]}
    )
    tools = unread("chat/tools/longer", {"messages": [hello]}, {"messages": [hello], "tools": []})
    assert [(fault.title, len(fault.lines)) for fault in faults([turns, system, instructions, previous])] == [
        ("Prompts lack earlier turns", 4)
    ]
    assert sorted((fault.title, len(fault.lines)) for fault in faults([system, instructions, previous])) == [
        ("Prompts lack parts of `system` turns", 2),
        ("`previous_response_id` isn't respected", 1),
    ]
    assert sorted(fault.title for fault in faults([turns, part, tools])) == [
        "Prompts lack earlier turns",
        "Prompts lack parts of `tools`",
        "Prompts lack parts of `user` turns",
    ]


def test_what_only_concurrent_requests_show_follows_from_answers_that_are_mixed_up() -> None:
    def at_once(rule, message, number):
        return shown_line(rule, message, shown(number).model_copy(update={"together": True}), judged=9)

    mixed = at_once("transport/at_once/answers", "concurrently its prompt has 11 tokens, separately 26", 1)
    limit = at_once("chat/rules/token-limit", "the answer has 6 tokens, though max_tokens is 5", 2)
    alone = shown_line("chat/rules/token-limit", "the answer has 6 tokens, though max_tokens is 5", shown(2), judged=9)
    (fault,) = faults([limit, mixed])
    assert fault.title == "Answers to concurrent requests are mixed up"
    assert len(faults([alone, mixed])) == len(faults([limit])) + 1 == 2


def test_differences_of_two_servers_are_faults_of_their_own() -> None:
    messages = [f"usage.prompt_tokens is 5 at A and {number} at B" for number in (6, 7)]
    endpoints = [("chat", messages[0]), ("completions", messages[1]), ("responses", messages[1])]
    lines = [fault_line(f"{name}/parity/value/usage", text) for name, text in endpoints]
    lines = [line.model_copy(update={"layer": "parity"}) for line in lines]
    assert sorted((fault.title, len(fault.lines)) for fault in faults(lines)) == [
        (messages[0], 1),
        (messages[1], 2),
    ]


def test_a_server_error_to_concurrent_requests_is_no_mixture() -> None:
    def at_once(rule, message, number, status=200):
        exchange = shown(number, status=status, body='{"error": {"message": "Out of memory."}}')
        return shown_line(rule, message, exchange.model_copy(update={"together": True}), judged=9)

    mixed = at_once("transport/at_once/answers", "concurrently its prompt has 11 tokens, separately 26", 1)
    fails = at_once("transport/at_once/streams", "the answer is 500, not 200: Out of memory.", 2, status=500)
    refuses = at_once("transport/at_once/choices", "the status is 400, not 200: Too many.", 3, status=400)
    assert sorted(folded(mixed, fails, refuses)) == sorted([line.rule] for line in (mixed, fails, refuses))


def test_what_does_not_compare_tokens_does_not_follow_from_unsteady_ones() -> None:
    unsteady = fault_line("tokenize/lists/again", "the tokens are [1, 2], but with {} they are [3, 2]")
    several = fault_line("tokenize/lists/several", "the tokens are [[1]] in separate requests, but [[3]] in one")
    fails = fault_line("detokenize/texts/back", "the answer is 500, not 200: no such token")
    accepted = fault_line("tokenize/lists/missing", "the status is 200, not 400")
    assert sorted(folded(unsteady, several, fails, accepted)) == [
        [fails.rule],
        [unsteady.rule, several.rule],
        [accepted.rule],
    ]


def test_an_error_that_begins_a_stream_is_a_refusal_if_the_request_is_at_fault() -> None:
    def streamed(rule, message, number, type, **more):
        body = f'data: {{"error": {{"message": "No.", "type": "{type}"}}}}\n\n'
        return shown_line(rule, message, shown(number, body=body), **more)

    refused = streamed("transport/errors/streamed-model", "the status is 200, not 404", 1, "server_error")
    at_fault = streamed("chat/a/called", "the stream is empty", 2, "invalid_request_error")
    fails = streamed("chat/a/long", "the stream breaks", 3, "server_error")
    shape = 'event 0: it: "choices" is a required property'
    rule = streamed("chat/rules/event-shape", shape, 4, "invalid_request_error", judged=9)
    assert folded(refused, at_fault, fails, rule) == [
        [at_fault.rule, refused.rule, rule.rule],
        [fails.rule],
    ]
    assert [fault.title for fault in faults([rule])] == ["Answers lack `choices`"]
