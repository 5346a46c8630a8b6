"""Which fields the sources of a system have, and where: by its description, `upstream/descriptions/SYSTEM.json`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import referred

_UNREAD = "x-unread"


def system_name(dialect: str) -> str:
    """Returns the system of a dialect, which may name a version: `vllm` for `vllm@0.29`."""
    return dialect.partition("@")[0]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a system's source, such as `120` or `120-124`; empty for a whole file. has_field: whether they have a
    field, rather than the fields of the object that lacks it, or the file."""

    file: str
    lines: str
    has_field: bool


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A schema without references and unions. owner: the name under which the places of its properties are listed."""

    schema: Schema
    owner: str

    @property
    def is_open(self) -> bool:
        """Whether its values aren't restricted, so that an object may have any property, and an array any elements."""
        schema = self.schema
        kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", ())
        if _UNREAD not in schema and ("properties" in schema or "items" in schema):
            return False
        return (
            _UNREAD in schema or "object" in kinds or "array" in kinds or not schema.keys() & {"type", "enum", "const"}
        )


@dataclass(slots=True)
class _Met:
    """The schemas at a path. is_open: whether a field around it allows any content; leaves: of its schemas, once
    known."""

    schemas: list[tuple[Schema, str]] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    is_open: bool = False
    leaves: list[_Leaf] | None = None


class SystemFields:
    """The fields of a system by its description: fields of classes, and names that its sources have in quotes.

    description: the content of a file of upstream/descriptions/, into which its references lead.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._compared: dict[str, Schema] = {} if description["is_partial"] else description["parts"]
        self._parts: dict[str, Schema] = {**description["parts"], **description["listed"]}
        self._is_partial: bool = description["is_partial"]
        self._unread: frozenset[str] = frozenset(description["unread"])
        self.document = description
        self._places: dict[str, dict[str, dict[str, str]]] = description["places"]
        self._files: dict[str, list[str]] = description["files"]
        self._quoted: dict[str, dict[str, str]] = description["quoted"]
        # The fields of an object share the way to it.
        self._met: dict[tuple[str, tuple[str, ...]], _Met] = {}

    def has(self, endpoint: str, part: str, path: str) -> bool | None:
        """Returns whether the sources have a field; None if they don't tell, such as of an object of any content."""
        name, last = f"{endpoint}.{part}", path.rpartition(".")[2].rstrip("[]")
        if name in self._parts:
            met = self._at(name, path)
            if met.schemas:
                return True
            if f"{name}: {last}" in self._unread:  # a name that a function reads in a form that isn't known
                return None
            if not (met.is_open or self._is_partial):
                return False
        if name in self._files:
            if last == "*":
                return None
            return None if any(last in self._quoted[file] for file in self._files[name]) else False
        return None

    def classes(self, endpoint: str, part: str, path: str) -> list[Schema] | None:
        """Returns the schemas of the objects whose property a field may be, of which a union has several; None for a
        part that isn't compared with the document, or only in part."""
        name = f"{endpoint}.{part}"
        if name not in self._compared:
            return None
        leaves = self._leaves_at(self._at(name, path.rpartition(".")[0]))
        return [leaf.schema for leaf in leaves if "properties" in leaf.schema]

    def places(self, endpoint: str, part: str, path: str) -> set[str]:
        """Returns where a field is defined, and the methods of the classes of its values. The path '' is the part."""
        name = f"{endpoint}.{part}"
        met = self._at(name, path) if name in self._parts else _Met()
        places = set(met.places)
        for schema, owner in met.schemas:
            for leaf in self._leaves(schema, owner):
                if leaf.owner != owner or not path:
                    for file, named in self._places.get(leaf.owner, {}).items():
                        places |= {f"{file}:{lines} {name}" for name, lines in named.items() if _is_method(name)}
        if places:
            return places
        last = path.rpartition(".")[2].rstrip("[]")
        files = self._files.get(name, ())
        return {f"{file}:{self._quoted[file][last]}" for file in files if last in self._quoted[file]}

    def lines(self, endpoint: str, part: str, path: str) -> Lines | None:
        """Returns the lines that show what the system does with a field: those that define it, else those with its
        name in quotes, else the fields of the nearest object around it; None if nothing of the part was read."""
        name, last = f"{endpoint}.{part}", path.rpartition(".")[2].rstrip("[]")
        is_read = name in self._parts
        own = sorted(self._at(name, path).places) if is_read else []
        files = self._files.get(name, ())
        own += [f"{file}:{self._quoted[file][last]}" for file in files if last in self._quoted[file]]
        if own:
            file, _, where = own[0].rpartition(" ")[0].rpartition(":")
            return Lines(file, where.partition(",")[0], True)
        while is_read and path:
            path = path.rpartition(".")[0]
            for leaf in self._leaves_at(self._at(name, path)):
                if "properties" in leaf.schema and (around := self._around(leaf.owner)):
                    return around
        return Lines(files[0], "", False) if files else None

    def _around(self, owner: str) -> Lines | None:
        """Returns the lines of an object's fields, in the file with most of them: others have those of base classes."""
        files = {
            file: [where for name, where in named.items() if not _is_method(name)]
            for file, named in self._places.get(owner, {}).items()
        }
        file, fields = max(files.items(), key=lambda item: len(item[1]), default=("", []))
        return Lines(file, _span(fields), False) if fields else None

    def _at(self, part: str, path: str) -> _Met:
        return self._after(part, tuple(_steps(path)))

    def _after(self, part: str, steps: tuple[str, ...]) -> _Met:
        if (part, steps) not in self._met:
            self._met[part, steps] = self._step(part, *steps) if steps else _Met([(self._parts[part], part)])
        return self._met[part, steps]

    def _step(self, part: str, *steps: str) -> _Met:
        *before, step = steps
        met = self._after(part, tuple(before))
        after = _Met(is_open=met.is_open)
        for leaf in self._leaves_at(met):
            if leaf.is_open:
                after.is_open = True
            elif step == "[]":
                if "items" in leaf.schema:
                    after.schemas.append((leaf.schema["items"], leaf.owner))
            elif step in leaf.schema.get("properties", {}):
                after.schemas.append((leaf.schema["properties"][step], leaf.owner))
                files = self._places.get(leaf.owner, {})
                after.places |= {f"{file}:{named[step]}" for file, named in files.items() if step in named}
        return after

    def _leaves_at(self, met: _Met) -> list[_Leaf]:
        if met.leaves is None:
            met.leaves = [leaf for schema, owner in met.schemas for leaf in self._leaves(schema, owner)]
        return met.leaves

    def _leaves(self, schema: Schema, owner: str, inside: frozenset[str] = frozenset()) -> Iterator[_Leaf]:
        if "$ref" in schema:
            reference = schema["$ref"]
            name = reference if reference in self._places else reference.removeprefix("#/$defs/")
            if name not in inside:
                yield from self._leaves(referred(self.document, reference), name, inside | {name})
            return
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        for branch in branches:
            yield from self._leaves(branch, owner, inside)
        if branches and _UNREAD in schema:  # of another type, which couldn't be read
            yield _Leaf({_UNREAD: schema[_UNREAD]}, owner)
        together = [leaf for branch in schema.get("allOf", ()) for leaf in self._leaves(branch, owner, inside)]
        # Of those that must all match, some only have bounds; one that couldn't be read may have any property.
        yield from [leaf for leaf in together if not leaf.is_open or _UNREAD in leaf.schema] or together
        if not branches and not together:
            yield _Leaf(schema, owner)


def _is_method(name: str) -> bool:
    return name.endswith("()")


def _span(places: Iterable[str]) -> str:
    """Returns the lines from the first of some places to the last."""
    numbers = [int(number) for where in places for number in re.findall(r"\d+", where.partition(" ")[0])]
    first, last = min(numbers), max(numbers)
    return f"{first}-{last}" if first < last else f"{first}"


def _steps(path: str) -> Iterator[str]:
    """Yields the names in a path, and `[]` for elements: `a`, `[]`, `b` of `a[].b`."""
    for segment in filter(None, path.split(".")):
        name = segment.rstrip("[]")
        yield name
        yield from ["[]"] * ((len(segment) - len(name)) // 2)
