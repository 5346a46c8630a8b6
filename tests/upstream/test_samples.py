"""Values to try are those at the bounds, and one of each type."""

from specvino.upstream.described import Described
from specvino.upstream.samples import example, plain, sizes
from specvino.upstream.side import Side


def test_bounds_and_their_neighbours() -> None:
    found = plain([{"minimum": 7}, {"exclusiveMaximum": 0.5}])
    assert {6, 7, 8, 0.5} <= {value for value in found if isinstance(value, (int, float))}
    assert 7.25 not in found  # an integer's neighbours are integers


def test_texts_at_their_sizes() -> None:
    found = plain([{"minLength": 1, "maxLength": 10**9}])
    assert {"", "x", "xx"} <= {value for value in found if isinstance(value, str)}
    assert max(len(value) for value in found if isinstance(value, str)) < 100


def test_one_of_each_type_and_none_twice() -> None:
    found = plain([{"enum": [1, True, None, "a", ["list"]]}, {"const": 1}])
    assert {type(value) for value in found} == {type(None), bool, int, float, str}
    assert len({(type(value), value) for value in found}) == len(found)


def test_sizes_of_lists() -> None:
    assert sizes([{"minItems": 2}, {"maxItems": 4}, {"maxItems": 10**9}]) == [0, 1, 2, 3, 4, 5]


def smallest(schema):
    return next(example(Side(Described({}, {})), [schema]), "nothing")


def test_examples() -> None:
    schema = {
        "type": "object",
        "properties": {"type": {"const": "a"}, "many": {"type": "array", "minItems": 2, "items": {"enum": ["b"]}}},
        "required": ["type", "many"],
    }
    assert smallest(schema) == {"type": "a", "many": ["b", "b"]}
    assert smallest({"anyOf": [{"not": {}}, {"type": "array"}]}) == []
    assert smallest({"type": "string", "pattern": "^nobody finds this$"}) == "nothing"
