"""Where a field's level comes from."""

import pytest
from support.tiny_document import dialect, object_of, ref, talk

from specvino.codegen.fields import fields
from specvino.codegen.merge import merge_support, support

TEXT = {"type": "string"}

DOCUMENT = talk(
    ask=object_of(tools={"type": "array", "items": ref("Tool")}, user=TEXT),
    answer=object_of(usage=ref("Usage")),
    event=object_of(delta=TEXT),
    Tool=object_of(function=ref("Function"), cost=TEXT | {"x-origin": "ovms"}),
    Function=object_of(name=TEXT),
    Usage=object_of(tokens=TEXT),
)


def levels(**parts):
    entries = support(fields(DOCUMENT), dialect(**parts))
    return {name.removeprefix("talk."): entry["level"] for name, entry in entries.items() if name.startswith("talk")}


@pytest.mark.parametrize("level", ["ignored", "refused", "unknown"])
def test_all_in_a_field_is_as_the_field(level) -> None:
    assert levels(request={"tools": {"level": level, "note": "x"}}) == {
        "tools": level,
        "tools[].function": level,
        "tools[].function.name": level,
        "tools[].cost": level,
    }


def test_full_is_handed_on_to_fields_of_the_same_origin() -> None:
    ours = dict.fromkeys(("tools", "tools[].function", "tools[].function.name"), "full")
    assert levels(request={"tools": "full"}) == ours | {"tools[].cost": "ignored"}


def test_what_another_system_defined_is_unknown_to_those_that_do_not_name_it() -> None:
    document = talk(
        ask=object_of(cost=TEXT | {"x-origin": "ovms"}, user=TEXT), answer=object_of(price=TEXT | {"x-origin": "ovms"})
    )
    system = dialect(request={}, response={})
    for unknown in ("ignored", "refused"):
        levels = support(fields(document), system | {"unknown_fields": unknown})
        assert levels.items() >= {"talk.cost": {"level": unknown}, "talk.response.price": {"level": "absent"}}.items()
        assert "talk.user" not in levels


def test_all_in_a_field_that_a_system_does_not_know_is_unknown_to_it_too() -> None:
    document = talk(
        answer=object_of(choice=ref("Choice")),
        Choice=object_of(draft=ref("Draft") | {"x-origin": "ovms"}),
        Draft=object_of(text=TEXT),
    )
    levels = support(fields(document), dialect(response={"choice": "full"}))
    assert levels["talk.response.choice.draft.text"] == {"level": "absent"}


def test_partial_is_not_handed_on() -> None:
    rows = {"tools": {"level": "partial", "note": "x"}, "tools[].function": "full"}
    expected = {
        "tools": "partial",
        "tools[].function": "full",
        "tools[].function.name": "full",
        "tools[].cost": "ignored",
    }
    assert levels(request=rows) == expected


def test_the_nearest_entry_counts() -> None:
    rows = {"tools": "full", "tools[].function": {"level": "partial", "note": "x"}}
    assert "tools[].function.name" not in levels(request=rows)
    assert levels(request={"tools": "unknown", "tools[].function": "full"})["tools[].function.name"] == "full"


def test_an_origin_that_differs_in_a_branch_is_not_the_same() -> None:
    document = talk(
        ask=object_of(turn={"anyOf": [ref("User"), ref("Tool")]}),
        User=object_of(name=TEXT),
        Tool=object_of(name=TEXT | {"x-origin": "vllm"}),
    )
    assert "talk.turn.name" not in support(fields(document), dialect(request={"turn": "full"}))


def test_notes_and_schemas_are_not_handed_on() -> None:
    levels = support(fields(DOCUMENT), dialect(request={"tools": {"level": "full", "note": "x", "schema": {}}}))
    assert levels["talk.tools[].function"] == {"level": "full"}


def test_a_whole_part() -> None:
    assert levels(request="ignored", response={"usage": "full"}, stream="absent") == {
        "tools": "ignored",
        "tools[].function": "ignored",
        "tools[].function.name": "ignored",
        "tools[].cost": "ignored",
        "user": "ignored",
        "response.usage": "full",
        "response.usage.tokens": "full",
        "stream.delta": "absent",
    }


@pytest.mark.parametrize(("level", "of_request"), [("absent", "refused"), ("unknown", "unknown")])
def test_a_whole_endpoint(level, of_request) -> None:
    levels = support(fields(DOCUMENT), {"fields": {"talk": level}})
    assert levels["talk.user"] == {"level": of_request}
    assert levels["talk.response.usage.tokens"] == {"level": level}
    assert levels["talk.stream.delta"] == {"level": level}


def test_the_document_says_what_is_handed_on() -> None:
    document = talk(answer=object_of(usage=ref("Usage")), Usage=object_of(tokens=TEXT))
    system = dialect(request={}, response={"usage": {"level": "full", "note": "x"}})
    merge_support(document, {"odd": system, "even": {"fields": {"talk": "absent"}}})
    schemas = document["components"]["schemas"]
    assert schemas["Answer"]["properties"]["usage"]["x-support"] == {
        "talk.response.usage": {"odd": {"level": "full", "note": "x"}, "even": "absent"}
    }
    assert schemas["Usage"]["properties"]["tokens"]["x-support"] == {
        "talk.response.usage.tokens": {"odd": "full", "even": "absent"}
    }


def test_support_has_no_reference_to_a_systems_own_schemas() -> None:
    tree = {"title": "Tree", "type": "object", "properties": {"left": ref("Tree"), "leaf": TEXT}}
    document = talk(ask=object_of(a={"type": "object"}, b=ref("Free")), Free={"type": "object"})
    rows = {"a": {"level": "full", "schema": {"anyOf": [ref("Tree"), ref("Free")]}}, "b": "full"}
    merge_support(document, {"ovms": dialect(request=rows, response={}) | {"schemas": {"Tree": tree}}})
    entry = document["components"]["schemas"]["Ask"]["properties"]["a"]["x-support"]["talk.a"]["ovms"]
    first = {"type": "object", "properties": {"left": {"type": "object"}, "leaf": TEXT}}
    assert entry["schema"] == {"anyOf": [first, ref("Free")]}
