"""What a system's classes declare about a field, as far as it differs from our document."""

from typing import Any

import pytest

from specvino.codegen.declared import declared
from specvino.codegen.fields import Field

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NULL: Schema = {"type": "null"}


def of(ours: Schema, theirs: Schema, entry: Schema | None = None, part: str = "request", needed: bool = False) -> Any:
    """The entry of a field `cost`, which is optional in our document, for a class that has it."""
    row = {"level": "full", **(entry or {})}
    classes = [{"properties": {"cost": theirs}, "required": ["cost"] if needed else []}]
    return between([{"properties": {"cost": ours}}], classes, row, part)


def between(ours: list[Schema], classes: list[Schema], row: Schema, part: str = "request", **defs: Schema) -> Any:
    field = Field("talk", part, "bill[].cost", tuple(each["properties"]["cost"] for each in ours), tuple(ours))
    return declared(field, row, classes, {"$defs": defs}, {"$defs": defs})


@pytest.mark.parametrize(
    ("ours", "theirs", "entry"),
    [
        (TEXT, TEXT, {}),
        ({"type": "string", "maxLength": 9}, TEXT, {}),  # the bound is our server's
        (TEXT, {"anyOf": [TEXT, NULL]}, {"nullable": True}),
        ({"type": ["string", "null"]}, {"$ref": "#/$defs/Text"}, {"nullable": False}),
        (TEXT, {"type": "string", "minLength": 1}, {"schema": {"type": "string", "minLength": 1}}),
        (
            {"type": "integer"},
            {"anyOf": [{"type": "number"}, NULL], "minimum": 0, "default": None},
            {"schema": {"type": ["number", "null"], "minimum": 0}},
        ),
        ({"enum": ["a", "b"]}, {"anyOf": [{"const": "b"}, {"const": "a"}]}, {}),
        ({"enum": ["a", "b"]}, {"enum": ["a", None]}, {"schema": {"enum": ["a", None]}}),
        (TEXT, {"const": "a"}, {"schema": {"const": "a"}}),
        (
            {"type": "array", "items": TEXT},
            {"type": "array", "items": {"type": "integer"}, "maxItems": 4},
            {"schema": {"type": "array", "maxItems": 4, "items": {"type": "integer"}}},
        ),
    ],
)
def test_values(ours, theirs, entry) -> None:
    outer, classes = [{"properties": {"cost": ours}}], [{"properties": {"cost": theirs}}]
    assert between(outer, classes, {"level": "full"}, "response", Text=TEXT) == entry


@pytest.mark.parametrize(
    "theirs",
    [
        {"x-unread": "Money"},
        {"type": "object", "properties": {"cents": TEXT}},
        {"anyOf": [{"type": "integer"}, {"const": "free"}]},
        {"allOf": [{"type": "integer"}, {"not": {"const": 3}}]},
        {"type": "array", "items": {"type": "object"}},
    ],
)
def test_values_that_no_plain_schema_has_are_left_out(theirs) -> None:
    assert of(TEXT, theirs) == {}


def test_what_a_row_states_is_not_derived() -> None:
    theirs = {"type": ["integer", "null"], "default": 3}
    assert of(TEXT, theirs, needed=True) == {"schema": {"type": ["integer", "null"]}, "default": 3, "required": True}
    assert of(TEXT, theirs, {"nullable": False, "default": 2, "required": False}, needed=True) == {}
    assert of(TEXT, theirs, {"schema": {"type": "integer"}}) == {"default": 3}


def test_a_default_belongs_to_requests() -> None:
    assert of(TEXT, {"allOf": [{"type": "string", "default": "x"}, {"not": {"const": "y"}}]}) == {"default": "x"}
    assert of(TEXT, {"type": "string", "default": "x"}, part="response") == {}


def test_a_partial_field_is_required_in_answers_by_its_class() -> None:
    ours = [{"properties": {"cost": TEXT}, "required": ["cost"]}]
    classes = [{"properties": {"cost": TEXT}, "required": ["cost"]}]
    row = {"level": "partial", "note": "Always 3."}
    assert between(ours, classes, row, "response") == {"required": True}
    number = [{"properties": {"cost": {"type": "integer"}}}]
    assert between(ours, number, row, "response") == {"schema": {"type": "integer"}, "required": False}


def kind(name: str, cost: Schema, needed: bool = True) -> Schema:
    return {
        "properties": {"type": {"const": name}, "cost": cost},
        "required": ["type", "cost"] if needed else ["type"],
    }


def test_kinds_of_objects_that_differ_are_named() -> None:
    ours = [kind("meal", TEXT), kind("ride", TEXT)]
    classes = [kind("ride", {"type": ["string", "null"]}), kind("meal", TEXT, needed=False), kind("stay", NULL)]
    assert between(ours, classes, {"level": "full"}) == {"nullable": ["ride"], "required": ["ride"]}
    assert between(ours, classes, {"level": "full", "kinds": ["meal"]}) == {"required": False}


def test_nothing_is_derived_if_a_kind_lacks_the_field() -> None:
    meal = {"properties": {"type": {"const": "meal"}}}
    assert between([kind("meal", TEXT)], [meal, kind("ride", NULL)], {"level": "full"}) == {}
    assert between([kind("meal", TEXT)], [], {"level": "full"}) == {}
