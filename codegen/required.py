"""What must be there in one system: in requests by its demand, in answers because it always sends it."""

from collections.abc import Sequence

from specvino.codegen.fields import Field
from specvino.codegen.merge import Entry
from specvino.document.operations import Schema


def must_be_there(properties: dict[str, Schema], fields: Sequence[Field], entry: Entry, ours: bool) -> bool:
    """Tells whether the property that is these fields must be there, beside the other properties of its object.

    Where the system doesn't say it, a request must have what it must have in this project's document, and an answer,
    too, as far as it is known to be as described.
    """
    if "required" in entry:
        return holds(entry["required"], properties)
    known = entry["level"] == "full" or "schema" in entry
    return ours and (known or all(field.part == "request" for field in fields))


def holds(said: bool | list[str], properties: dict[str, Schema]) -> bool:
    """Tells whether what is said of a field, of all objects or of some kinds, is so in this one.

    `required: [user, tool]` names the branches of a union, by the value that tells them apart; a branch of several
    values is named by all of them.
    """
    if isinstance(said, bool):
        return said
    values = [[child["const"]] if "const" in child else child.get("enum", []) for child in properties.values()]
    return any(each and all(value in said for value in each) for each in values)
