"""The table that maps the classes of a system to the parts of its endpoints, `tables/SYSTEM.yaml`."""

import ast
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from specvino.document import yaml_text
from specvino.document.pointers import referred
from specvino.document.system_fields import system_name
from specvino.upstream.annotations import bounded
from specvino.upstream.checks import Checks
from specvino.upstream.classes import Classes, Reading
from specvino.upstream.cpp_members import Members
from specvino.upstream.described import Described, Part, Places, Schema, Unreadable
from specvino.upstream.field_table import fields
from specvino.upstream.go_structs import Structs
from specvino.upstream.modules import Definition, Sources
from specvino.upstream.places import of_node, quoted


@dataclass(frozen=True, slots=True)
class Class:
    """The location of a class or a named union: `FILE:NAME`."""

    file: str
    name: str

    @classmethod
    def at(cls, location: str) -> "Class":
        file, _, name = location.partition(":")
        return cls(file, name)


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a class that checks requests. parts: for each part of which it checks values, the names of attributes
    in the request, if they differ.
    """

    owner: Class
    name: str
    parts: dict[Part, dict[str, list[str]]]


@dataclass(frozen=True, slots=True)
class Table:
    """The sources of a system. package, distribution: the Python package, and its name on the index; None if it isn't
    there. version: the package's version, if it differs from the dialect's. beside: packages whose types the system
    uses, with their versions.
    """

    package: str
    distribution: str | None
    version: str | None
    beside: dict[str, str]
    classes: dict[Part, tuple[Class, Reading]]
    listed: dict[Part, tuple[Class, Reading]] = field(default_factory=dict)
    """Classes that aren't compared: only the names of their fields count."""
    inside: dict[Part, str] = field(default_factory=dict)
    """The member of the answer that the object of a listed class is, such as `error`."""
    methods: tuple[Method, ...] = ()
    files: dict[Part, tuple[str, ...]] = field(default_factory=dict)
    """The files that have all names of a part's fields in quotes, such as the keys of a dict."""

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(self.classes)


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The sources of a system in C++. file: the table of the fields of requests, if there is one. parts: those with
    these fields. files: the files that have all names of a part's fields in quotes.
    """

    file: str | None
    parts: tuple[Part, ...]
    files: dict[Part, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class StructTable:
    """The folders of a system's Go packages, by name, and the structs of parts, by package and name. listed: structs of
    parts that aren't compared. files: the files that have all names of a part's fields in quotes. maps: the structs
    that are built of fields which are maps of any values, by package, struct and field.
    """

    packages: dict[str, str]
    structs: dict[Part, str]
    listed: dict[Part, str]
    files: dict[Part, tuple[str, ...]]
    maps: dict[str, str]

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(self.structs)


@dataclass(frozen=True, slots=True)
class Function:
    """A function in C++ that reads a request, and the paths of its variables in the request's body."""

    file: str
    name: str
    variables: dict[str, str]


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """The functions of a system in C++ that read the requests of parts, in their order, and what the system calls the
    endpoint of a part."""

    functions: dict[Part, tuple[Function, ...]]
    endpoints: dict[Part, str]
    conditions: dict[str, bool]
    """The values of conditions that are the same for all requests that are read, by their text."""
    files: dict[Part, tuple[str, ...]]

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(self.functions)


def table(system: str) -> Table | FieldTable | StructTable | FunctionTable:
    """Returns the table of a system, or of an older version, which has its own if classes have moved since.

    Raises Unreadable, with the reason, if there is none.
    """
    folder = files("specvino.upstream") / "tables"
    path = folder / f"{system}.yaml"
    if not path.is_file():
        path = folder / f"{system_name(system)}.yaml"
    if not path.is_file():
        raise Unreadable(f"the classes of {system} are unknown: there is no upstream/tables/{system}.yaml")
    content: dict[str, Any] = yaml_text.load(path.read_text("utf-8"))
    if "unreadable" in content:
        raise Unreadable(content["unreadable"])
    names = {_part(name): tuple(named) for name, named in content.get("quoted", {}).items()}
    if "go_packages" in content:
        structs, listed = (
            {_part(name): struct for name, struct in content.get(key, {}).items()} for key in ("parts", "listed")
        )
        return StructTable(content["go_packages"], structs, listed, names, content.get("go_maps", {}))
    if "cpp_endpoints" in content:
        return FunctionTable(
            {_part(name): tuple(map(_function, entry)) for name, entry in content["parts"].items()},
            {_part(name): endpoint for name, endpoint in content["cpp_endpoints"].items()},
            content.get("cpp_conditions", {}),
            names,
        )
    if "package" not in content:
        return FieldTable(content.get("field_table"), tuple(map(_part, content.get("parts", ()))), names)
    return Table(
        package=content["package"],
        distribution=content.get("distribution", content["package"]),
        version=content.get("version"),
        beside=content.get("beside", {}),
        classes={_part(name): _class(_part(name), entry) for name, entry in content["parts"].items()},
        listed={_part(name): _class(_part(name), entry) for name, entry in content.get("listed", {}).items()},
        inside={
            _part(name): entry["inside"]
            for name, entry in content.get("listed", {}).items()
            if isinstance(entry, dict) and "inside" in entry
        },
        methods=tuple(_method(check["method"], check["parts"]) for check in content.get("checks", ())),
        files=names,
    )


def _part(name: str) -> Part:
    endpoint, _, part = name.partition(".")
    return endpoint, part


def _function(entry: str | dict[str, dict[str, str]]) -> Function:
    named, variables = (entry, {}) if isinstance(entry, str) else next(iter(entry.items()))
    file, _, name = named.partition(":")
    return Function(file, name, variables or {"doc": "", "parsedJson": ""})


def _class(part: Part, entry: str | dict[str, str]) -> tuple[Class, Reading]:
    if isinstance(entry, str):
        return Class.at(entry), Reading.TAKEN if part[1] == "request" else Reading.WRITTEN
    return Class.at(entry["class"]), Reading(entry["reading"])


def _method(qualified: str, parts: dict[str, dict[str, str | list[str]]]) -> Method:
    owner, _, name = qualified.rpartition(".")
    names = {
        _part(part): {attribute: [names] if isinstance(names, str) else names for attribute, names in named.items()}
        for part, named in parts.items()
    }
    return Method(Class.at(owner), name, names)


def of_classes(table: Table, sources: Sources) -> Described:
    """Returns the parts that a system's table names. Raises Unreadable if one doesn't exist."""
    readers = {reading: Classes(sources, reading) for reading in Reading}
    parts = {
        part: readers[reading].named(location.file, location.name)
        for part, (location, reading) in table.classes.items()
    }
    listed = {
        part: readers[reading].named(location.file, location.name) for part, (location, reading) in table.listed.items()
    }
    for part, member in table.inside.items():
        listed[part] = {"type": "object", "properties": {member: listed[part]}, "required": [member]}
    document: Schema = {"$defs": {reading: readers[reading].schemas for reading in Reading}}
    # Those in other packages don't change with the system's version.
    places: dict[str, Places] = {
        pointer: {file: named for file, named in by_file.items() if file.startswith(f"{table.package}/")}
        for reader in readers.values()
        for pointer, by_file in reader.places.items()
    }
    for method in table.methods:
        bounds, lines = _bounds(sources, method)
        for part, names in method.parts.items():
            of_part = places.setdefault(".".join(part), dict(places.get(parts[part].get("$ref", ""), {})))
            checked = of_part.get(method.owner.file, {}) | {f"{method.owner.name}.{method.name}()": lines}
            of_part[method.owner.file] = checked
            parts[part] = _checked(referred(document, parts[part]["$ref"]), bounds, names)
    return Described(
        document,
        parts,
        tuple(sorted({name for reader in readers.values() for name in reader.unread})),
        listed=listed,
        places=places,
    )


def of_fields(entry: FieldTable, source: Path) -> Described:
    """Returns the parts that have the fields of a table in C++. Raises Unreadable if the file has none."""
    parts: dict[Part, Schema] = {}
    if entry.file is not None:
        try:
            text = (source / entry.file).read_text("utf-8")
        except OSError as error:
            raise Unreadable(f"{source / entry.file} can't be read: {error}") from None
        parts = dict.fromkeys(entry.parts, fields(text))
    return Described({}, parts, is_partial=True)


def of_functions(entry: FunctionTable, source: Path) -> Described:
    """Returns the parts as functions in C++ read them. Raises Unreadable if one doesn't exist."""
    texts: dict[str, str] = {}
    for file in {function.file for functions in entry.functions.values() for function in functions}:
        try:
            texts[file] = (source / file).read_text("utf-8")
        except OSError as error:
            raise Unreadable(f"{source / file} can't be read: {error}") from None
    parts, unread = {}, set()
    for part, functions in entry.functions.items():
        members = Members(texts, entry.endpoints.get(part, ""), entry.conditions)
        for function in functions:
            members.read(function.file, function.name, function.variables)
        parts[part] = members.schema()
        unread |= {f"{'.'.join(part)}: {name}" for name in members.unread}
        unread |= {f"{'.'.join(part)}: {name}, under a condition" for name in members.conditional}
    return Described({}, parts, tuple(sorted(unread)))


def of_structs(entry: StructTable, source: Path) -> Described:
    """Returns the parts that are Go structs. Raises Unreadable if one doesn't exist."""
    structs = Structs(source, entry.packages, entry.maps)
    parts = {part: structs.named(name) for part, name in entry.structs.items()}
    listed = {part: structs.named(name) for part, name in entry.listed.items()}
    document: Schema = {"$defs": {"taken": structs.schemas}}
    return Described(document, parts, tuple(sorted(structs.unread)), listed=listed, places=structs.places)


def with_quoted(described: Described, files: dict[Part, tuple[str, ...]], folder: Path) -> Described:
    """Adds the quoted names of files below a folder. Raises Unreadable if there is no such file."""
    every = dict.fromkeys(file for named in files.values() for file in named)
    return replace(described, files=files, quoted=quoted(folder, every))


def of_sources(entry: FieldTable | StructTable | FunctionTable, source: Path) -> Described:
    """Returns the parts of a system that isn't written in Python, from a folder with its sources. Raises Unreadable."""
    if isinstance(entry, FieldTable):
        return of_fields(entry, source)
    return of_structs(entry, source) if isinstance(entry, StructTable) else of_functions(entry, source)


def _bounds(sources: Sources, method: Method) -> tuple[dict[str, Schema], str]:
    """Returns the bounds that a method sets for each attribute, and its lines. Raises Unreadable if there is no such
    method."""
    owner = method.owner
    definition = sources.find(sources.at(owner.file), owner.name)
    if not isinstance(definition, Definition) or (bounds := Checks(sources).of_method(definition, method.name)) is None:
        raise Unreadable(f"{owner.file} has no {owner.name}.{method.name}")
    assert isinstance(definition.node, ast.ClassDef)
    (node,) = (node for node in definition.node.body if isinstance(node, ast.FunctionDef) and node.name == method.name)
    return bounds, of_node(definition.module, node)


def _checked(schema: Schema, bounds: dict[str, Schema], names: dict[str, list[str]]) -> Schema:
    """Returns the schema of an object whose values pass through a method. `names` maps the method's attributes to
    fields."""
    properties = dict(schema["properties"])
    for attribute, bound in bounds.items():
        for name in names.get(attribute, [attribute]):
            if name in properties:
                # The method receives a default instead of null.
                properties[name] = bounded(properties[name], {"anyOf": [{"type": "null"}, bound]})
    return {**schema, "properties": properties}
