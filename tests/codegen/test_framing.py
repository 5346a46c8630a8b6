"""The streams of a system."""

from typing import Any

import pytest
from support.tiny_document import dialect, object_of, ref, talk

from specvino.codegen.project import project

TABLE: dict[str, Any] = {
    "framing": "event",
    "terminator": None,
    "classify": [{"fact": "text", "at": "text"}, {"fact": "error", "at": "error"}],
    "machines": {"stream": {"end": ["text"], "fail": ["error"]}},
    "laws": ["keys dense", {"law": "consecutive", "field": "number", "from": 0}],
}
EVENTS = {"anyOf": [ref("Chunk"), ref("ErrorResponse")], "examples": [{"text": "a"}, {"error": {"message": "b"}}]}


def streamed(form="full", **rows):
    """The operation and the component schemas in a system whose stream is so; `form` is the level of our errors."""
    document = talk(event=EVENTS, Chunk=object_of(text={"type": "string"}) | {"required": ["text"]}, Frame={})
    operation = document["paths"]["/talk"]["post"]
    content = operation["responses"]["200"]["content"]
    document["components"]["schemas"]["Frame"] = content["text/event-stream"]["itemSchema"] | {
        "title": "TalkServerSentEvent",
        "description": "Ours.",
    }
    content["text/event-stream"] = {"itemSchema": ref("Frame")}
    operation["x-stream"] = TABLE
    whole = dialect(request={}, response={}, stream={"text": "full"}, error=form)
    stream = {"framing": "event", "terminator": None, "error": "event"} | rows
    projected = project(document, whole | {"stream": {"talk": stream}})
    return projected["paths"]["/talk"]["post"], projected["components"]["schemas"]


JSON = {"type": "string", "contentMediaType": "application/json", "contentSchema": ref("Event")}


def test_an_event_with_its_type() -> None:
    operation, schemas = streamed()
    assert schemas["Frame"]["required"] == ["event", "data"]
    assert schemas["Frame"]["properties"]["event"]["type"] == "string"
    assert schemas["Frame"]["properties"]["data"] == JSON | {"description": "The event as JSON."}
    assert operation["x-stream"] == TABLE


def test_an_event_of_data_alone() -> None:
    operation, schemas = streamed(framing="data")
    assert (schemas["Frame"]["required"], list(schemas["Frame"]["properties"])) == (["data"], ["data"])
    assert operation["x-stream"]["framing"] == "data"


def test_a_text_that_ends_the_stream() -> None:
    operation, schemas = streamed(terminator="[END]")
    assert schemas["Frame"]["properties"]["data"]["anyOf"] == [{"const": "[END]"}, JSON | {"title": "TalkEventJson"}]
    assert schemas["Frame"]["description"].endswith("the last one is [END].")
    assert operation["x-stream"]["terminator"] == "[END]"


def test_the_first_number() -> None:
    assert streamed(first=1)[0]["x-stream"]["laws"][1]["from"] == 1
    assert TABLE["laws"][1]["from"] == 0


def test_a_table_that_does_not_hold() -> None:
    assert "x-stream" not in streamed(order="Backwards.")[0]


@pytest.mark.parametrize("form", ["full", "absent"])
def test_a_failure_that_is_no_event(form) -> None:
    operation, schemas = streamed(form, error="none")
    data = schemas["Frame"]["properties"]["data"]
    assert data["contentSchema"] == ref("Chunk")
    assert schemas["Chunk"]["examples"] == [{"text": "a"}]
    assert not {"Event", "ErrorResponse"} & schemas.keys()
    assert operation["x-stream"]["classify"] == [{"fact": "text", "at": "text"}]
    assert operation["x-stream"]["machines"] == {"stream": {"end": ["text"]}}


BY_TYPE: dict[str, Any] = {
    "framing": "event",
    "terminator": None,
    "classify": "type",
    "machines": {
        "whole": {"open": "begun", "body": ["going"], "end": ["ended"], "fail": ["failed"]},
        "piece": {"in": "whole", "key": "n", "open": "opened", "body": ["delta", "done"], "close": "closed"},
        "crumb": {"in": "piece", "key": "m", "body": ["crumbled"], "close": "swept"},
    },
    "laws": [
        "keys dense",
        {"law": "one id", "of": "piece", "fields": ["id"]},
        {"law": "joined deltas", "texts": [{"delta": "delta", "done": "done", "as": "text", "whole": "text"}]},
    ],
}
PIECES = {"piece": BY_TYPE["machines"]["piece"]}


@pytest.mark.parametrize(
    ("sent", "machines", "laws"),
    [
        (["begun", "ended"], {"whole": {"open": "begun", "end": ["ended"]}}, ["keys dense"]),
        (
            ["begun", "ended", "failed", "opened", "delta", "done", "closed"],
            {"whole": {"open": "begun", "end": ["ended"], "fail": ["failed"]}} | PIECES,
            BY_TYPE["laws"],
        ),
        # What is stated of a thing that nothing opens is of the one around it.
        (
            ["begun", "ended", "delta", "done"],
            {"whole": {"open": "begun", "body": ["delta", "done"], "end": ["ended"]}},
            ["keys dense", BY_TYPE["laws"][2]],
        ),
    ],
)
def test_what_no_event_states_is_gone(sent, machines, laws) -> None:
    events = {"oneOf": [object_of(type={"const": kind}) for kind in sent]}
    document = talk(event=events)
    document["paths"]["/talk"]["post"]["x-stream"] = BY_TYPE
    stream = {"framing": "event", "terminator": None, "error": "event"}
    whole = dialect(request={}, response={}, stream={"type": "full"}) | {"stream": {"talk": stream}}
    left = project(document, whole)["paths"]["/talk"]["post"]["x-stream"]
    assert (left["machines"], left["laws"]) == (machines, laws)
