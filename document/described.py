"""The part of a value that a schema describes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.unions import values


class Describer:
    """Returns the described parts of values, by a document that must not change.

    The branches of a schema are read once: the events of a stream are values of few schemas.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._branches: dict[int, tuple[Schema, list[_Branch]]] = {}  # by the identity of the schema, which is kept

    def described(self, schema: Schema, value: Any) -> Any:
        """Returns a value, valid or not, without the members that no schema for it names.

        Of a union, only the branches count whose constants, such as `type`, the object has. An object for which there
        is no schema with members, or one that allows all others, stays as it is.
        """
        return self._described([schema], value)

    def _described(self, schemas: Sequence[Schema], value: Any) -> Any:
        if isinstance(value, list):
            items = [branch.items for branch in self._of(schemas) if branch.items is not None]
            return [self._described(items, element) for element in value] if items else value
        if not isinstance(value, Mapping):
            return value
        objects = [branch for branch in self._of(schemas) if branch.members is not None and branch.may_be(value)]
        if not objects or any(branch.is_open for branch in objects):
            return value
        members: dict[str, list[Schema]] = {}
        for branch in objects:
            for name, member in (branch.members or {}).items():
                members.setdefault(name, []).append(member)
        return {name: self._described(members[name], part) for name, part in value.items() if name in members}

    def _of(self, schemas: Sequence[Schema]) -> Iterator["_Branch"]:
        for schema in schemas:
            if id(schema) not in self._branches:
                self._branches[id(schema)] = schema, [*self._read(schema)]
            yield from self._branches[id(schema)][1]

    def _read(self, schema: Schema) -> Iterator["_Branch"]:
        node = resolved(self._document, schema)
        members = node.get("properties")
        constants = {name: values(resolved(self._document, member)) for name, member in (members or {}).items()}
        yield _Branch(
            node.get("items"),
            members,
            {name: listed for name, listed in constants.items() if listed is not None},
            bool(node.get("additionalProperties")),
        )
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in node.get(keyword, ()):
                yield from self._read(branch)


@dataclass(frozen=True, slots=True)
class _Branch:
    """One branch of a schema: the schemas of its elements and members, the constants of members that have them, and
    whether it allows other members."""

    items: Schema | None
    members: Mapping[str, Schema] | None
    constants: Mapping[str, Sequence[Any]]
    is_open: bool

    def may_be(self, value: Mapping[str, Any]) -> bool:
        """Returns whether an object has no other value than a constant where the branch has constants."""
        return all(name not in value or value[name] in listed for name, listed in self.constants.items())
