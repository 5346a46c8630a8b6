"""What we answer becomes what a system's schema has, and nothing else."""

import pytest

from specvino.server.dialect.shapes import ABSENT, Shapes


def fit(schema, value, components=None, given=None):
    return Shapes({"components": {"schemas": components or {}}}, given or {}).of(schema)(value)


def object_of(required=(), **properties):
    return {"type": "object", "title": "Thing", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (object_of(a={"type": "string"}), {"a": "x", "b": 1}, {"a": "x"}),
        (object_of(a={"const": "OVMS"}), {"a": "specvino"}, {"a": "OVMS"}),
        (object_of(a={"type": "string"}), {"a": None}, {}),
        (object_of(a={"type": "null"}), {"a": "x"}, {"a": None}),
        (object_of("a", a={"type": ["string", "null"]}), {}, {"a": None}),
        (object_of("a", a={"type": "string"}), {}, {"a": ""}),
        (object_of("a", a={"type": "array", "items": {"type": "string"}}), {}, {"a": []}),
        (
            object_of("a", a={"type": "array", "minItems": 1, "items": object_of("b", b={"type": "integer"})}),
            {},
            {"a": [{"b": 0}]},
        ),
        (object_of("a", a={"enum": ["x", "y"]}), {"a": "z"}, {"a": "x"}),
        (object_of("a", a={"enum": ["x", None]}), {"a": "z"}, {"a": None}),
        (object_of("a", a=object_of("b", b={"type": "integer", "default": 7})), {}, {"a": {"b": 7}}),
        (object_of(a={"type": "object"}), {"a": '{"city": "Rome"}'}, {"a": {"city": "Rome"}}),
        (object_of("a", a={"type": "object"}), {"a": "no JSON"}, {"a": {}}),
        (object_of(a={"type": "number", "minimum": -23}), {"a": -40.5}, {"a": -23}),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"a": 1, "b": "x"}, {"a": 1}),
        ({"type": "array", "items": {}, "maxItems": 0}, [1, 2], []),
        ({"allOf": [{"type": "object"}, {"maxProperties": 0}]}, {"a": 1}, {}),
        ({"type": "object", "propertyNames": {"pattern": "^[!-~]*$"}, "additionalProperties": {}}, {" a": 1}, {"a": 1}),
    ],
)
def test_members(schema, value, expected) -> None:
    assert fit(schema, value) == expected


CHUNK = object_of(
    ["object", "choices", "usage"],
    object={"const": "chunk"},
    choices={"type": "array"},
    usage={"type": ["object", "null"]},
)
FAILURE = object_of(["error"], error={"type": "object"})
CREATED, DELTA = (object_of("type", type={"const": kind}, text={"type": "string"}) for kind in ("created", "delta"))


@pytest.mark.parametrize(
    ("branches", "value", "expected"),
    [
        ([CHUNK, FAILURE], {"object": "chunk", "choices": []}, {"object": "chunk", "choices": [], "usage": None}),
        ([CHUNK, FAILURE], {"error": {"message": "no"}}, {"error": {"message": "no"}}),
        ([CREATED, DELTA], {"type": "delta", "text": "x"}, {"type": "delta", "text": "x"}),
        ([CREATED, DELTA], {"type": "queued", "text": "x"}, ABSENT),
        ([{"type": "array", "minItems": 1, "items": {}}, {"type": "null"}], [], None),
        (
            [{"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "array"}}],
            [[1], [2]],
            [[1], [2]],
        ),
        ([{"type": "string"}, {"type": "null"}], 5, None),
    ],
)
def test_the_branch_that_was_meant(branches, value, expected) -> None:
    assert fit({"anyOf": branches}, value) == expected


def test_lists_with_an_element_for_each_token_keep_their_length() -> None:
    schema = {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "number"}}}
    assert fit(schema, [None, {"a": -1.5}]) == [{}, {"a": -1.5}]


def test_a_component_may_hold_itself() -> None:
    node = object_of(
        name={"type": "string"}, children={"type": "array", "items": {"$ref": "#/components/schemas/Node"}}
    )
    value = {"name": "a", "children": [{"name": "b", "more": 1}]}
    expected = {"name": "a", "children": [{"name": "b"}]}
    assert fit({"$ref": "#/components/schemas/Node"}, value, {"Node": node}) == expected


def test_what_only_the_server_knows_is_given() -> None:
    given = {"Thing": {"root": lambda value: value["id"], "elsewhere": lambda _: 1}}
    schema = object_of("root", id={"type": "string"}, root={"type": "string"})
    assert fit(schema, {"id": "m"}, given=given) == {"id": "m", "root": "m"}
