"""Which branch of a union an object was meant for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved


class Union:
    """The branches of a union that are objects. `key` is the property that says which one a value is, such as `type`
    or `role`, None where no property does; `known` are the texts that it can be."""

    def __init__(self, branches: Sequence[Schema], document: Mapping[str, Any]) -> None:
        self._document = document
        # A branch may be a union itself, so that several objects lead into it.
        self._objects = [(schema, branch) for branch in branches for schema in self._within(branch)]
        listed = [
            [key for key in schema.get("properties", {}) if self._texts(schema, key)] for schema, _ in self._objects
        ]
        self.key = telling(listed) if len(self._objects) > 1 else None
        self.known = list(dict.fromkeys(text for schema, _ in self._objects for text in self._texts(schema, self.key)))

    def meant(self, value: Mapping[str, Any]) -> list[Schema]:
        """Returns the branches that an object can be meant for, valid or not: the best alone where there is one, none
        when `key` has none of the texts."""
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
        """Returns the objects that leave it open what `key` is."""
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
    """Returns the property that tells the most objects apart, of those that can be but certain texts in each object;
    the first of several, None where there is none."""
    count = Counter(key for keys in listed for key in keys)
    return count.most_common(1)[0][0] if count else None


def values(schema: Mapping[str, Any]) -> list[Any] | None:
    """Returns the values that a schema lists, which may be one; None where it lists none. It is no reference."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """Returns the types that a schema names, none where it leaves the type open. It is no reference."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else named


def texts(listed: Iterable[Any] | None) -> list[str]:
    """Returns the texts among the values that a property can have."""
    return [value for value in listed or () if isinstance(value, str)]


def _has_all(schema: Schema, value: Mapping[str, Any]) -> bool:
    """Tells whether nothing that the object requires is missing."""
    return value.keys() >= set(schema.get("required", ()))
