"""What no projection has of our document: bounds, defaults, rules between fields."""

from support.tiny_document import object_of, talk

from specvino.codegen.own_schema import drop_bounds


def test_bounds_are_dropped_wherever_a_schema_stands() -> None:
    texts = {
        "type": "array",
        "maxItems": 3,
        "items": {"type": "string", "minLength": 1, "pattern": "x", "default": "x"},
    }
    rule = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
    both = {"allOf": [{"type": "string"}, rule]}
    document = talk(
        ask=object_of(a=texts, b={"anyOf": [{"type": "number", "not": {"const": 0}}, both]}) | {"allOf": [rule]}
    )
    drop_bounds(document)
    ask = document["components"]["schemas"]["Ask"]
    assert "allOf" not in ask
    marked = {"x-origin": "openai", "x-handling": "supported"}
    assert ask["properties"]["a"] == marked | {"type": "array", "items": {"type": "string"}}
    assert ask["properties"]["b"] == marked | {"anyOf": [{"type": "number"}, {"allOf": [{"type": "string"}]}]}


def test_a_property_may_have_the_name_of_a_bound() -> None:
    document = talk(ask=object_of(minimum={"type": "integer"}, default={"type": "string"}))
    drop_bounds(document)
    assert document["components"]["schemas"]["Ask"]["properties"].keys() == {"minimum", "default"}


def test_what_an_object_may_not_have_is_dropped_unless_nothing_else_tells_it_from_others() -> None:
    refused = {"not": {"required": ["b"]}}
    document = talk(ask=object_of(a={"type": "string"}, free={"type": "object", **refused}) | refused)
    drop_bounds(document)
    ask = document["components"]["schemas"]["Ask"]
    assert "not" not in ask
    assert ask["properties"]["free"]["not"] == {"required": ["b"]}
