"""The events of a stream: what they can hold, by their schema."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import Schema, event_of
from specvino.document.pointers import resolved


class Events:
    """Holds the events of a stream whose table classifies by `classify`: rules, or the name of a field.

    `by_fact` has the schema of the events that can state a fact, for each fact. By rules it is that of any event.
    By a field it is the branch of the union in which the field is that const; `nameless` counts the branches without.
    """

    def __init__(self, document: dict[str, Any], media: dict[str, Any], classify: str | list[dict[str, Any]]) -> None:
        self._document = document
        self._event = event_of(document, media)
        self.by_fact: dict[str, Schema] = {}
        self.nameless = 0
        if isinstance(classify, str):
            for branch in self._branches(self._event):
                fact = branch.get("properties", {}).get(classify, {}).get("const")
                if isinstance(fact, str):
                    self.by_fact[fact] = branch
                else:
                    self.nameless += 1
        else:
            self.by_fact = {rule["fact"]: self._event for rule in classify}

    def has(self, path: str, fact: str | None = None) -> bool:
        """Tells whether some event, or some that states `fact`, can have something at a path such as
        `choices[].index`."""
        return self._exists(self._event if fact is None else self.by_fact[fact], path)

    def examples(self) -> Iterator[Any]:
        """Yields the examples of the whole union and of its branches."""
        for schema in (resolved(self._document, self._event), *self._branches(self._event)):
            yield from schema.get("examples", ())

    def _branches(self, schema: Schema) -> Iterator[Schema]:
        schema = resolved(self._document, schema)
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        for branch in branches:
            yield from self._branches(branch)
        if not branches:
            yield schema

    def _exists(self, schema: Schema, path: str) -> bool:
        schema = resolved(self._document, schema)
        branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in schema.get(keyword, ())]
        if any(self._exists(branch, path) for branch in branches):
            return True
        if path.startswith("[]"):
            return "items" in schema and (path == "[]" or self._exists(schema["items"], path[2:].lstrip(".")))
        name, _, rest = path.partition(".")
        name, elements, _ = name.partition("[]")
        child = schema.get("properties", {}).get(name)
        if child is None:
            return False
        rest = "[]." + rest if elements and rest else rest or elements
        return not rest or self._exists(child, rest)
