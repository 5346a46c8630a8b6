"""The x-stream tables."""

import pytest


@pytest.fixture
def table(chat):
    return chat["x-stream"]


def test_a_stream_without_a_table(chat, only):
    del chat["x-stream"]
    only("x-stream", "POST /chat/completions", "or neither")


def test_a_table_without_a_stream(spec, only):
    spec.document["paths"]["/version"]["get"]["x-stream"] = {}
    only("x-stream", "GET /version", "or neither")


def test_unknown_keys(table, only):
    table["order"] = "any"
    only("x-stream", "classify, laws, machines, order, terminator", "must be")


def test_another_terminator(table, only):
    table["terminator"] = "[END]"
    only("x-stream", "'[END]' is not a const of the event's data")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"at": "delta.text"}, "the event has no choices[].delta.text"),
        ({"each": "options"}, "the event has no options[]"),
        ({"key": "number"}, "the event has no choices[].number"),
        ({"where": "delta"}, "and nothing else"),
    ],
)
def test_a_rule(spec, table, change, words):
    from specvino.codegen.lint.streams import tables

    table["classify"][1].update(change)
    found = list(map(str, tables(spec)))
    assert any(words in line for line in found), found


def test_a_rule_without_a_key(table, only):
    del table["classify"][1]["key"]
    only("x-stream", "classify content", "each with key")


def test_a_fact_twice(table, only):
    table["classify"].append(table["classify"][0])
    only("x-stream", "classify role: the fact stands twice")


def test_a_fact_that_no_rule_states(table, only):
    table["machines"]["choice"]["body"].append("refusal")
    only("x-stream", "no rule classifies the fact 'refusal'")


def test_a_fact_that_no_machine_has(table, only):
    table["machines"]["stream"]["end"].remove("error")
    only("x-stream", "no machine has the fact 'error'")


def test_no_outermost_machine(table, only):
    table["machines"]["stream"] |= {"in": "choice", "key": "x", "open": "role", "close": "finish"}
    only("x-stream", "one outermost machine")


def test_inside_of_nothing(table, only):
    table["machines"]["choice"]["in"] = "answer"
    only("x-stream", "machine choice: there is no machine 'answer'")


def test_a_machine_without_a_close(table, only):
    del table["machines"]["choice"]["key"]
    only("x-stream", "machine choice", "has key, open and close")


def test_an_unknown_key_of_a_machine(table, only):
    table["machines"]["choice"]["colse"] = "finish"
    only("x-stream", "machine choice: 'colse' is not one of")


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ("keys sorted", "there is no law 'keys sorted'"),
        ({"law": "one fact"}, "law one fact: it needs of"),
        ({"law": "one fact", "of": "part"}, "law one fact: there is no machine 'part'"),
        ({"law": "constant", "fields": ["ident"]}, "law constant: the event has no ident"),
        ({"law": "keys dense", "of": "choice"}, "no more than its name"),
    ],
)
def test_a_law(table, only, law, words):
    table["laws"].append(law)
    only("x-stream", words)
