"""What is valid, and what is said of what isn't."""

import pytest

from specvino.document.validator import Validator, Validators

DOCUMENT = {"components": {"schemas": {"a/b": {"type": "integer", "minimum": 1}, "Day": {"format": "date"}}}}


def test_schemas_may_refer_to_the_document() -> None:
    validators = Validators(DOCUMENT)
    several = validators.of({"type": "array", "items": {"$ref": "#/components/schemas/a~1b"}})
    assert several.fits([1, 2])
    assert list(several.violations([1, 0])) == ["1: 0 is less than the minimum of 1"]
    assert validators.at("/components/schemas/a~1b") is validators.at("/components/schemas/a~1b")


def test_formats_count() -> None:
    assert not Validators(DOCUMENT).at("/components/schemas/Day").fits("31 June")


KINDS = {
    "oneOf": [
        {"type": "object", "required": ["type", "n"], "properties": {"type": {"const": "a"}, "n": {"type": "integer"}}},
        {"type": "object", "required": ["type", "m"], "properties": {"type": {"enum": ["b", "c"]}}},
        {"type": "object", "required": ["type"], "properties": {"type": {"const": "d"}}},
        {"type": "null"},
    ]
}


@pytest.mark.parametrize(
    ("value", "violation"),
    [
        ({"type": "x"}, '0.type: "x" is not one of "a", "b" or 2 other candidates'),
        ({"type": "a", "n": "1"}, '0.n: "1" is not of type "integer"'),
        ({"type": "b"}, '0: "m" is a required property'),
    ],
    ids=["an unknown type", "a wrong member", "a missing member"],
)
def test_a_violation_of_a_union_is_that_of_the_branch_with_the_type(value: object, violation: str) -> None:
    validator = Validators(DOCUMENT).of({"type": "array", "items": KINDS})
    assert list(validator.violations([value])) == [violation]


def test_many_invalid_keys_are_one_violation() -> None:
    schema = {"properties": {"metadata": {"propertyNames": {"maxLength": 2}}}}
    value = {"metadata": {f"key {number}": "" for number in range(500)}}
    assert list(Validator(schema).violations(value)) == ['metadata: "key 0" is longer than 2 characters']


def test_schemas_of_keys_may_have_references() -> None:
    schema = {"propertyNames": {"$ref": "#/$defs/name"}, "$defs": {"name": {"maxLength": 2}}}
    assert list(Validator(schema).violations({"long": 1})) == ['it: "long" is longer than 2 characters']


@pytest.mark.parametrize(("formats", "violations"), [(True, ['it: "a" is not a "date"']), (False, [])])
def test_formats_of_keys_count_as_those_of_values_do(formats: bool, violations: list[str]) -> None:
    assert list(Validator({"propertyNames": {"format": "date"}}, formats=formats).violations({"a": 1})) == violations
