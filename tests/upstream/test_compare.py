"""Two schemas are compared by the values that one takes and the other refuses."""

import pytest

from specvino.upstream.compare import Comparison
from specvino.upstream.described import Described, Schema
from specvino.upstream.differences import Difference, Only, What

SYSTEM, DOCUMENT = Only.SYSTEM, Only.DOCUMENT


def compared(ours, theirs, part=("chat", "request"), levels=None, **components):
    document = {"components": {"schemas": components}}
    comparison = Comparison(Described(document, {part: ours}), Described(document, {part: theirs}), levels or {})
    return comparison.of(part), comparison


def differences(ours, theirs, **more):
    """As (field, what, only, values)."""
    return [(each.field, each.what, each.only, *each.values) for each in compared(ours, theirs, **more)[0]]


def of(field):
    return {"properties": {"x": field}}


def test_the_same_in_other_words() -> None:
    ours = {"type": "object", "properties": {"x": {"type": ["string", "null"]}, "y": {"const": "a"}}, "required": ["y"]}
    theirs = {
        "properties": {"y": {"enum": ["a"]}, "x": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["y"],
        "type": "object",
    }
    assert differences(ours, theirs) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        ({"type": "integer"}, {"type": ["integer", "null"]}, [(SYSTEM, "null")]),
        ({"type": "number"}, {"type": "integer"}, [(DOCUMENT, "0.5", "1.5", "-0.5")]),
        ({"type": "integer", "maximum": 7}, {"type": "integer", "maximum": 8}, [(SYSTEM, "8")]),
        ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}, [(DOCUMENT, '"a"'), (SYSTEM, '"c"')]),
        ({"enum": ["a"]}, {"type": "string"}, [(SYSTEM, '"text"', '""')]),
        ({"type": "string"}, {"type": "string", "minLength": 1}, [(DOCUMENT, '""')]),
        ({"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "array"}]}, [(SYSTEM, "[]")]),
        ({"type": "object"}, {"type": "string"}, [(SYSTEM, '"text"', '""'), (DOCUMENT, "{}")]),
    ],
)  # fmt: skip
def test_values(ours, theirs, found) -> None:
    by_side = {only: values for _, what, only, *values in differences(of(ours), of(theirs)) if what is What.VALUES}
    assert by_side.keys() == {only for only, *_ in found}
    for only, *values in found:
        assert set(values) <= set(by_side[only])


def test_true_is_no_number() -> None:
    assert differences(of({"const": 1}), of({"enum": [1, True]})) == [("chat.x", What.VALUES, SYSTEM, "true")]


def test_lists() -> None:
    ours = of({"type": "array", "items": {"type": "integer"}, "maxItems": 2})
    theirs = of({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1})
    assert differences(ours, theirs) == [
        ("chat.x", What.VALUES, DOCUMENT, "[]"),
        ("chat.x", What.VALUES, SYSTEM, "[0, 0, 0]"),
        ("chat.x[]", What.VALUES, DOCUMENT, "-1"),
    ]


def test_objects_inside() -> None:
    inner = {"type": "object", "properties": {"y": {"type": "string"}}}
    narrow = {"type": "object", "properties": {"y": {"enum": ["a"]}}}
    ours, theirs = of({"$ref": "#/components/schemas/Inner"}), of({"anyOf": [narrow, {"type": "null"}]})
    assert differences(ours, theirs, Inner=inner) == [
        ("chat.x", What.VALUES, SYSTEM, "null"),
        ("chat.x.y", What.VALUES, DOCUMENT, '"text"', '""'),
    ]


def test_objects_of_any_names() -> None:
    ours = of({"type": "object", "additionalProperties": {"type": "number"}})
    theirs = of({"type": "object", "additionalProperties": {"type": "integer"}})
    assert [field for field, *_ in differences(ours, theirs)] == ["chat.x.*"]


def test_absence() -> None:
    ours = {"properties": {"x": {}, "y": {}}, "required": ["x"]}
    theirs = {"properties": {"x": {}, "y": {}}, "required": ["y"]}
    assert differences(ours, theirs) == [
        ("chat.x", What.ABSENCE, SYSTEM),
        ("chat.y", What.ABSENCE, DOCUMENT),
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        ({}, {"default": 16}, [("chat.x", What.DEFAULT, SYSTEM, "16")]),
        ({"default": 16}, {"default": 16}, []),
        ({"default": 15}, {"anyOf": [{"default": 16}]}, [("chat.x", What.DEFAULT, SYSTEM, "16")]),
        ({"default": 16}, {"default": None}, []),  # what a class does without a value is said elsewhere
        ({"default": 16}, {}, []),
        ({}, {"const": 16, "default": 16}, []),  # no other value could be meant
    ],
)
def test_defaults(ours, theirs, found) -> None:
    number = {"type": "integer"}
    found_here = differences(of({**number, **ours}), of({**number, **theirs}))
    assert [each for each in found_here if each[1] is What.DEFAULT] == found


def test_answers_have_no_defaults() -> None:
    assert differences(of({"type": "integer"}), of({"type": "integer", "default": 1}), part=("chat", "response")) == []


NAMES: Schema = {"properties": {"x": {}, "y": {}}}


@pytest.mark.parametrize("level", ["ignored", "refused", "absent"])
def test_a_field_of_which_the_dialect_says_why_it_is_not_there(level) -> None:
    assert differences(of({}), NAMES, levels={"chat.y": level}) == []


def test_a_field_of_one_side() -> None:
    assert differences(of({}), NAMES) == [("chat.y", What.FIELD, SYSTEM)]
    assert differences(NAMES, of({})) == [("chat.y", What.FIELD, DOCUMENT)]


def test_a_field_that_is_always_sent_is_not_absent() -> None:
    theirs = {**NAMES, "required": ["y"]}
    found = differences(of({}), theirs, part=("chat", "response"), levels={"chat.response.y": "absent"})
    assert found == [("chat.response.y", What.FIELD, SYSTEM)]


def test_unknown_fields() -> None:
    assert differences(of({}), {**of({}), "additionalProperties": False}) == [("chat", What.UNKNOWN_FIELDS, DOCUMENT)]


def kind(role, /, **properties):
    return {"type": "object", "properties": {"role": {"const": role}, **properties}, "required": ["role"]}


def messages(*branches):
    return {"properties": {"messages": {"type": "array", "items": {"anyOf": list(branches)}}}}


def test_kinds_of_objects_are_compared_by_kind() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    ours = messages(kind("user", name=text), kind("tool", id=text), kind("system", name=text))
    theirs = messages(kind("tool", id=text), kind("user", name=number), kind("assistant"))
    found, _ = compared(ours, theirs)
    assert found == [
        Difference("chat.messages[].role", What.VALUES, DOCUMENT, ('"system"',)),
        Difference("chat.messages[].role", What.VALUES, SYSTEM, ('"assistant"',)),
        Difference("chat.messages[].name", What.VALUES, DOCUMENT, ('"text"', '""'), ("role: user",)),
        Difference("chat.messages[].name", What.VALUES, SYSTEM, found[3].values, ("role: user",)),
    ]


def test_what_is_the_same_for_several_kinds_is_said_once() -> None:
    ours = messages(kind("user", name={"type": "string"}), kind("tool", name={"type": "string"}, id={}))
    either = {"type": ["string", "null"]}
    theirs = messages(kind("user", name=either), kind("tool", name=either, id={}))
    assert compared(ours, theirs)[0] == [
        Difference("chat.messages[].name", What.VALUES, SYSTEM, ("null",), ("role: user", "role: tool"))
    ]


def test_an_object_of_any_kind_takes_part_in_all() -> None:
    ours = messages(kind("user", name={"type": "string"}), kind("tool", id={}))
    theirs = messages(
        kind("user", name={"type": "string"}),
        {"type": "object", "properties": {"role": {"type": "string"}, "name": {}}},
    )
    found = differences(ours, theirs)
    assert ("chat.messages[].role", What.VALUES, SYSTEM, "any other") in found
    assert ("chat.messages[].name", What.FIELD, SYSTEM) in found


def test_an_object_without_a_kind_may_be_meant() -> None:
    part = kind("image_url", url={"type": "string"})
    ours = messages(part, kind("text"))
    theirs = messages(part, kind("text"), {"type": "object", "properties": {"url": {"type": ["object", "null"]}}})
    assert ("chat.messages[].url", What.VALUES, SYSTEM, "null", "{}") in differences(ours, theirs)


def test_what_is_inside_itself_ends() -> None:
    node = {"type": "object", "properties": {"children": {"items": {"$ref": "#/components/schemas/Node"}}}}
    assert differences({"$ref": "#/components/schemas/Node"}, node, Node=node) == []


def test_what_a_side_leaves_open_is_named() -> None:
    detailed = {"type": "object", "properties": {"y": {}}}
    _, comparison = compared(of(detailed), of({"type": "object"}))
    assert comparison.open[SYSTEM].keys() == {"chat.x"}
    _, comparison = compared(of({"type": "object"}), of(detailed))
    assert comparison.open[DOCUMENT].keys() == {"chat.x"}
    found, comparison = compared(of({"type": "integer"}), of({}))
    assert found == []
    assert comparison.open[SYSTEM].keys() == {"chat.x"}


def test_an_event_is_not_compared_where_the_answer_was() -> None:
    usage = {"type": "object", "properties": {"tokens": {"type": "integer"}}}
    other = {"type": "object", "properties": {"tokens": {"type": "string"}}}
    answer, event = ("chat", "response"), ("chat", "stream")

    def both(usage):
        schema = {"type": "object", "properties": {"usage": usage}}
        return Described({}, {answer: schema, event: schema})

    comparison = Comparison(both(usage), both(other), {})
    assert comparison.parts() == [answer, event]
    assert comparison.of(answer)
    assert not comparison.of(event)


def test_what_several_endpoints_answer_with_is_compared_once() -> None:
    parts = ("responses", "response"), ("response", "response")
    ours, theirs = (Described({}, {part: of({"type": kind}) for part in parts}) for kind in ("integer", "string"))
    comparison = Comparison(ours, theirs, {})
    assert comparison.of(parts[0])
    assert not comparison.of(parts[1])


def test_an_object_without_a_kind_takes_those_that_the_other_side_names() -> None:
    free = {"type": "object", "properties": {"name": {"type": "string"}, "more": {}}}
    named = messages(kind("user", name={"type": "string"}), kind("tool", id={}))
    assert set(differences(messages(free), named)) == {
        ("chat.messages[].role", What.VALUES, DOCUMENT, "any other"),
        ("chat.messages[].role", What.ABSENCE, DOCUMENT),
        ("chat.messages[].more", What.FIELD, DOCUMENT),
        ("chat.messages[].name", What.FIELD, DOCUMENT),
        ("chat.messages[].id", What.FIELD, SYSTEM),
    }
    # What such an object of the system has besides is no field of the kind that the document names.
    assert set(differences(named, messages(free))) == {
        ("chat.messages[].role", What.VALUES, SYSTEM, "any other"),
        ("chat.messages[].role", What.ABSENCE, SYSTEM),
        ("chat.messages[].id", What.FIELD, DOCUMENT),
    }
