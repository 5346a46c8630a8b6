"""Enough examples, all valid."""

import pytest


def test_too_few_for_a_request(chat, only) -> None:
    examples = chat["requestBody"]["content"]["application/json"]["examples"]
    for name in list(examples)[2:]:
        del examples[name]
    only("examples", "POST /chat/completions request", "has 2 examples, but needs 3")


def test_none_for_an_answer(spec, only) -> None:
    del spec.document["paths"]["/version"]["get"]["responses"]["200"]["content"]["application/json"]["examples"]
    only("examples", "GET /version 200", "has 0 examples, but needs 1")


def test_none_for_a_shared_answer(spec, only) -> None:
    spec.document["components"]["responses"]["NotFound"]["content"]["application/json"]["examples"] = {}
    only("examples", "response NotFound", "has 0 examples")


def test_an_invalid_request(chat, only) -> None:
    chat["requestBody"]["content"]["application/json"]["examples"]["stream"]["value"]["temperature"] = 9
    only("examples", "example stream", "temperature: 9 is greater")


def test_an_invalid_answer(chat, only) -> None:
    example = chat["responses"]["200"]["content"]["application/json"]["examples"]["answer"]["value"]
    del example["usage"]
    only("examples", "example answer", '"usage" is a required property')


def test_an_invalid_event(schemas, only) -> None:
    schemas["ChatCompletionChunk"]["examples"] = [{}]
    del schemas["ChatCompletionChunk"]["required"][1:]
    only("examples", "ChatCompletionChunk example 0", '"id" is a required property')


def test_an_invalid_parameter(spec, only) -> None:
    spec.document["paths"]["/models/{model}"]["parameters"][0]["examples"]["plain"]["value"] = ""
    only("examples", "parameter model example plain")


def test_formats_are_looked_at(spec, schemas, only) -> None:
    schemas["Version"]["properties"]["version"]["format"] = "uri"
    only("examples", "GET /version 200", "uri")


@pytest.mark.parametrize(
    ("fact", "stated"),
    [
        ("role", lambda event: any("role" in choice["delta"] for choice in event.get("choices", ()))),
        ("content", lambda event: any("content" in choice["delta"] for choice in event.get("choices", ()))),
        ("finish", lambda event: any(choice["finish_reason"] for choice in event.get("choices", ()))),
        ("usage", lambda event: bool(event.get("usage"))),
        ("error", lambda event: "error" in event),
    ],
)
def test_every_fact_of_a_stream_is_shown(schemas, only, fact, stated) -> None:
    shown = schemas["ChatCompletionStreamEvent"]["examples"]
    for choice in (choice for event in shown for choice in event.get("choices", ())):
        choice["delta"].pop(fact, None)  # one chunk states the role and a content
    shown[:] = [event for event in shown if not stated(event)]
    only("examples", "POST /chat/completions stream", f"no example states the fact {fact!r}")
