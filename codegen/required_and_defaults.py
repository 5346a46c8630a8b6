"""Required fields and defaults of a request in one system: which must be there, and what an absent one counts as."""

from typing import Any

from specvino.codegen.merge import Entry, Said
from specvino.document.operations import Schema
from specvino.document.validator import Validators


def must_be_there(schema: Schema, said: Said, ours: bool) -> bool:
    """Tells whether the system wants the property of this object; as in this project's document where it says nothing,
    or several things.

    `required: [user, tool]` names the branches of a union, by the value that tells them apart, in which it wants it.
    """
    given = [entry.get("required") for _, entry in said]
    if any(each != given[0] for each in given) or given[0] is None:
        return ours
    if isinstance(given[0], bool):
        return given[0]
    return any(child.get("const") in given[0] for child in schema["properties"].values() if "const" in child)


def set_default(schema: Schema, said: Said, validators: Validators) -> None:
    """Gives a request's property the system's default, in place.

    Ours stays only where the system has the whole field, takes our default and says of no other.
    """
    found = [_default(schema, entry, validators) for field, entry in said if field.part == "request"]
    if not found:
        return
    schema.pop("default", None)
    if found[0] is not None and all(each == found[0] for each in found):
        schema["default"] = found[0]


def _default(schema: Schema, entry: Entry, validators: Validators) -> Any:
    """Returns the system's default; None is for none."""
    if "default" in entry:
        return entry["default"]
    ours = schema.get("default")
    return ours if entry["level"] == "full" and validators.of(entry.get("accepts", {})).fits(ours) else None
