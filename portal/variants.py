"""A field in the branches of a union: equal statements are merged."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from specvino.document.operations import Schema
from specvino.document.pointers import component_name
from specvino.document.unions import values

# How many of the objects that have the same field are named.
NAMED = 6


@dataclass(frozen=True, slots=True)
class Owner:
    """A component that has the field, with the property as written there."""

    component: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Variant:
    """The components that describe a field alike, with a property that has the values of all of them."""

    components: list[str]
    schema: Schema

    @property
    def named(self) -> str:
        more = f" and {len(self.components) - NAMED} more" if len(self.components) > NAMED else ""
        return ", ".join(self.components[:NAMED]) + more


def owners(schemas: Mapping[str, Schema]) -> dict[str, list[Owner]]:
    """Returns the owners of each field by its name in x-support; several where union branches share it."""
    result: dict[str, list[Owner]] = {}
    for component, schema in schemas.items():
        for child in schema.get("properties", {}).values():
            for name in child.get("x-support", {}):
                result.setdefault(name, []).append(Owner(component, child))
    return result


def variants(several: Iterable[Owner], shown: Callable[[Schema], Hashable]) -> list[Variant]:
    """Returns the owners grouped by `shown`, a function of the property without its values."""
    groups: dict[Hashable, list[Owner]] = {}
    for owner in several:
        listed = values(owner.schema) or []
        bare = {key: value for key, value in owner.schema.items() if key not in ("const", "enum")}
        groups.setdefault((bool(listed), shown(bare)), []).append(owner)
    return [Variant([owner.component for owner in group], _joined(group)) for group in groups.values()]


def _joined(group: list[Owner]) -> Schema:
    first = group[0].schema
    listed = list(dict.fromkeys(value for owner in group for value in values(owner.schema) or ()))
    if listed == (values(first) or []):
        return first
    return {key: value for key, value in first.items() if key != "const"} | {"enum": listed}


def remarks(schema: Schema, schemas: Mapping[str, Schema]) -> list[str]:
    """Returns the implementation notes of a property and of the components that it refers to."""
    own = [schema["x-implementation-note"]] if "x-implementation-note" in schema else []
    return own + (remarks(schemas[component_name(schema["$ref"])], schemas) if "$ref" in schema else [])
