"""The rules of an older version, by what its sources have."""

import pytest

from specvino.codegen.later_rules import drop_later
from specvino.document.system_fields import SystemFields


def described(*names):
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    parts = {"talk.request": schema}
    return SystemFields(
        {"parts": parts, "listed": {}, "is_partial": False, "unread": [], "places": {}, "files": {}, "quoted": {}}
    )


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ({"properties": {"old": TEXT, "new": TEXT}}, {"properties": {"old": TEXT}}),
        ({"properties": {"new": TEXT}}, None),
        # Only our document has it, as the system's code reads it without naming it in a class.
        ({"properties": {"other": TEXT}}, {"properties": {"other": TEXT}}),
        ({"if": {"required": ["new"]}, "then": {"required": ["old"]}}, None),
        (
            {"if": {"required": ["new"]}, "then": {"required": ["old"]}, "else": {"properties": {"old": TEXT}}},
            {"properties": {"old": TEXT}},
        ),
        ({"if": {"required": ["old"]}, "then": {"properties": {"new": TEXT}}}, None),
        (
            {"if": {"properties": {"new": TEXT}}, "then": {"properties": {"old": TEXT}}},
            {"if": {}, "then": {"properties": {"old": TEXT}}},
        ),
        ({"allOf": [{"properties": {"new": TEXT}}, {"required": ["old"]}]}, {"allOf": [{"required": ["old"]}]}),
    ],
)
def test_what_a_rule_says_of_a_later_field_is_left_out(rule, left) -> None:
    rules = drop_later({"talk": [rule]}, described("old"), described("old", "new"))
    assert rules == ({"talk": [left]} if left else {})
