"""Classes become JSON Schemas: what they require, what they add to those that they inherit from, how they are sent."""

import pytest
from support.python_sources import Read, package

from specvino.document.validator import Validator
from specvino.upstream.classes import Classes, Reading
from specvino.upstream.described import Unreadable
from specvino.upstream.modules import Sources


def test_a_model(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        class Request(BaseModel):
            model: str
            stop: list[str] = []
            seed: int | None = Field(None, ge=0)
            names: list[str] = Field(default_factory=list)
            needed: int = Field(..., le=3)
            _private: int = 3
            cache: ClassVar[int] = 0
        """,
    )
    assert read.schema("Request") == {
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "stop": {"type": "array", "items": {"type": "string"}, "default": []},
            "seed": {"anyOf": [{"type": "integer"}, {"type": "null"}], "minimum": 0, "default": None},
            "names": {"type": "array", "items": {"type": "string"}},
            "needed": {"type": "integer", "maximum": 3},
        },
        "required": ["model", "needed"],
    }


@pytest.mark.parametrize(
    "says", ['model_config = ConfigDict(extra="forbid")', 'model_config = {"extra": "forbid"}',
             'class Config:\n        extra = "forbid"']
)  # fmt: skip
def test_a_model_that_forbids_other_fields(tmp_path, says) -> None:
    read = Read(tmp_path, f"class Base(BaseModel):\n    {says}\nclass Request(Base):\n    model: str")
    assert read.schema("Request")["additionalProperties"] is False


def test_inheritance(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        class Base(BaseModel):
            model: str
            n: int
        class Mixin(BaseModel):
            seed: int = 0
        class Request(Mixin, Base):
            n: int = 1
        """,
    )
    found = read.schema("Request")
    assert found["properties"].keys() == {"model", "n", "seed"}
    assert found["required"] == ["model"]


def test_aliases(tmp_path) -> None:
    source = """
    class Format(BaseModel):
        schema_: dict = Field(alias="schema")
        kind: Annotated[int, Field(alias="type")] = 3
        taken: int = Field(validation_alias="in", serialization_alias="out")
    """
    assert [*Read(tmp_path, source).schema("Format")["properties"]] == ["schema", "type", "in"]
    assert [*Read(tmp_path, source, Reading.WRITTEN).schema("Format")["properties"]] == ["schema", "type", "out"]


ANSWER = """
class Answer(BaseModel):
    id: str
    object: Literal["chat"] = "chat"
    usage: int | None = None
    name: str = None
    hidden: str | None = Field(default=None, exclude=True)
    metrics: int | None = Field(default=None, exclude_if=lambda value: value is None)
"""


@pytest.mark.parametrize(
    ("reading", "required"),
    [
        (Reading.TAKEN, ["id"]),
        (Reading.WRITTEN, ["id", "object", "usage", "name"]),
        (Reading.WRITTEN_WHERE_SET, ["id"]),
    ],
)
def test_an_answer_has_what_has_a_default(tmp_path, reading, required) -> None:
    found = Read(tmp_path, ANSWER, reading).schema("Answer")
    assert found["required"] == required
    assert ("hidden" in found["properties"]) is (reading is Reading.TAKEN)


def test_an_answer_may_have_a_default_that_its_type_does_not_allow(tmp_path) -> None:
    for reading, taken in ((Reading.TAKEN, False), (Reading.WRITTEN, True)):
        judge = Validator(Read(tmp_path, ANSWER, reading).property("Answer", "name"))
        assert judge.fits("text")
        assert judge.fits(None) is taken


def test_typed_dicts(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        Reserved = TypedDict("Reserved", {"async": bool, "from": Required[str]}, total=False)
        class Params(Reserved, total=False):
            model: Required[str]
            tagged: Required[Annotated[int, Field(ge=0)]]
            n: int
        class Whole(TypedDict):
            model: str
            n: NotRequired[int]
        """,
    )
    assert [*read.schema("Params")["properties"]] == ["async", "from", "model", "tagged", "n"]
    assert read.schema("Params")["required"] == ["from", "model", "tagged"]
    assert read.schema("Whole")["required"] == ["model"]


def test_dataclasses_enums_and_root_models(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        @dataclass
        class Outputs:
            json: str | dict | None = None
            backend: str = field(default="auto", init=False)
            most: int = 0

            def __post_init__(self):
                if self.most < 0:
                    raise ValueError
        class Role(str, Enum):
            USER = "user"
            TOOL = "tool"
        class Bias(RootModel[dict[str, float]]):
            pass
        class Request(BaseModel):
            role: Role = Role.USER
        """,
    )
    assert [*read.schema("Outputs")["properties"]] == ["json", "most"]
    assert "not" in read.property("Outputs", "most")
    assert read.schema("Role") == {"enum": ["user", "tool"]}
    assert read.schema("Bias") == {"type": "object", "additionalProperties": {"type": "number"}}
    assert read.property("Request", "role")["default"] == "user"


def test_a_class_inside_itself(tmp_path) -> None:
    read = Read(tmp_path, "class Node(BaseModel):\n    children: list['Node'] = []")
    assert read.property("Node", "children")["items"] == {"$ref": "#/$defs/taken/server.protocol.Node"}


def test_validators(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        class Request(BaseModel):
            n: int = 1
            penalty: float | None = None

            @field_validator("penalty")
            @classmethod
            def check(cls, value):
                if value and (value < -2 or value > 2):
                    raise ValueError
                return value

            @model_validator(mode="after")
            def check_n(self):
                if self.n < 1:
                    raise ValueError
                return self
        """,
    )
    assert read.property("Request", "n")["not"] == {"type": "number", "exclusiveMaximum": 1}
    assert "not" in read.property("Request", "penalty")


def test_unions_have_names_too(tmp_path) -> None:
    read = Read(tmp_path, "class A(BaseModel): ...\nclass B(BaseModel): ...\nEvent = Union[A, B]")
    assert len(read.schema("Event")["anyOf"]) == 2


def test_a_class_that_is_not_there(tmp_path) -> None:
    read = Read(tmp_path, "")
    with pytest.raises(Unreadable, match=r"protocol\.py has no Request$"):
        read.schema("Request")


def test_classes_of_other_packages(tmp_path) -> None:
    protocol = """
    from pydantic import BaseModel
    from sdk.types import Item as SdkItem
    from .base import Base
    class Request(Base):
        items: list[SdkItem]
    """
    base = "from pydantic import BaseModel\nclass Base(BaseModel):\n    model: str"
    server = package(tmp_path, "server", {"protocol.py": protocol, "base.py": base})
    item = "from typing import TypedDict\nclass Item(TypedDict):\n    id: int"
    sdk = package(tmp_path, "sdk", {"types/__init__.py": "from .item import *", "types/item.py": item})
    classes = Classes(Sources({"server": server, "sdk": sdk}))
    classes.named("server/protocol.py", "Request")
    assert classes.schemas.keys() == {"server.protocol.Request", "sdk.types.item.Item"}
    assert classes.schemas["server.protocol.Request"]["required"] == ["model", "items"]
    assert not classes.unread


def test_a_base_that_cannot_be_read(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        from elsewhere import Mixin
        from typing import Generic
        class Request(BaseModel, Mixin, Generic[T]):
            model: str
        class Kind(str, Enum):
            ONE = "one"
        """,
    )
    assert read.schema("Request")["x-unread"] == "elsewhere.Mixin"
    assert read.schema("Kind") == {"enum": ["one"]}
    assert read.classes.unread == {"elsewhere.Mixin"}


def test_a_field_with_several_names(tmp_path) -> None:
    read = Read(
        tmp_path,
        """
        class Request(BaseModel):
            limit: int = Field(validation_alias=AliasChoices("limit", "most"))
            other: int = Field(validation_alias=AliasPath("a", 0))
        """,
    )
    schema = read.schema("Request")
    assert schema["properties"] == {name: {"type": "integer"} for name in ("limit", "most", "other")}
    assert schema["required"] == ["other"]
    assert read.classes.unread == {"the alias of other"}


BEFORE = """
class Request(BaseModel):
    model: str
    seed: int = Field(0, alias="number")
    @model_validator(mode="before")
    @classmethod
    def rename(cls, values):
        if values.get("old") and "older" in values:
            values["new"] = values["model"]
        values.pop("oldest", None)
        other.get("nothing")
        return values.get("number")
    @model_validator(mode="after")
    def check(self, data):
        data.get("never")
    @field_serializer("seed")
    def _sent(self, seed):
        return {"value": seed}
"""


def test_names_that_a_validator_reads_before_the_class(tmp_path) -> None:
    properties = Read(tmp_path, BEFORE).schema("Request")["properties"]
    assert properties.keys() == {"model", "number", "old", "older", "oldest"}
    assert properties["old"] == {"x-unread": "server.protocol.Request.rename"}
    assert properties["number"]["type"] == "integer"


def test_a_field_that_a_serializer_writes(tmp_path) -> None:
    read = Read(tmp_path, BEFORE, Reading.WRITTEN)
    properties = read.schema("Request")["properties"]
    assert properties == {"model": {"type": "string"}, "number": {"x-unread": "server.protocol.Request._sent"}}
    assert read.classes.unread == {"server.protocol.Request._sent"}
