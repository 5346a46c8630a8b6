"""The branch of a union that an object is meant for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved


class Union:
    """The branches of a union that are objects.

    `key` is the property that distinguishes them, such as `type` or `role`; None if there is none. `known` are its
    possible values.
    """

    def __init__(self, branches: Sequence[Schema], document: Mapping[str, Any]) -> None:
        self._document = document
        # A branch may be a union itself, so several objects may belong to it.
        self._objects = [(schema, branch) for branch in branches for schema in self._within(branch)]
        listed = [
            [key for key in schema.get("properties", {}) if self._texts(schema, key)] for schema, _ in self._objects
        ]
        self.key = telling(listed) if len(self._objects) > 1 else None
        self.known = list(dict.fromkeys(text for schema, _ in self._objects for text in self._texts(schema, self.key)))

    def meant(self, value: Mapping[str, Any]) -> list[Schema]:
        """Returns the branches that an object, valid or not, may be intended for: only the best one if there is one,
        none if `key` has an unknown value.
        """
        candidates = self._objects
        if self.key is not None and self.key in value:
            name = value[self.key]
            candidates = [candidate for candidate in self._objects if name in self._texts(candidate[0], self.key)]
            candidates = candidates or [candidate for candidate in self._open() if _has_all(candidate[0], value)]
        elif self.key is not None:
            candidates = [
                candidate
                for candidate in self._objects
                if self.key not in candidate[0].get("required", ()) and value.keys() & candidate[0]["properties"].keys()
            ]
        best = [branch for schema, branch in candidates if _has_all(schema, value)]
        return best[:1] or [branch for _, branch in candidates]

    def _open(self) -> list[tuple[Schema, Schema]]:
        """Returns the objects that leave `key` open."""
        return [candidate for candidate in self._objects if not self._texts(candidate[0], self.key)]

    def _texts(self, schema: Schema, key: str | None) -> list[str]:
        return texts(values(resolved(self._document, schema.get("properties", {}).get(key, {}))))

    def _within(self, schema: Schema) -> Iterator[Schema]:
        schema = resolved(self._document, schema)
        branches = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        for branch in branches:
            yield from self._within(branch)
        if not branches and ("properties" in schema or "object" in schema.get("type", ())):
            yield schema


def telling(listed: Iterable[Iterable[str]]) -> str | None:
    """Returns the property that distinguishes the most objects by constant texts: in case of a tie the first, None if
    there is none.
    """
    count = Counter(key for keys in listed for key in keys)
    return count.most_common(1)[0][0] if count else None


def values(schema: Mapping[str, Any]) -> list[Any] | None:
    """Returns the values of `enum` or `const` in a schema (not a reference); None without either."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """Returns the types of a schema (not a reference); empty if it doesn't restrict the type."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else named


def texts(listed: Iterable[Any] | None) -> list[str]:
    """Returns the texts among the values that a property can have."""
    return [value for value in listed or () if isinstance(value, str)]


def _has_all(schema: Schema, value: Mapping[str, Any]) -> bool:
    """Returns whether the object has everything that the schema requires."""
    return value.keys() >= set(schema.get("required", ()))
