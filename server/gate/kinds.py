"""Which branches of a union an invalid object was meant for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

Schema = dict[str, Any]


class Kinds:
    """The branches that are objects, and the property that says which one a value is (`type`, `role`)."""

    def __init__(self, branches: Sequence[Schema], document: dict[str, Any]) -> None:
        self._document = document
        # A branch may be a union itself, so that several objects lead into it.
        self._objects = [(schema, branch) for branch in branches for schema in self._within(branch)]
        count = Counter(
            key for schema, _ in self._objects for key in schema.get("properties", {}) if self._texts(schema, key)
        )
        self.key = count.most_common(1)[0][0] if count and len(self._objects) > 1 else None
        self.known = list(dict.fromkeys(text for schema, _ in self._objects for text in self._texts(schema, self.key)))

    def meant(self, value: dict[str, Any]) -> list[Schema]:
        """The branches that can be meant, the best alone where there is one; none when `key` has none of the texts."""
        candidates = self._objects
        if self.key is not None and self.key in value:
            said = value[self.key]
            candidates = [each for each in self._objects if said in self._texts(each[0], self.key)]
            candidates = candidates or [each for each in self._open() if self._has_all(each[0], value)]
        elif self.key is not None:
            candidates = [
                each
                for each in self._objects
                if self.key not in each[0].get("required", ()) and value.keys() & each[0]["properties"].keys()
            ]
        best = [branch for schema, branch in candidates if self._has_all(schema, value)]
        return best[:1] or [branch for _, branch in candidates]

    def _open(self) -> list[tuple[Schema, Schema]]:
        """The objects that leave it open what `key` is."""
        return [each for each in self._objects if not self._texts(each[0], self.key)]

    def _has_all(self, schema: Schema, value: dict[str, Any]) -> bool:
        """Whether nothing that the object requires is missing."""
        return value.keys() >= set(schema.get("required", ()))

    def _texts(self, schema: Schema, key: str | None) -> list[str]:
        """The texts that a property can be, where they are listed."""
        child = resolve(schema.get("properties", {}).get(key, {}), self._document)
        values = [child["const"]] if "const" in child else child.get("enum", [])
        return [value for value in values if isinstance(value, str)]

    def _within(self, schema: Schema) -> Iterator[Schema]:
        schema = resolve(schema, self._document)
        branches = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        for branch in branches:
            yield from self._within(branch)
        if not branches and ("properties" in schema or "object" in schema.get("type", ())):
            yield schema


def resolve(schema: Schema, document: Schema) -> Schema:
    """The schema, or what it refers to."""
    while "$ref" in schema:
        node: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        schema = node
    return schema
