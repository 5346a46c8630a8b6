"""Writes what libraries for Python make of two dozen types, one JSON file each, beside this file:
`pip install pydantic[email] msgspec attrs && python generate.py`.

attrs and cattrs write no JSON Schema themselves; msgspec writes that of attrs' classes.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from importlib.metadata import version
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal, Union
from uuid import UUID

import attrs
import msgspec
import pydantic

LOCALE = "^[a-z]{2}-[A-Z]{2}$"


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Card(pydantic.BaseModel):
    kind: Literal["card"]
    number: Annotated[str, pydantic.Field(pattern=r"^\d{16}$")]


class Transfer(pydantic.BaseModel):
    kind: Literal["transfer"]
    iban: Annotated[str, pydantic.Field(min_length=15, max_length=34)]


class Address(pydantic.BaseModel):
    city: str
    zip: Annotated[str, pydantic.Field(pattern=r"^\d{5}$")]


class Person(pydantic.BaseModel):
    address: Address | None


class Tree(pydantic.BaseModel):
    name: str
    children: list["Tree"]


@pydantic.dataclasses.dataclass
class Point:
    x: Annotated[float, pydantic.Field(ge=-180, le=180)]
    y: Annotated[float, pydantic.Field(gt=-90, lt=90)]


def limited(of: Any, **limits: Any) -> Any:
    return Annotated[of, pydantic.Field(**limits)]


PYDANTIC: dict[str, Any] = {
    "date": date,
    "time": time,
    "date_time": datetime,
    "future": pydantic.AwareDatetime,
    "duration": timedelta,
    "uuid": UUID,
    "uuid_v4": pydantic.UUID4,
    "email": pydantic.EmailStr,
    "email_bounded": Annotated[pydantic.EmailStr, pydantic.Field(max_length=60)],
    "name_and_email": pydantic.NameEmail,
    "url": pydantic.AnyUrl,
    "url_bounded": pydantic.HttpUrl,
    "postgres": pydantic.PostgresDsn,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "ip": pydantic.IPvAnyAddress,
    "decimal": limited(Decimal, max_digits=6, decimal_places=2),
    "decimal_bounded": limited(Decimal, ge=0, le=100, decimal_places=2),
    "percentage": limited(float, ge=0, le=100, multiple_of=0.01),
    "integer": limited(int, ge=0, multiple_of=5),
    "slug": limited(str, pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", min_length=3, max_length=40),
    "phone": limited(str, pattern=r"^\+[1-9]\d{1,14}$"),
    "base64": pydantic.Base64Str,
    "bytes": limited(bytes, max_length=64),
    "json": pydantic.Json[list[int]],
    "path": Path,
    "byte_size": pydantic.ByteSize,
    "enum_record": dict[Size, int],
    "map_by_pattern": dict[Annotated[str, pydantic.Field(pattern=LOCALE)], str],
    "integer_keys": dict[int, str],
    "properties": limited(dict[str, int], min_length=1, max_length=3),
    "set_of_enums": limited(set[Size], min_length=1),
    "set_of_texts": limited(set[str], max_length=3),
    "tuple": tuple[str, int, bool],
    "discriminated_union": Annotated[Card | Transfer, pydantic.Field(discriminator="kind")],
    "nullable_object": Person,
    "tree": Tree,
    "dataclass": Point,
    "literal": Literal["yes"],
    "literals": Literal["yes", "no", 1, None],
}


class CardStruct(msgspec.Struct, tag="card", tag_field="kind"):
    number: Annotated[str, msgspec.Meta(pattern=r"^\d{16}$")]


class TransferStruct(msgspec.Struct, tag="transfer", tag_field="kind"):
    iban: Annotated[str, msgspec.Meta(min_length=15, max_length=34)]


class AddressStruct(msgspec.Struct, forbid_unknown_fields=True):
    city: str
    zip: Annotated[str, msgspec.Meta(pattern=r"^\d{5}$")]


class PersonStruct(msgspec.Struct):
    address: AddressStruct | None


class TreeStruct(msgspec.Struct):
    name: str
    children: list["TreeStruct"]


class Pair(msgspec.Struct, array_like=True):
    name: str
    count: int = 0


def meta(of: Any, **limits: Any) -> Any:
    return Annotated[of, msgspec.Meta(**limits)]


MSGSPEC: dict[str, Any] = {
    "date": date,
    "time": time,
    "date_time": datetime,
    "aware_date_time": meta(datetime, tz=True),
    "duration": timedelta,
    "uuid": UUID,
    "decimal": Decimal,
    "percentage": meta(float, ge=0, le=100, multiple_of=0.01),
    "integer": meta(int, ge=0, multiple_of=5),
    "slug": meta(str, pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", min_length=3, max_length=40),
    "phone": meta(str, pattern=r"^\+[1-9]\d{1,14}$"),
    "base64": meta(bytes, max_length=48),
    "enum_record": dict[Size, int],
    "map_by_pattern": dict[Annotated[str, msgspec.Meta(pattern=LOCALE)], str],
    "properties": meta(dict[str, int], min_length=1, max_length=3),
    "set_of_enums": meta(set[Size], min_length=1),
    "tuple": tuple[str, int, bool],
    "array_like": Pair,
    "discriminated_union": Union[CardStruct, TransferStruct],  # noqa: UP007 - a union of classes that are defined here
    "nullable_object": PersonStruct,
    "tree": TreeStruct,
    "literal": Literal["yes"],
}


@attrs.define
class AttrsAddress:
    city: str
    zip: Annotated[str, msgspec.Meta(pattern=r"^\d{5}$")]


@attrs.define
class Order:
    id: UUID
    on: date
    size: Size
    address: AttrsAddress | None
    tags: set[Size] = attrs.field(factory=set)
    price: Annotated[float, msgspec.Meta(ge=0, multiple_of=0.01)] = 0.0
    where: dict[Size, int] = attrs.field(factory=dict)
    pair: tuple[str, int] | None = None


@attrs.define
class Folder:
    name: Annotated[str, msgspec.Meta(pattern="^[^/]+$", max_length=40)]
    folders: list["Folder"]


ATTRS = {"order": Order, "tree": Folder, "nullable_object": AttrsAddress | None}


@dataclass(frozen=True)
class Library:
    tool: str
    types: Mapping[str, Any]
    schema_of: Callable[[Any], Any]


LIBRARIES = {
    "pydantic": Library(
        f"pydantic {version('pydantic')}, TypeAdapter.json_schema",
        PYDANTIC,
        lambda of: pydantic.TypeAdapter(of).json_schema(),
    ),
    "msgspec": Library(f"msgspec {version('msgspec')}, msgspec.json.schema", MSGSPEC, msgspec.json.schema),
    "attrs": Library(
        f"msgspec {version('msgspec')}, msgspec.json.schema of classes of attrs {version('attrs')}",
        ATTRS,
        msgspec.json.schema,
    ),
}


def main() -> None:
    for name, library in LIBRARIES.items():
        schemas = {}
        for kind, of in library.types.items():
            try:
                schemas[kind] = library.schema_of(of)
            except Exception as error:  # what a library can't write it doesn't have
                print(name, kind, error)
        file = Path(__file__).with_name(f"{name}.json")
        file.write_text(json.dumps({"tool": library.tool, "schemas": schemas}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
