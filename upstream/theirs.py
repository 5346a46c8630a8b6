"""What the classes of a system say."""

from specvino.document.pointers import referred
from specvino.upstream.checks import Checks
from specvino.upstream.classes import Classes, Reading
from specvino.upstream.constraints import bounded
from specvino.upstream.described import Described, Schema, Unreadable
from specvino.upstream.modules import Found, Sources
from specvino.upstream.table import Method, Table


def described(table: Table, sources: Sources) -> Described:
    """Returns the parts that a system's table names. Raises Unreadable where one isn't where the table says."""
    readers = {reading: Classes(sources, reading) for reading in Reading}
    parts = {part: readers[reading].named(place.file, place.name) for part, (place, reading) in table.classes.items()}
    document: Schema = {"$defs": {reading: readers[reading].schemas for reading in Reading}}
    for method in table.methods:
        bounds = _bounds(sources, method)
        for part, names in method.parts.items():
            parts[part] = _checked(referred(document, parts[part]["$ref"]), bounds, names)
    return Described(document, parts, tuple(sorted({name for each in readers.values() for name in each.unread})))


def _bounds(sources: Sources, method: Method) -> dict[str, Schema]:
    """Returns what a method says of each attribute. Raises Unreadable where there is no such method."""
    owner = method.owner
    found = sources.find(sources.at(owner.file), owner.name)
    if not isinstance(found, Found) or (bounds := Checks(sources).of_method(found, method.name)) is None:
        raise Unreadable(f"{owner.file} has no {owner.name}.{method.name}")
    return bounds


def _checked(schema: Schema, bounds: dict[str, Schema], names: dict[str, list[str]]) -> Schema:
    """Returns the schema of an object whose values go through a method: `names` are those of attributes in it."""
    properties = dict(schema["properties"])
    for attribute, bound in bounds.items():
        for name in names.get(attribute, [attribute]):
            if name in properties:
                # In null's place the method gets a default.
                properties[name] = bounded(properties[name], {"anyOf": [{"type": "null"}, bound]})
    return {**schema, "properties": properties}
