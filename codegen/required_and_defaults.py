"""Required fields and defaults in one system: which must be there, and what an absent one counts as."""

from typing import Any

from specvino.codegen.fields import Field
from specvino.codegen.merge import WITHOUT, Entry, Said
from specvino.document.operations import Schema


def must_be_there(schema: Schema, said: Said, ours: bool) -> bool:
    """Tells whether the system demands the property of this object in requests, or always sends it in answers.

    A property that is several fields must be there only if each of them must.
    """
    return all(_must(schema, field, entry, ours) for field, entry in said)


def _must(schema: Schema, field: Field, entry: Entry, ours: bool) -> bool:
    """Where the system doesn't say it, a request must have what it must have in this project's document, and an answer,
    too, as far as it is known to be as described.

    `required: [user, tool]` names the branches of a union, by the value that tells them apart, in which it must.
    """
    if "required" in entry:
        return holds(entry["required"], schema["properties"])
    known = entry["level"] == "full" or (entry["level"] not in WITHOUT and "schema" in entry)
    return ours and (field.part == "request" or known)


def holds(said: bool | list[str], properties: dict[str, Schema]) -> bool:
    """Tells whether what is said of a field, of all objects or of some kinds, is so in this one."""
    if isinstance(said, bool):
        return said
    return any(child["const"] in said for child in properties.values() if "const" in child)


def set_default(schema: Schema, said: Said) -> None:
    """Gives a request's property the system's default, in place, if all the fields that it is have the same."""
    found: list[Any] = [entry.get("default") for field, entry in said if field.part == "request"]
    if found and found[0] is not None and all(each == found[0] for each in found):
        schema["default"] = found[0]
