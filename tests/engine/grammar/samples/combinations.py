"""Schemas of combined keywords, as strategies of Hypothesis."""

from decimal import Decimal
from itertools import product
from typing import Any

from hypothesis import strategies as st

from specvino.engine.grammar._from_schema.formats import FORMATS

Schema = Any
Schemas = st.SearchStrategy[Schema]

LETTERS = "ab1-"
"""The alphabet of finite languages."""

_POOL = (
    "^[a-z]+$",
    "^[ab]{2,3}$",
    "a",
    "^a|b$",
    "^(?:a|b1)*$",
    "-$",
    "^[^b]*$",
    "^.{2,4}$",
    r"^\w+$",
    r"\d",
    r"^\S+$",
    r"^(?!-)[a-z1-]+$",
    r"^(?=.*\d)(?=.*[a-z]).+$",
    r"^\d{4}-",
    r"^\d+(?:-\d+)*$",
    r"[05]$",
    r"@[a-z]+\.",
    "^https?://",
    r"^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$",
    # zod 4.6.7: its e-mail, duration and UUID.
    r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
    r"^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$",
    r"^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12})$",
)

_SETS = st.sampled_from(["a", "b", "1", "-", "[ab]", "[^a]", "[a-z]", "[^-]", r"\d", r"\w", "."])


def _repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    count = st.sampled_from(["", "?", "*", "+", "{2}", "{0,2}", "{1,3}", "{2,}"])
    return st.tuples(inner, count).map(lambda parts: f"(?:{parts[0]}){parts[1]}")


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, min_size=1, max_size=3).map("".join) | st.lists(inner, min_size=2, max_size=3).map(
        lambda options: f"(?:{'|'.join(options)})"
    )


def _expression(most: int = 5) -> st.SearchStrategy[str]:
    return st.recursive(_SETS, lambda inner: _repeated(inner) | _joined(inner), max_leaves=most)


@st.composite
def _drawn_pattern(draw: st.DrawFn) -> str:
    start = draw(st.sampled_from(["", "^", "^(?=.*[ab])", "^(?!a-)", "^(?!.*--)"]))
    return start + draw(_expression()) + draw(st.sampled_from(["", "$"]))


patterns = st.sampled_from(_POOL) | _drawn_pattern()


def _keyword(name: str, values: st.SearchStrategy[Any]) -> Schemas:
    return values.map(lambda value: {name: value})


def combined(parts: Schemas, most: int = 4) -> Schemas:
    """Draws a schema of several parts: in one object as far as they have different keywords, by allOf, beside a
    reference, or in a branch of anyOf."""

    @st.composite
    def draw_combined(draw: st.DrawFn) -> Schema:
        drawn = draw(st.lists(parts, min_size=1, max_size=most))
        schema: dict[str, Any] = {}
        definitions: dict[str, Any] = {}
        for index, part in enumerate(drawn):
            how = draw(st.sampled_from(["here", "here", "allOf", "$ref", "anyOf"]))
            if how == "here" and not part.keys() & schema.keys():
                schema |= part
            elif how == "$ref" and "$ref" not in schema:
                definitions[f"d{index}"] = part
                schema["$ref"] = f"#/$defs/d{index}"
            elif how == "anyOf" and "anyOf" not in schema:
                schema["anyOf"] = [part, draw(parts)]
            else:
                schema.setdefault("allOf", []).append(part)
        return schema | ({"$defs": definitions} if definitions else {})

    return draw_combined()


_lengths = st.integers(0, 12)
string_parts = st.one_of(
    _keyword("pattern", patterns),
    _keyword("pattern", patterns),
    _keyword("format", st.sampled_from(sorted(FORMATS))),
    _keyword("minLength", _lengths),
    _keyword("maxLength", st.integers(1, 40)),
)
strings = combined(string_parts).map(lambda schema: {"type": "string", **schema})
listed_strings = st.builds(
    lambda values, schema: {"enum": values, **schema},
    st.lists(st.text(LETTERS, max_size=4), min_size=2, max_size=6, unique=True),
    combined(string_parts, 2),
)

# What is short: all texts of LETTERS up to a length can be tried.
_short_pattern = st.builds(
    lambda start, middle, end: start + middle + end,
    st.sampled_from(["", "^", "^(?!a)", "^(?=.*b)"]),
    _expression(4),
    st.sampled_from(["", "$"]),
)
short_strings = combined(
    st.one_of(_keyword("pattern", _short_pattern), _keyword("minLength", st.integers(0, 3))), 3
).flatmap(lambda schema: st.integers(0, 4).map(lambda most: {"type": "string", "maxLength": most, **schema}))

_decimals = st.decimals(-50, 50, places=2).map(float)
_steps = st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.3, 0.5, 1.5, 1, 2, 3, 5, 7, 10, 100])
number_parts = st.one_of(
    _keyword("minimum", _decimals),
    _keyword("maximum", _decimals),
    _keyword("exclusiveMinimum", _decimals),
    _keyword("exclusiveMaximum", _decimals),
    _keyword("multipleOf", _steps),
    _keyword("multipleOf", _steps),
)
numbers = st.builds(
    lambda kind, schema: {"type": kind, **schema}, st.sampled_from(["number", "integer"]), combined(number_parts)
)
bounded_numbers = st.builds(
    lambda kind, low, size, schema: {
        "type": kind,
        "minimum": low,
        "maximum": float(Decimal(repr(low)) + size),
        **schema,
    },
    st.sampled_from(["number", "integer"]),
    _decimals,
    st.integers(0, 4),
    combined(number_parts, 2),
)

_names = st.sampled_from(["a", "b", "ab", "a1", "x-a"])
_some_names = st.lists(_names, max_size=3, unique=True)
# Few values each, so that arrays and objects of them can all be tried.
small = st.sampled_from(
    [
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {"const": 1},
        {"type": "null"},
        {"type": "integer", "minimum": 0, "maximum": 3},
    ]
)
object_parts = st.one_of(
    _keyword("properties", st.dictionaries(_names, small, max_size=3)),
    _keyword("properties", st.dictionaries(_names, small, max_size=3)),
    _keyword("required", _some_names),
    _keyword("additionalProperties", st.just(False) | small),
    _keyword(
        "patternProperties",
        st.dictionaries(st.sampled_from(["^a", "b", "1$", "^[a-z]$", "^x-"]), small, min_size=1, max_size=2),
    ),
    _keyword(
        "propertyNames",
        st.sampled_from([{"enum": ["a", "ab", "b"]}, {"pattern": "^a"}, {"maxLength": 2}, {"minLength": 1}]),
    ),
    _keyword("dependentRequired", st.dictionaries(_names, _some_names, min_size=1, max_size=2)),
    _keyword("minProperties", st.integers(0, 3)),
    _keyword("maxProperties", st.integers(0, 3)),
)
objects = combined(object_parts).map(lambda schema: {"type": "object", **schema})
# All names are declared, as a grammar has no others.
declared_objects = combined(object_parts, 3).map(
    lambda schema: {
        "type": "object",
        **schema,
        "properties": {"a": {"enum": [1, "a"]}, "b": {"enum": [True, None]}, "ab": {"enum": [1, True]}},
    }
)

array_parts = st.one_of(
    _keyword("items", small),
    _keyword("prefixItems", st.lists(small, min_size=1, max_size=3)),
    _keyword("contains", small),
    _keyword("minContains", st.integers(0, 2)),
    _keyword("maxContains", st.integers(0, 2)),
    _keyword("uniqueItems", st.booleans()),
    _keyword("minItems", st.integers(0, 3)),
    _keyword("maxItems", st.integers(0, 3)),
)
arrays = combined(array_parts).map(lambda schema: {"type": "array", **schema})

_value = st.one_of(strings, numbers, objects, arrays)
nested = st.one_of(
    st.dictionaries(_names, _value, min_size=1, max_size=3).map(
        lambda properties: {
            "type": "object",
            # A reference leads from the root.
            "properties": {name: _inlined(schema) for name, schema in properties.items()},
            "required": list(properties),
        }
    ),
    _value.map(lambda schema: {"type": "array", "items": _inlined(schema), "maxItems": 3}),
)


def _inlined(schema: Schema) -> Schema:
    """Returns a schema without definitions: what it refers to is in its allOf."""
    if "$ref" not in schema:
        return schema
    (definition,) = schema["$defs"].values()
    rest = {key: value for key, value in schema.items() if key not in ("$ref", "$defs")}
    return rest | {"allOf": [*rest.get("allOf", ()), definition]}


COMBINATIONS = {
    "strings": strings,
    "listed strings": listed_strings,
    "numbers": numbers,
    "objects": objects,
    "arrays": arrays,
    "nested values": nested,
}


def _lists(items: tuple[Any, ...], most: int) -> list[Any]:
    return [list(elements) for count in range(most + 1) for elements in product(items, repeat=count)]


_ITEMS = (True, "a", 1, None)
_OBJECTS = [
    {name: value for name, value in zip(("a", "b", "ab"), values, strict=True) if value != "absent"}
    for values in product(("absent", 1, "a"), ("absent", True, None), ("absent", 1, True))
]

FINITE: dict[str, tuple[Schemas, list[Any]]] = {
    "strings": (short_strings, ["".join(letters) for letters in _lists(tuple(LETTERS), 4)]),
    "numbers": (bounded_numbers, [number / 20 for number in range(-1000, 1100)]),
    "objects": (declared_objects, _OBJECTS),
    "arrays": (arrays, _lists(_ITEMS, 3)),
}
"""Schemas, and values of which a grammar has to allow all that satisfy the schema."""
