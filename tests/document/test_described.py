"""What a schema describes of a value."""

from specvino.document.described import Describer

DOCUMENT = {
    "components": {
        "schemas": {
            "Answer": {
                "properties": {
                    "items": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}},
                    "usage": {"anyOf": [{"properties": {"tokens": {"type": "integer"}}}, {"type": "null"}]},
                    "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
                }
            },
            "Item": {
                "oneOf": [
                    {"properties": {"type": {"const": "message"}, "text": {"type": "string"}}},
                    {"properties": {"type": {"const": "call"}, "name": {"type": "string"}}},
                    {"properties": {"type": {"const": "search"}}, "additionalProperties": True},
                ]
            },
        }
    }
}
ANSWER = {"$ref": "#/components/schemas/Answer"}
DESCRIBER = Describer(DOCUMENT)


def test_members_without_a_schema_are_left_out_at_their_place() -> None:
    value = {"usage": {"tokens": 1, "odd": 2}, "odd": 3, "tokens": 4}
    assert DESCRIBER.described(ANSWER, value) == {"usage": {"tokens": 1}}


def test_only_the_branch_that_is_meant_counts() -> None:
    value = {"items": [{"type": "message", "text": "a", "name": "b"}, {"type": "call", "text": "a", "name": "b"}]}
    kept = {"items": [{"type": "message", "text": "a"}, {"type": "call", "name": "b"}]}
    assert DESCRIBER.described(ANSWER, value) == kept


def test_what_is_open_or_of_another_type_stays() -> None:
    value = {"items": [{"type": "search", "odd": 1}, {"type": "odd", "text": "a"}, 5], "metadata": {"a": "b"}}
    assert DESCRIBER.described(ANSWER, value | {"usage": 7}) == value | {"usage": 7}
