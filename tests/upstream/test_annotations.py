"""Annotations become the JSON Schemas of the values that they allow."""

import json

import pytest
from support.python_sources import Read

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("str", STRING),
        ("float", {"type": "number"}),
        ("bytes", STRING),
        ("Any", {}),
        ("Optional[int]", {"anyOf": [INTEGER, NULL]}),
        ("int | None", {"anyOf": [INTEGER, NULL]}),
        ("Union[str, int, None]", {"anyOf": [STRING, INTEGER, NULL]}),
        ("str | (int | None) | str", {"anyOf": [STRING, INTEGER, NULL]}),
        ("'int | None'", {"anyOf": [INTEGER, NULL]}),
        ("list", {"type": "array"}),
        ("List[int]", {"type": "array", "items": INTEGER}),
        ("list[list[int]]", {"type": "array", "items": {"type": "array", "items": INTEGER}}),
        ("tuple[int, ...]", {"type": "array", "items": INTEGER}),
        ("tuple[int, str]", {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2}),
        ("dict", {"type": "object"}),
        ("Dict[str, int]", {"type": "object", "additionalProperties": INTEGER}),
        ("Literal['a', 'b', None]", {"enum": ["a", "b", None]}),
        ("Literal['a'] | Literal['b']", {"anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]}),
        ("Literal[MODES, 'c']", {"enum": ["a", "b", "c"]}),
        ("Literal[LIMIT]", {"enum": [7]}),
        ("Annotated[int, Field(ge=0, lt=2**3)]", {"type": "integer", "minimum": 0, "exclusiveMaximum": 8}),
        ("Annotated[int, Field(le=LIMIT)] | None", {"anyOf": [{"type": "integer", "maximum": 7}, NULL]}),
        ("Annotated[str, StringConstraints(pattern='^a')]", {"type": "string", "pattern": "^a"}),
        ("constr(pattern='^a')", {"type": "string", "pattern": "^a"}),
        ("Annotated[int, BeforeValidator(lambda v: v or 0, json_schema_input_type=int | None)]",
         {"anyOf": [INTEGER, NULL]}),
        ("Annotated[int, BeforeValidator(not_three)]", {"type": "integer", "not": {"const": 3}}),
        ("Elsewhere", {"x-unread": "Elsewhere"}),
        ("Elsewhere | int", {"anyOf": [INTEGER], "x-unread": "Elsewhere"}),
        ("Elsewhere | None", {"anyOf": [{"x-unread": "Elsewhere"}, NULL]}),
    ],
)  # fmt: skip
def test_an_annotation(tmp_path, annotation, schema) -> None:
    read = Read(
        tmp_path,
        f"""
        LIMIT = 7
        MODES = Literal["a", "b"]

        def not_three(value):
            if value == 3:
                raise ValueError
            return value

        class Request(BaseModel):
            field: {annotation}
        """,
    )
    assert read.property("Request", "field") == schema


def test_sizes_are_those_of_any_type(tmp_path) -> None:
    read = Read(tmp_path, "class A(BaseModel):\n    field: str | list[str] = Field(max_length=3)")
    found = read.property("A", "field")
    assert (found["maxLength"], found["maxItems"]) == (3, 3)


def test_bounds_beside_bounds_hold_both(tmp_path) -> None:
    read = Read(tmp_path, "class A(BaseModel):\n    field: Annotated[int, Field(ge=0)] = Field(ge=3)")
    assert read.property("A", "field") == {"allOf": [{"type": "integer", "minimum": 0}, {"minimum": 3}]}


def test_a_bound_that_only_a_run_knows_is_passed_over(tmp_path) -> None:
    read = Read(tmp_path, "class A(BaseModel):\n    field: int = Field(ge=0, le=compute())")
    assert read.property("A", "field") == {"type": "integer", "minimum": 0}


def test_names_of_types(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        from typing import TypeAlias, TypeVar
        T = TypeVar("T", bound="A")
        Stop: TypeAlias = str | list[str] | None
        class A(BaseModel):
            stop: Stop
            inner: T
        """,
    )
    found = read.schema("A")["properties"]
    assert json.dumps(found["stop"]).count("string") == 2
    assert found["inner"] == {"$ref": "#/$defs/taken/server.protocol.A"}


def test_what_is_unread_is_named(tmp_path) -> None:
    read = Read(tmp_path, "from PIL import Image\nclass A(BaseModel):\n    image: Image.Image | None")
    assert read.property("A", "image")["anyOf"] == [{"x-unread": "PIL.Image.Image"}, NULL]
    assert read.classes.unread == {"PIL.Image.Image"}
