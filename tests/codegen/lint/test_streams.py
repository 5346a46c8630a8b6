"""The x-stream tables."""

import copy

import pytest

from specvino.codegen.lint import streams


@pytest.fixture
def table(chat):
    return chat["x-stream"]


def test_a_stream_without_a_table(chat, only) -> None:
    del chat["x-stream"]
    only("x-stream", "POST /chat/completions", "or neither")


def test_a_table_without_a_stream(spec, only) -> None:
    spec.document["paths"]["/version"]["get"]["x-stream"] = {}
    only("x-stream", "GET /version", "or neither")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"order": "any"}, "'order' was unexpected"),
        ({"framing": "parts"}, 'framing: "parts" is not one of "data", "event" or "lines"'),
        ({"framing": "lines"}, "framing lines: the media type of the stream must be application/x-ndjson"),
        ({"classify": []}, "classify: [] has less than 1 item"),
        ({"terminator": "[END]"}, "the terminator is '[END]', but the consts of the event's data are ['[DONE]']"),
        ({"terminator": None}, "the terminator is None, but the consts of the event's data are ['[DONE]']"),
    ],
)
def test_the_table_itself(table, only, change, words) -> None:
    table.update(change)
    only("x-stream", "POST /chat/completions", words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"laws": None}, 'laws: null is not of type "array"'),
        ({"laws": "keys dense"}, 'laws: "keys dense" is not of type "array"'),
        ({"laws": [1]}, "laws: 0: 1 is not one of"),
        ({"laws": [None]}, "laws: 0: null is not one of"),
        ({"machines": None}, 'machines: null is not of type "object"'),
        ({"classify": None}, "classify: null is not of type"),
        ({"silent": True}, "silent: only the document of a system has it"),
        ({"silent": 1}, "silent: true was expected"),
    ],
)
def test_a_table_with_other_types(table, only, change, words) -> None:
    table.update(change)
    only("x-stream", "POST /chat/completions", words)


@pytest.mark.parametrize("table", [[], ["laws"], "laws", "", 1, True])
def test_a_table_that_is_no_object(chat, only, table) -> None:
    chat["x-stream"] = table
    only("x-stream", "POST /chat/completions", 'is not of type "object"')


def test_an_outermost_machine_without_an_end(table, only) -> None:
    table["machines"]["stream"]["body"] = table["machines"]["stream"].pop("end")
    only("x-stream", "machine stream: only in the document of a system it may be without `end`")


def test_an_outermost_machine_without_facts(table, only) -> None:
    table["machines"]["stream"] = {}
    only("x-stream", 'machine stream: "end" is a required property')


def test_a_table_without_laws(table, only) -> None:
    del table["laws"]
    only("x-stream", '"laws" is a required property')


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"at": ["delta.content", "delta.text"]}, "the event has no choices[].delta.text"),
        ({"each": "options"}, "the event has no options[]"),
        ({"key": "number"}, "the event has no choices[].number"),
        ({"unless": "options"}, "the event has no options"),
        ({"where": "delta"}, "'where' was unexpected"),
        ({"at": ["choices[].index"]}, "does not match"),
        ({"key": "finish_reason"}, "machine choice: its key is index, but that of content finish_reason"),
    ],
)
def test_a_rule(spec, table, change, words) -> None:
    table["classify"][1].update(change)
    problems = list(map(str, streams.tables(spec)))
    assert any(words in line for line in problems), problems


def test_a_rule_without_a_key(table, only) -> None:
    del table["classify"][1]["key"]
    only("x-stream", "classify", '"key" is a required property')


def test_a_fact_twice(table, only) -> None:
    table["classify"].append(table["classify"][0])
    only("x-stream", "classify role: the fact is listed twice")


def test_a_fact_that_no_rule_states(table, only) -> None:
    table["machines"]["choice"]["body"].append("refusal")
    only("x-stream", "no event states the fact 'refusal'")


def test_a_fact_that_no_machine_has(table, only) -> None:
    del table["machines"]["stream"]["fail"]
    only("x-stream", "no machine has the fact 'error'")


def test_a_fact_in_two_places(table, only) -> None:
    table["machines"]["stream"]["body"] = ["role"]
    only("x-stream", "the fact 'role' stands in the machines 2 times")


def test_no_outermost_machine(spec, table) -> None:
    table["machines"]["stream"] = {"in": "choice", "key": "x", "close": "usage"}
    problems = "\n".join(map(str, streams.tables(spec)))
    assert "one outermost machine" in problems
    assert "machine stream: it is inside itself" in problems
    assert "machine choice: it is inside itself" in problems


def test_two_outermost_machines(table, only) -> None:
    table["machines"]["other"] = {"end": ["other"]}
    only("x-stream", "one outermost machine")


def test_inside_of_nothing(table, only) -> None:
    table["machines"]["choice"]["in"] = "answer"
    only("x-stream", "machine choice: there is no machine 'answer'")


def test_rules_and_a_machine_inside_an_inner_one(spec, table) -> None:
    table["machines"]["piece"] = {"in": "choice", "key": "index", "close": "content"}
    table["machines"]["choice"]["body"].remove("content")
    problems = "\n".join(map(str, streams.tables(spec)))
    assert "machine piece: by rules a fact has one key, so that nothing can be inside choice" in problems


@pytest.mark.parametrize(
    ("machine", "change", "words"),
    [
        ("choice", {"colse": "finish"}, "'colse' was unexpected"),
        ("choice", {"end": ["finish"]}, "'end' was unexpected"),
        ("choice", {"key": None}, "key: null is not of type"),
        ("choice", {"close": None}, "close: null is not of type"),
        ("choice", {"body": []}, "body: [] has less than 1 item"),
        ("stream", {"key": "index"}, "'key' was unexpected"),
        ("stream", {"end": []}, "end: [] has less than 1 item"),
        ("stream", {"abort": ["x"]}, '"open" is a required property'),
    ],
)
def test_a_machine(table, only, machine, change, words) -> None:
    table["machines"][machine].update(change)
    only("x-stream", f"machine {machine}: ", words)


@pytest.mark.parametrize("key", ["key", "close"])
def test_an_inner_machine_has_a_key_and_a_close(table, only, key) -> None:
    del table["machines"]["choice"][key]
    only("x-stream", f'machine choice: "{key}" is a required property')


def test_an_inner_machine_needs_no_open(spec, table) -> None:
    del table["machines"]["choice"]["open"]
    table["machines"]["choice"]["body"].append("role")
    assert list(streams.tables(spec)) == []


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ("keys sorted", "there is no law 'keys sorted'"),
        ({"of": "choice"}, "there is no law None"),
        ({"law": "one fact"}, 'law one fact: "of" is a required property'),
        ({"law": "one fact", "of": "part"}, "law one fact: 'part' is not a machine inside another"),
        ({"law": "one fact", "of": "stream"}, "law one fact: 'stream' is not a machine inside another"),
        ({"law": "constant", "fields": ["ident"]}, "law constant: the events have no ident"),
        ({"law": "constant", "fields": ["choices[].index"]}, "law constant: fields.0"),
        ({"law": "keys dense", "of": "choice"}, "law keys dense: Additional properties"),
        ({"law": "one id", "of": "choice", "fields": ["id"]}, "law one id: only where `classify` is a field"),
        ({"law": "consecutive", "field": "id", "from": "0"}, 'law consecutive: from: "0" is not of type'),
    ],
)
def test_a_law(table, only, law, words) -> None:
    table["laws"].append(law)
    only("x-stream", words)


class Responses:
    """The stream of responses."""

    def __init__(self, spec) -> None:
        self.spec = spec
        self.table = spec.document["paths"]["/responses"]["post"]["x-stream"]
        self.schemas = spec.document["components"]["schemas"]
        self.item = self.schemas["ResponseServerSentEvent"]

    def faults(self, rule=streams.tables):
        return [problem.fault for problem in rule(self.spec) if problem.location.startswith("POST /responses ")]


@pytest.fixture
def responses(real):
    return Responses(copy.deepcopy(real))


def test_the_table_of_responses(responses) -> None:
    assert responses.faults() == []


def test_a_branch_without_its_const(responses) -> None:
    responses.schemas["ResponseErrorEvent"]["properties"]["type"] = {"type": "string"}
    responses.table["machines"]["response"].pop("abort")
    assert responses.faults() == ["classify: 1 branches of the event have no const type"]


def test_events_and_facts_are_the_same(responses) -> None:
    responses.schemas["ResponseErrorEvent"]["properties"]["type"] = {"const": "response.error"}
    assert responses.faults() == ["no event states the fact 'error'", "no machine has the fact 'response.error'"]


@pytest.mark.parametrize("path", ["output_index", "content_index"])
def test_an_event_without_a_key(responses, path) -> None:
    del responses.schemas["ResponseRefusalDeltaEvent"]["properties"][path]
    assert responses.faults() == [f"machine part: the event response.refusal.delta has no {path}"]


def test_framing(responses) -> None:
    responses.item["required"].remove("event")
    assert responses.faults() == ["framing event: a server-sent event must require `event`"]
    responses.table["framing"] = "data"
    assert responses.faults() == ["framing data: a server-sent event must not have `event`"]


def test_names_need_a_field(chat, schemas, spec) -> None:
    chat["x-stream"]["framing"] = "event"
    sent = schemas["ChatCompletionServerSentEvent"]
    sent["properties"]["event"] = {"type": "string"}
    sent["required"].append("event")
    assert [problem.fault for problem in streams.tables(spec)] == [
        "framing event: the name of an event is the field `classify`, which must be one"
    ]


def test_a_terminator_that_nothing_states(responses) -> None:
    responses.table["terminator"] = "[DONE]"
    assert responses.faults() == ["the terminator is '[DONE]', but the consts of the event's data are []"]


TEXT = {"delta": "response.refusal.delta", "done": "response.refusal.done", "as": "refusal", "whole": "part.refusal"}


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"law": "consecutive", "field": "number", "from": 0}, "the event error has no number"),
        ({"law": "constant", "fields": ["response.ident"]}, "the events have no response.ident"),
        ({"law": "one id", "of": "item", "fields": ["message"]}, "no event of item has message"),
        ({"law": "one id", "of": "response", "fields": ["code"]}, "'response' is not a machine inside another"),
        (
            {"law": "whole equals pieces", "of": "part", "piece": "item", "whole": "item.content"},
            "part.done has no item",
        ),
        (
            {"law": "whole equals pieces", "of": "part", "piece": "part", "whole": "item.parts"},
            "item.done has no item.parts",
        ),
        ({"law": "whole equals pieces", "of": "item", "piece": "item", "whole": "output"}, "completed has no output"),
        ({"law": "joined deltas", "texts": [TEXT | {"done": "error"}]}, "are not in the body of one inner machine"),
        ({"law": "joined deltas", "texts": [TEXT | {"as": "text"}]}, "the event response.refusal.done has no text"),
        ({"law": "joined deltas", "texts": [TEXT | {"whole": "text"}]}, "response.content_part.done has no text"),
        (
            {
                "law": "joined deltas",
                "texts": [TEXT | {"delta": "response.refusal.done", "done": "response.refusal.delta"}],
            },
            "has no delta",
        ),
        ({"law": "joined deltas", "texts": [{"delta": "error"}]}, '"done" is a required property'),
    ],
)
def test_a_law_of_responses(responses, law, words) -> None:
    responses.table["laws"].append(law)
    problems = responses.faults()
    assert any(line.startswith(f"law {law['law']}: ") and words in line for line in problems), problems


def test_every_event_is_shown(responses) -> None:
    shown = responses.schemas["ResponseStreamEvent"]["examples"]
    queued = [event for event in shown if event["type"] == "response.queued"]
    shown.remove(queued[0])
    assert responses.faults(streams.examples) == ["no example states the fact 'response.queued'"]
    responses.schemas["ResponseQueuedEvent"]["examples"] = queued
    assert responses.faults(streams.examples) == []
