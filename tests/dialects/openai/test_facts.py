"""What a schema says of each field, however it is written."""

import pytest
from dialects.openai.facts import Fact, facts, plain

DOCUMENT = {
    "components": {
        "schemas": {
            "Tree": {"type": "object", "properties": {"child": {"$ref": "#/components/schemas/Tree"}}},
            "Mode": {"type": "string", "enum": ["a", "b"]},
            "Named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        }
    }
}
MODE = {"$ref": "#/components/schemas/Mode"}


def of(schema, **more):
    return facts(DOCUMENT, schema, **more)


def thing(**properties):
    return {"type": "object", "properties": properties}


def kind(name, **properties):
    return thing(type={"const": name}, **properties)


@pytest.mark.parametrize(
    ("schema", "fact"),
    [
        ({}, Fact(("any",))),
        ({"type": "integer", "minimum": 1}, Fact(("integer",), bounds={"integer minimum": 1})),
        ({"type": ["string", "null"]}, Fact(("null", "string"))),
        ({"type": "string", "nullable": True}, Fact(("null", "string"))),
        ({"type": "string", "enum": ["a"], "nullable": True}, Fact(("null", "string"), values=("a",))),
        ({"enum": ["a", None]}, Fact(("null", "string"), values=("a",))),
        ({"type": ["string", "null"], "enum": ["a"]}, Fact(("string",), values=("a",))),
        ({"const": 1}, Fact(("integer",), values=(1,))),
        (MODE, Fact(("string",), values=("a", "b"))),
        ({"anyOf": [MODE, {"type": "null"}], "default": "a"}, Fact(("null", "string"), values=("a", "b"), default="a")),
        ({"anyOf": [{"type": "string", "default": "a"}, {"type": "null"}]}, Fact(("null", "string"), default="a")),
        ({"anyOf": [MODE, {"type": "string"}]}, Fact(("string",))),
        (
            {"allOf": [{"type": ["string", "null"]}, {"type": "string", "maxLength": 2}]},
            Fact(("string",), bounds={"string maxLength": 2}),
        ),
        (
            {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "string"}]},
            Fact(("string",), bounds={"string maxLength": [2, None]}),
        ),
        ({"const": "a", "default": "a"}, Fact(("string",), values=("a",))),
        ({"type": "string", "format": "uri"}, Fact(("string",))),
        ({"if": {}, "properties": {}}, Fact(("object",))),
    ],
)
def test_one_field(schema, fact) -> None:
    assert of(thing(n=schema))["n"] == fact


def test_a_property_that_fits_no_value_is_none() -> None:
    assert list(of(thing(n={"type": "integer"}, gone={"not": {}, "description": "Refused."}))) == ["", "n"]


def test_all_of_one_object() -> None:
    both = {"allOf": [{"$ref": "#/components/schemas/Named"}, thing(name={"maxLength": 3}) | {"required": ["age"]}]}
    assert of(both)["name"] == Fact(("string",), True, bounds={"string maxLength": 3})
    assert of({"allOf": [thing(), {"if": {}, "then": {}}]}) == {"": Fact(("object",), True)}


def test_kinds_of_objects() -> None:
    union = {"type": "array", "items": {"oneOf": [kind("a", x=MODE), kind("b", y=MODE) | {"required": ["y"]}]}}
    found = of(thing(n=union))
    assert list(found) == ["", "n", "n[]", "n[](a).type", "n[](a).x", "n[](b).type", "n[](b).y"]
    assert found["n[](b).y"].required
    assert found["n[](a).type"] == Fact(("string",), values=("a",))
    assert plain("n[](b).y") == "n[].y"


def test_one_object_of_several_kinds() -> None:
    assert list(of(thing(type=MODE, x={}))) == ["", "(a).type", "(a).x", "(b).type", "(b).x"]
    assert of(thing(type={"enum": ["a", None]}))["(a).type"] == Fact(("null", "string"), values=("a",))


def test_roles_tell_kinds_apart_where_there_are_several() -> None:
    user, tool = thing(role={"const": "user"}), thing(role={"const": "tool"})
    assert list(of({"anyOf": [user, tool]})) == ["", "(user).role", "(tool).role"]
    assert list(of(user)) == ["", "role"]


def test_objects_that_nothing_tells_apart_are_one() -> None:
    union = {"anyOf": [thing(x=MODE) | {"required": ["x"]}, thing(x={"type": "null"}), {"type": "string"}]}
    assert of(union) == {
        "": Fact(("object", "string"), True),
        "x": Fact(("null", "string"), values=("a", "b")),
    }


def test_any_names() -> None:
    assert of({"type": "object", "additionalProperties": MODE})["*"] == Fact(("string",), values=("a", "b"))
    assert list(of({"type": "object", "additionalProperties": True})) == [""]


def test_an_object_inside_itself() -> None:
    assert list(of({"$ref": "#/components/schemas/Tree"})) == ["", "child"]


def test_what_is_left_out() -> None:
    assert list(of(thing(n=thing(x={})), without=["n"])) == ["", "n"]
