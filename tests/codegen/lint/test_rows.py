"""Rows of a system, held against its document and against the rows of the fields beside them."""

from typing import Any

import pytest
from support.tiny_document import dialect, kind, object_of, ref, talk

from specvino.codegen.lint import rows
from specvino.codegen.project import project
from specvino.codegen.spec import Spec

TEXT = {"type": ["string", "null"]}


def faults(system: dict[str, Any], **request: Any) -> list[str]:
    projected = project(talk(ask=object_of(**request)), system)
    return [str(problem) for problem in rows.contradicted("odd", system, projected)]


@pytest.mark.parametrize(
    ("around", "inner", "what"),
    [
        ({}, {"nullable": True}, None),
        ({"type": "string"}, {"nullable": True}, "nullable is True, in the document False"),
        ({"type": "string"}, {"nullable": False}, None),
        ({"type": "string"}, {"required": True}, "required is True, in the document False"),
        ({"type": "string"}, {"schema": {"type": "string", "maxLength": 2}}, "its schema refuses 'aaa'"),
        ({"type": "string"}, {"schema": {"type": ["string", "number"]}}, "its schema takes 0"),
        ({"type": "string", "maxLength": 2}, {"schema": {"type": "string", "maxLength": 2}}, None),
        ({"enum": ["a"]}, {"schema": {"enum": ["a", "b"]}}, "its schema lists 'b', which the document refuses"),
        ({"enum": ["a", "b"]}, {"schema": {"enum": ["a", "b"]}}, None),
    ],
)
def test_the_row_around_says_what_the_inner_row_says(around, inner, what) -> None:
    box = {"level": "full", "schema": {"type": "object", "properties": {"name": around}}}
    system = dialect(request={"box": box, "box.name": {"level": "full"} | inner}, response={})
    problems = faults(system, box=object_of(name=TEXT))
    assert bool(problems) == (what is not None)
    assert all(each.startswith("support: openapi/dialects/odd.yaml talk.box.name: ") for each in problems)
    assert what is None or any(what in each for each in problems)


def test_a_rule_between_fields_is_no_description() -> None:
    system = dialect(request={"name": {"level": "full", "nullable": True}}, response={})
    system["rules"] = {"talk": [{"properties": {"name": {"type": "string"}}}]}
    assert faults(system, name=TEXT) == []


def spec(document: dict[str, Any], **parts: Any) -> Spec:
    return Spec(document, {}, {"odd": dialect(**parts)}, {}, {}, {})


@pytest.mark.parametrize(
    ("row", "data", "lost"),
    [
        ({"level": "full"}, "ignored", True),
        ({"level": "full"}, "full", False),
        ({"level": "partial", "note": "No b."}, "ignored", False),
        ({"level": "full", "schema": {"enum": ["a"]}}, "ignored", False),
    ],
)
def test_what_a_type_in_full_requires_has_an_effect(row, data, lost) -> None:
    part = {"oneOf": [kind("a", text=TEXT), kind("b", data=TEXT)]}
    document = talk(ask=object_of(part=part))
    request = {"part": "full", "part.type": row, "part.text": "full", "part.data": data}
    problems = [str(problem) for problem in rows.beside(spec(document, request=request, response={}))]
    assert len(problems) == lost
    assert all("talk.part.type: is full, but what b requires" in problem for problem in problems)


@pytest.mark.parametrize(("row", "found"), [({"level": "full"}, True), ({"level": "full", "note": "All."}, False)])
def test_an_event_has_no_more_than_the_answer(row, found) -> None:
    document = talk(answer=object_of(end=TEXT), event=object_of(delta=object_of(end=TEXT)))
    answer = {"end": {"level": "partial", "required": False, "note": "Never length."}}
    levels = {"request": {}, "response": answer, "stream": {"delta": "full", "delta.end": row}}
    problems = [str(problem) for problem in rows.beside(spec(document, **levels))]
    assert len(problems) == found
    assert all("talk.stream.delta.end: is full without a note, but talk.response.end is" in each for each in problems)


def test_a_converted_request_has_no_more_than_what_it_becomes() -> None:
    document = talk(ask=object_of(stop_sequences=TEXT))
    other = talk(ask=ref("Other"), Other=object_of(stop=TEXT))["paths"]["/talk"]["post"] | {"x-endpoint": "chat"}
    other["requestBody"] = {"content": {"application/json": {"schema": ref("Other")}}}
    document["paths"]["/talk"]["post"]["x-endpoint"] = "messages"
    document["paths"]["/chat"] = {"post": other}
    document["components"]["schemas"]["Other"] = object_of(stop=TEXT)
    made = spec(document)
    made.dialects["odd"]["fields"] |= {
        "messages": {"request": {"stop_sequences": "full"}, "response": {}},
        "chat": {"request": {"stop": {"level": "partial", "note": "Not in streams."}}, "response": {}},
    }
    (problem,) = rows.beside(made)
    assert "messages.stop_sequences: is full without a note, but chat.stop is partial: Not in streams." in str(problem)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"level": "partial"}, True),
        ({"level": "partial", "required": False}, False),
        ({"level": "partial", "schema": {"const": "a"}}, False),
        ({"level": "full"}, False),
    ],
)
def test_a_partial_row_says_whether_an_answer_always_has_the_field(entry, found) -> None:
    document = talk(answer=object_of(end=TEXT) | {"required": ["end"]})
    problems = [*rows.beside(spec(document, request={}, response={"end": entry | {"note": "x"}}))]
    assert len(problems) == found
