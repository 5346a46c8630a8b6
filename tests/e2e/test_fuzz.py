"""Schemathesis finds nothing in our server, and finds each fault that is planted in it."""

import json

import pytest
from schemathesis.checks import CHECKS
from support.exhaustive import sampled
from support.proxy import breaking
from support.serving import PATIENCE, serving

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.run import PHASES, fuzz
from specvino.conformance.http.client import Target
from specvino.generated.streams import STREAMS

WHOLE = Dialect("specvino")
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, item in WHOLE.document["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
}


def label_of(operation_id):
    return next(label for label, operation in OPERATIONS.items() if operation["operationId"] == operation_id)


KEY = "sk-fuzz"
SEED = 20250101

CHAT = "create_chat_completion"
# The fewest valid and the fewest refused requests of the coverage phase: a body of three fields or of one makes fewer
# than the others.
FEWEST = {"POST /detokenize": (15, 40), "POST /conversations/{conversation_id}": (5, 10)}
# Where a model or its tokenizer has a part in an answer; the others answer as on the scripted engine.
OF_A_MODEL = [
    CHAT,
    "create_completion",
    "create_response",
    "create_message",
    "compact_response",
    "count_input_tokens",
    "count_message_tokens",
    "tokenize",
    "detokenize",
]
# The checks of the phase `stateful`.
AFTER_OTHERS = {"ensure_resource_availability", "use_after_free"}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


def clean_report(*model, **settings):
    names = ["--served-model-name", "m", "--served-model-name", "org/m"]
    with serving(*model, *names, env={"SPECVINO_API_KEY": KEY}) as server:
        # Some texts go on to the end of the context, which takes a busy machine minutes.
        report = fuzz(Target(server.url, KEY, timeout=PATIENCE), WHOLE, seed=SEED, **settings)
        assert server.process.poll() is None
    print("", *report.lines(), sep="\n")
    assert report.clean
    return report


def assert_many_valid(report, examples, labels) -> None:
    """About half of the random requests are valid: a third of all, and a sixth of every operation."""
    counts = {label: report.count(operation=label, phase="fuzzing", status=200) for label in labels}
    assert sum(counts.values()) >= examples // 3 * len(labels), counts
    assert all(count >= examples // 6 for count in counts.values()), counts


def test_it_finds_nothing_at_the_edges_of_a_chat() -> None:
    report = clean_report("--engine", "scripted", max_examples=1, phases=["coverage"], operations=[CHAT])
    assert report.checks.keys() >= set(CHECKS.get_all_names()) - AFTER_OTHERS
    assert report.checks["stream_conformance"] >= 25
    assert report.count(status=200) >= 25
    assert report.count(status=400) >= 50


@pytest.mark.exhaustive  # 25,000 requests
def test_it_finds_nothing_at_the_edges_of_the_document() -> None:
    report = clean_report("--engine", "scripted", max_examples=1, phases=["coverage"])
    assert report.checks.keys() >= set(CHECKS.get_all_names()) - AFTER_OTHERS
    assert report.checks["stream_conformance"] >= 25 * len(STREAMS)
    for label, operation in OPERATIONS.items():
        sound, faulty = FEWEST.get(label, (25, 50)) if "requestBody" in operation else (1, 0)
        assert report.count(operation=label, status=200) >= sound, label
        assert report.count(operation=label, status=400) >= faulty, label
    assert 0.85 <= report.limited / report.unlimited <= 0.97


@pytest.mark.parametrize("examples", sampled([6, 15], 6))
def test_it_finds_nothing_by_chance(examples) -> None:
    phases = [phase for phase in PHASES if phase != "coverage"]
    report = clean_report("--engine", "scripted", max_examples=examples, phases=phases)
    assert report.checks.keys() >= AFTER_OTHERS
    assert report.checks["stream_conformance"] >= examples // 3 * len(STREAMS)
    assert all(report.count(phase=phase) for phase in phases)
    assert_many_valid(report, examples, [label for label in OPERATIONS if "requestBody" in OPERATIONS[label]])
    assert all(report.count(operation=label, phase="fuzzing", status=200) for label in OPERATIONS)
    assert report.with_stored_id >= 5 * examples // 3


@pytest.mark.parametrize("examples", sampled([6, 20], 6))
def test_it_finds_nothing_with_a_model(tiny_text, examples) -> None:
    phases = ["examples", "fuzzing"]
    report = clean_report(str(tiny_text.path), max_examples=examples, phases=phases, operations=OF_A_MODEL)
    operations = (CHAT, "create_completion", "create_response", "tokenize")
    assert_many_valid(report, examples, list(map(label_of, operations)))


@pytest.mark.parametrize("examples", sampled([6, 15], 6))
def test_it_finds_nothing_with_a_multimodal_model(tiny_vision, examples) -> None:
    operations, phases = [CHAT, "create_response"], ["examples", "fuzzing"]
    report = clean_report(str(tiny_vision.path), max_examples=examples, phases=phases, operations=operations)
    assert_many_valid(report, examples, list(map(label_of, operations)))


def envelope(exchange, status, code, message="", param=None):
    exchange.status = status
    error = {"message": message or code, "type": "invalid_request_error", "param": param, "code": code}
    exchange.headers["content-type"] = "application/json"
    exchange.body = json.dumps({"error": error}).encode()


def is_chat(exchange):
    return exchange.path.endswith("/chat/completions") and exchange.status == 200


def is_stream(exchange):
    return is_chat(exchange) and exchange.headers["content-type"] == "text/event-stream"


def is_json(exchange):
    return is_chat(exchange) and not is_stream(exchange)


def crashes(exchange):
    if is_chat(exchange):
        envelope(exchange, 500, "internal_error")


def answers_with_202(exchange):
    if is_chat(exchange):
        exchange.status = 202


def says_text(exchange):
    if is_json(exchange):
        exchange.headers["content-type"] = "text/plain"


def has_an_empty_header(exchange):
    if is_chat(exchange):
        exchange.headers["x-request-id"] = ""


def forgets_the_choices(exchange):
    if is_json(exchange):
        exchange.body = exchange.body.replace(b'"choices"', b'"chances"')


def forgets_the_param(exchange):
    exchange.body = exchange.body.replace(b'"param"', b'"parameter"')


def takes_everything(exchange):
    if exchange.status == 400:
        exchange.status = 200
        exchange.body = json.dumps(ANSWER).encode()


def disowns_its_model(exchange):
    if is_chat(exchange):
        envelope(exchange, 404, "model_not_found", param="model")


def invents_a_context(exchange):
    if is_chat(exchange):
        message = "This model's context length is 5000 tokens, but the request needs 9999."
        envelope(exchange, 400, "context_length_exceeded", message, "messages")


def refuses_for_an_unlisted_reason(exchange):
    if is_chat(exchange):
        envelope(exchange, 400, "invalid_value", "Not today.")


def finds_fault_with_a_sound_schema(exchange):
    if is_chat(exchange):
        envelope(exchange, 400, "invalid_schema", param="response_format.json_schema.schema")


def mixes_up_statuses(exchange):
    if exchange.status == 404:
        exchange.status = 400


def takes_every_method(exchange):
    if exchange.status == 405:
        exchange.status = 200


def allows_nothing(exchange):
    if exchange.status == 405:
        exchange.headers["allow"] = "PATCH"


def ends_without_terminator(exchange):
    if is_stream(exchange):
        exchange.body = exchange.body.replace(b"data: [DONE]\n\n", b"")


def ends_inside_an_event(exchange):
    if is_stream(exchange):
        exchange.body = exchange.body[:-1]


def streams_a_wrong_type(exchange):
    if is_stream(exchange):
        exchange.body = exchange.body.replace(b'"index":0', b'"index":"0"')


def repeats_the_role(exchange):
    if is_stream(exchange):
        first, blank, rest = exchange.body.partition(b"\n\n")
        exchange.body = first + blank + first + blank + rest


def loses_what_a_response_answers(exchange):
    if exchange.path.partition("?")[0].endswith("/input_items") and exchange.status == 200:
        envelope(exchange, 404, "response_not_found")


def loses_items(exchange):
    if "after=" in exchange.path and exchange.status == 200:
        envelope(exchange, 404, "item_not_found", param="after")


def cancels_nothing(exchange):
    if exchange.path.endswith("/cancel") and exchange.status == 200:
        envelope(exchange, 400, "response_not_cancellable")


def waits_for_what_never_began(exchange):
    if exchange.path.endswith("/cancel") and exchange.status == 200:
        envelope(exchange, 400, "response_not_finished")


def is_resumed(exchange):
    return "starting_after=" in exchange.path and exchange.headers.get("content-type") == "text/event-stream"


def resumes_one_event_late(exchange):
    if is_resumed(exchange):
        exchange.body = exchange.body.partition(b"\n\n")[2]


def resumes_from_the_first_event(exchange):
    if is_resumed(exchange):
        exchange.body = exchange.body.replace(b'"sequence_number":', b'"sequence_number":1')


@pytest.mark.parametrize(
    ("fault", "check", "operation", "phase"),
    [
        (crashes, "not_a_server_error", CHAT, "examples"),
        (answers_with_202, "status_code_conformance", CHAT, "examples"),
        (says_text, "content_type_conformance", CHAT, "examples"),
        (has_an_empty_header, "response_headers_conformance", CHAT, "examples"),
        (forgets_the_choices, "response_schema_conformance", CHAT, "examples"),
        (forgets_the_param, "response_schema_conformance", "retrieve_model", "examples"),
        (takes_everything, "negative_data_rejection", CHAT, "fuzzing"),
        (disowns_its_model, "positive_data_acceptance", CHAT, "examples"),
        (invents_a_context, "positive_data_acceptance", CHAT, "examples"),
        (refuses_for_an_unlisted_reason, "positive_data_acceptance", CHAT, "examples"),
        (finds_fault_with_a_sound_schema, "positive_data_acceptance", CHAT, "examples"),
        (mixes_up_statuses, "error_code_conformance", "retrieve_model", "examples"),
        (takes_every_method, "unsupported_method", "list_models", "coverage"),
        (allows_nothing, "allow_header_conformance", "list_models", "coverage"),
        (ends_without_terminator, "stream_conformance", CHAT, "examples"),
        (ends_inside_an_event, "stream_conformance", CHAT, "examples"),
        (streams_a_wrong_type, "response_schema_conformance", CHAT, "examples"),
        (repeats_the_role, "stream_conformance", CHAT, "examples"),
        (forgets_the_choices, "second_judge", CHAT, "examples"),
        (loses_what_a_response_answers, "positive_data_acceptance", "list_input_items", "fuzzing"),
        (loses_items, "positive_data_acceptance", "list_input_items", "coverage"),
        (cancels_nothing, "positive_data_acceptance", "cancel_response", "fuzzing"),
        (waits_for_what_never_began, "positive_data_acceptance", "cancel_response", "fuzzing"),
        (resumes_one_event_late, "stream_conformance", "retrieve_response", "coverage"),
        (resumes_from_the_first_event, "stream_conformance", "retrieve_response", "coverage"),
    ],
)
def test_a_planted_fault_is_found(scripted_server, fault, check, operation, phase) -> None:
    with breaking(scripted_server.url, fault) as url:
        report = fuzz(Target(url, KEY), WHOLE, max_examples=6, seed=SEED, phases=[phase], operations=[operation])
    findings = [finding for finding in report.findings if finding.check == check]
    assert findings, report.checks
    assert url in findings[0].curl


def test_a_server_that_ignores_keys_is_found(scripted_server) -> None:
    report = fuzz(Target(scripted_server.url, KEY), WHOLE, max_examples=1, seed=SEED, operations=["list_models"])
    assert {finding.check for finding in report.findings} == {"ignored_auth"}


def test_a_run_can_be_repeated(scripted_server) -> None:
    def sent():
        bodies = []
        with breaking(scripted_server.url, lambda exchange: bodies.append(exchange.sent)) as url:
            fuzz(Target(url), WHOLE, max_examples=10, seed=SEED, phases=["fuzzing"], operations=[CHAT])
        return bodies

    first = sent()
    assert len(set(first)) > 5
    assert sent() == first


def test_a_server_that_is_not_there_is_no_finding() -> None:
    with pytest.raises(OSError, match="refused"):
        fuzz(Target("http://127.0.0.1:9", KEY), WHOLE, max_examples=1, seed=SEED)
