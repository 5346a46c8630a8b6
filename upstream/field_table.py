"""Reads llama.cpp's table of the fields of a request: C++ that adds a `field_num`, `field_bool`, `field_str`,
`field_json` or `field_nested` for each name. It isn't a parser of C++, but of this regularity.
"""

import re
from typing import Any

from specvino.upstream.annotations import UNREAD
from specvino.upstream.described import Schema, Unreadable

_NOT_COMPILED = re.compile(r"//[^\n]*|^#if 0$.*?^#endif$", re.DOTALL | re.MULTILINE)
_STRING = r'"([^"\\]*)"'
_ENTRY = re.compile(rf"\badd\(\(new field_(\w+)\({_STRING}")
_ALIAS = re.compile(rf"->add_alias\({_STRING}\)")
_LIMITS = re.compile(r"->set_hard_limits\(((?:[^()]|\(\))*)\)")

# nlohmann's JSON converts booleans to numbers other than its own int64_t, and server-schema.cpp treats null as absent.
_TYPES: dict[str, Schema] = {
    "num": {"type": ["number", "boolean", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "str": {"type": ["string", "null"]},
}

_CONSTANTS = {
    "INT32_MAX": 2**31 - 1,
    "std::numeric_limits<int64_t>::max()": 2**63 - 1,
}


def fields(text: str) -> Schema:
    """Returns the schema of an object with the table's fields. Those with a function of their own are unrestricted.

    Raises Unreadable if there is no table.
    """
    text = _NOT_COMPILED.sub("", text)
    entries = list(_ENTRY.finditer(text))
    if not entries:
        raise Unreadable("there is no table of fields")
    properties: dict[str, Schema] = {}
    ends = [*(entry.start() for entry in entries[1:]), len(text)]
    for entry, end in zip(entries, ends, strict=True):
        rest = text[entry.end() : end]
        schema = _schema(entry[1], rest)
        for name in (entry[2], *_ALIAS.findall(rest)):
            properties[name] = schema
    return {"type": "object", "properties": properties}


def _schema(kind: str, rest: str) -> Schema:
    if kind not in _TYPES or (kind != "str" and "->set_handler(" in rest):
        return {UNREAD: f"field_{kind}"}
    schema: dict[str, Any] = dict(_TYPES[kind])
    if limits := _LIMITS.search(rest):
        bounds = zip(("minimum", "maximum"), limits[1].split(", "), strict=True)
        schema |= {bound: value for bound, text in bounds if (value := _number(text)) is not None}
        if "int64_t" in limits[1]:
            schema["type"] = ["number", "null"]
        elif excluded := [flag for flag in (False, True) if not _is_within(int(flag), schema)]:
            schema["not"] = {"enum": excluded}
    return schema


def _is_within(value: int, schema: Schema) -> bool:
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _number(text: str) -> float | int | None:
    """Returns a limit; None if it isn't a constant."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if match := re.fullmatch(r"(-?\d+)(?:\.(\d+)f?)?", text):
        return int(match[1]) if match[2] is None else float(f"{match[1]}.{match[2]}")
    return None
