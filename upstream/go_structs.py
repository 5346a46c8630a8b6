"""Reads Go structs with JSON tags, as `encoding/json` reads requests. It isn't a parser of Go, but of how these structs
are written: a field per line, and structs within structs by indentation.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from specvino.upstream.annotations import UNREAD
from specvino.upstream.described import Places, Schema, Unreadable
from specvino.upstream.places import digest

_COMMENT = re.compile(r"[ \t]*//[^\n]*")
_STRUCT = re.compile(r"^type (\w+) struct ?\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_TAG = r'`json:"([^"]+)"`'
_INNER = re.compile(rf"^(\s+)(\w+)\s+((?:\[\])?)struct \{{\n(.*?)^\1\}} {_TAG}$", re.DOTALL | re.MULTILINE)
# Without a type, the field is an embedded type under a name of its own: Tools `json:"tools"`.
_FIELD = re.compile(rf"^\s+\*?([\w.]+)[ \t]+(?:([^\s`][^`\n]*?)[ \t]+)?{_TAG}", re.MULTILINE)
# A struct whose fields are those of this one, too.
_EMBEDDED = re.compile(r"^\s+\*?([A-Za-z][\w.]*)$", re.MULTILINE)
_ALIAS = re.compile(r"^type (\w+) (\[\][\w.]+|string)$", re.MULTILINE)
# With its body, unless it is on the same line.
_OWN_READING = re.compile(r"^func \(\w* ?\*?(\w+)\) UnmarshalJSON\([^\n]*?(?:\{\n(.*?)^\}|$)", re.DOTALL | re.MULTILINE)

_INT64: Schema = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
_PLAIN: dict[str, Schema] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": _INT64,
    "int64": _INT64,
    "float32": {"type": "number"},
    "float64": {"type": "number"},
    "any": {},
    "json.RawMessage": {},
    "[]byte": {"type": "string"},
}
# What a value of type any is as a number, whose fraction is then cut off.
_ROUNDED = {kind: {"type": "number"} for kind in ("int", "int64")}
_NULL: Schema = {"type": "null"}


class Structs:
    """A reader of the structs of packages, which are folders below `source` by name. Each field may be absent or null,
    which leaves Go's zero value. Types with a method of their own for reading JSON are unrestricted, as are those of
    other packages, unless the method reads a type with the same fields.

    `maps` has the structs that are built of fields which are maps of any values, such as `api.ChatRequest.options`:
    there an integer is any number, and null is no text of a list.
    """

    def __init__(self, source: Path, packages: Mapping[str, str], maps: Mapping[str, str] | None = None) -> None:
        self._maps = dict(maps or {})
        self._fields: dict[str, list[tuple[str, str]]] = {}
        self._embedded: dict[str, list[str]] = {}
        self._aliases: dict[str, str] = {}
        self._structs: dict[str, tuple[str, int, list[str]]] = {}
        own: set[str] = set()
        for package, folder in packages.items():
            for file in sorted((source / folder).glob("*.go")):
                text = _COMMENT.sub("", file.read_text("utf-8"))
                own |= {
                    f"{package}.{name}"
                    for name, body in _OWN_READING.findall(text)
                    if not re.search(rf"^\s+type \w+ {name}$", body, re.MULTILINE)
                }
                for struct in _STRUCT.finditer(text):
                    self._add(package, struct[1], struct[2])
                    first = text.count("\n", 0, struct.start(2)) + 1
                    self._structs[f"{package}.{struct[1]}"] = (f"{folder}/{file.name}", first, struct[2].splitlines())
                self._aliases |= {f"{package}.{name}": kind for name, kind in _ALIAS.findall(text)}
        for name in own:
            self._fields.pop(name, None)
            self._aliases.pop(name, None)
        self._mapped = {part for name in self._maps.values() for part in (name, *self._embedded.get(name, ()))}
        self.schemas: dict[str, Schema] = {}
        """The schemas of the structs that were read, by package and name."""
        self.places: dict[str, Places] = {}
        """The source lines of the fields of these structs, by reference."""
        self.unread: set[str] = set()

    def _add(self, package: str, name: str, body: str) -> None:
        def inner(match: re.Match[str]) -> str:
            self._add(package, f"{name}{match[2]}", match[4])
            return f'\t{match[2]} {match[3]}{name}{match[2]} `json:"{match[5]}"`'

        fields = _INNER.sub(inner, body)
        self._fields[f"{package}.{name}"] = [(kind or field, tag) for field, kind, tag in _FIELD.findall(fields)]
        self._embedded[f"{package}.{name}"] = [
            kind if "." in kind else f"{package}.{kind}" for kind in _EMBEDDED.findall(fields)
        ]

    def named(self, name: str) -> Schema:
        """Returns a reference to the schema of a struct, such as `openai.Usage`. Raises Unreadable if there is none."""
        if name not in self._fields:
            raise Unreadable(f"there is no struct {name}")
        if name not in self.schemas:
            properties: dict[str, Schema] = {}
            self.schemas[name] = {"type": "object", "properties": properties}  # it may be inside itself
            places = self._places(name)
            for other in self._embedded[name]:
                if other not in self._fields:
                    self.unread.add(other)
                    self.schemas[name][UNREAD] = other
                    continue
                reference = self.named(other)["$ref"]
                properties |= self.schemas[other]["properties"]
                for file, named in self.places[reference].items():
                    places[file] = {**named, **places.get(file, {})}
            for kind, tag in self._fields[name]:
                if tag != "-":  # which isn't read
                    key = tag.partition(",")[0]
                    properties[key] = self._field(name, key, kind)
            self.places[f"#/$defs/taken/{name}"] = places
        return {"$ref": f"#/$defs/taken/{name}"}

    def _places(self, name: str) -> Places:
        if name not in self._structs:  # a struct within a struct
            return {}
        file, first, lines = self._structs[name]
        result: dict[str, str] = {}
        for number, line in enumerate(lines, first):
            if tag := re.search(_TAG, line):
                result.setdefault(tag[1].partition(",")[0], f"{number} {digest([line])}")
        return {file: result}

    def _field(self, struct: str, name: str, kind: str) -> Schema:
        if built := self._maps.get(f"{struct}.{name}"):
            return {"anyOf": [self.named(built), _NULL]}
        package = struct.partition(".")[0]
        if struct not in self._mapped:
            return self._value(package, kind)
        kind = kind.removeprefix("*")
        if kind.startswith("[]"):
            return {"anyOf": [{"type": "array", "items": self._type(package, kind[2:])}, _NULL]}
        return {"anyOf": [_ROUNDED.get(kind) or self._type(package, kind), _NULL]}

    def _value(self, package: str, kind: str) -> Schema:
        schema = self._type(package, kind.removeprefix("*"))
        return {"anyOf": [schema, _NULL]} if schema and UNREAD not in schema else schema

    def _type(self, package: str, kind: str) -> Schema:
        if kind in _PLAIN:
            return _PLAIN[kind]
        if kind.startswith("[]"):
            return {"type": "array", "items": self._value(package, kind[2:])}
        if kind.startswith("map[string]"):
            return {"type": "object", "additionalProperties": self._value(package, kind.removeprefix("map[string]"))}
        name = kind if "." in kind else f"{package}.{kind}"
        if name in self._fields:
            return self.named(name)
        if name in self._aliases:
            return self._type(name.partition(".")[0], self._aliases[name])
        self.unread.add(name)
        return {UNREAD: name}
