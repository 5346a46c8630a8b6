"""Conditions between fields, and between fields and facts about a server."""

from functools import partial
from typing import Any

import pytest

from specvino.document.conditions import Condition, complement, value_at
from specvino.document.validator import Validator


def refused(entry: dict[str, Any], body: dict[str, Any], **facts: Any) -> tuple[str, str] | None:
    """The field and the message of the refusal, None if there is none."""
    entry = {"code": "invalid_value", "message": "{field}", **entry}
    refusal = Condition("c", entry).refusal(partial(value_at, body), facts)
    return (refusal.param, refusal.message) if refusal else None


def test_both_groups_have_to_hold() -> None:
    entry = {"both": [{"a": {"minimum": 2}}, {"b": {}, "c.d": {"const": True}}], "message": "{field} and {other}"}
    assert refused(entry, {"a": 2, "c": {"d": True}}) == ("a", "a and c.d")
    assert refused(entry, {"a": 2, "b": 0, "c": {"d": True}}) == ("a", "a and b")
    for body in ({"a": 1, "b": 1}, {"a": 2}, {"a": 2, "c": {"d": False}}, {"a": None, "b": 1}, {"a": 2, "c": 3}, {}):
        assert refused(entry, body) is None


def test_what_is_required_beside_it() -> None:
    entry = {"both": [{"a": {}}], "requires": {"b": {"const": True}}}
    assert refused(entry, {"a": 1}) == refused(entry, {"a": 1, "b": False}) == ("a", "a")
    assert refused(entry, {"a": 1, "b": True}) is refused(entry, {"b": False}) is None


def test_more_than_one() -> None:
    entry = {
        "more_than_one": {"a.type": {"not": {"const": "text"}}, "b": {}, "c": {}},
        "message": "{field} and {other}",
    }
    assert refused(entry, {"a": {"type": "json"}, "c": 1}) == ("a", "a and c")
    assert refused(entry, {"a": {"type": "text"}, "c": 1}) is None


def test_a_field_that_exceeds_another() -> None:
    entry = {"exceeds": {"fields": ["a"], "than": ["b", "c"]}, "message": "{field} {value} {other} {limit}"}
    assert refused(entry, {"a": 3, "b": 3, "c": 2}) == ("a", "a 3 c 2")
    assert refused(entry, {"a": 3, "b": 3}) is refused(entry, {"a": 3, "b": None}) is refused(entry, {"b": 1}) is None


def test_a_key_that_exceeds_a_fact() -> None:
    entry = {"exceeds": {"fields": ["a"], "fact": "most"}, "message": "{field} {value} {limit}"}
    assert refused(entry, {"a": {"2": 9, "x": 9, "": 9}}, most=2) is None
    assert refused(entry, {"a": {"2": 0, "03": 0}}, most=2) == ("a", "a 3 2")


def test_a_field_that_exceeds_a_fact() -> None:
    entry = {"exceeds": {"fields": ["a", "b"], "fact": "most"}, "message": "{value} {limit}"}
    assert refused(entry, {"a": [1, 5, 9], "b": 8}, most=4) == ("a", "9 4")
    assert refused(entry, {"b": 5}, most=4) == ("b", "5 4")
    assert refused(entry, {"b": 5}, most=None) is refused(entry, {"b": 5}) is None
    lists = {**entry, "exceeds": {"fields": ["a"], "fact": "most"}}
    assert refused(lists, {"a": [[1], [7, 2], "9", True]}, most=4) == ("a", "7 4")
    assert refused(lists, {"a": "9"}, most=4) is refused(lists, {"a": []}, most=4) is None
    assert Condition("c", {"code": "x", **entry}).bounds({"most": 4}) == {"a": {"maximum": 4}, "b": {"maximum": 4}}
    assert Condition("c", {"code": "x", **entry}).bounds({"most": None}) == {}


def test_members_of_an_object() -> None:
    entry = {"members": {"a": ["x", "y.z"]}}
    assert refused(entry, {"a": {"y.z": None}}) == ("a.y.z", "a.y.z")
    assert refused(entry, {"a": {"z": 1}}) is refused(entry, {"a": None}) is refused(entry, {}) is None


def test_facts_that_are_unknown_refuse_nothing() -> None:
    entry = {"both": [{"a": {}}], "facts": {"drafting": {"type": "null"}}, "param": "b"}
    assert refused(entry, {"a": 1}, drafting=None) == ("b", "a")
    assert refused(entry, {"a": 1}, drafting="draft_model") is refused(entry, {"a": 1}) is None
    condition = Condition("c", {"code": "x", "message": "", **entry})
    assert condition.bounds({"drafting": None}) == {"a": {"type": "null"}}
    assert condition.bounds({"drafting": "draft_model"}) == condition.bounds({}) == {}


def test_a_limit_that_is_too_large_itself() -> None:
    entry = {"exceeds": {"fields": ["a"], "fact": "most", "inclusive": True}}
    condition = Condition("c", {"message": "{value} of {limit}", **entry})
    refusals = [condition.refusal({"a": value}.get, {"most": 5}) for value in (4, 5, 6)]
    assert [refusal and refusal.message for refusal in refusals] == [None, "5 of 5", "6 of 5"]
    assert condition.bounds({"most": 5}) == {"a": {"exclusiveMaximum": 5}}


VALUES: tuple[Any, ...] = (None, True, False, 0, 1, 2, 3, 1.5, "", "a", [], {})


@pytest.mark.parametrize(
    ("schema", "of"),
    [
        ({}, VALUES),
        ({"type": "number"}, (None, 0, 1.5)),
        ({"type": "number", "minimum": 2}, (None, 0, 1.5, 2, 3)),
        ({"type": "integer", "minimum": 2}, (None, 0, 1, 2, 3)),
        ({"const": True}, (None, True, False)),
        ({"const": False}, (None, True, False)),
        ({"not": {"const": 0}}, (None, 0, 1, 2)),
        ({"not": {"enum": ["", False]}}, (None, "", False, "a", True)),
        ({"const": "a"}, (None, "a", "")),
        ({"minItems": 1}, (None, [], [0])),
    ],
)
def test_the_complement(schema: dict[str, Any], of: tuple[Any, ...]) -> None:
    """Of the values that the field may have, it has those that the condition isn't about."""
    fits, allowed = Validator(schema).fits, Validator(complement(schema)).fits
    for value in of:
        expected = value is None or not fits(value)
        assert allowed(value) == expected, value
