"""Compares two sides by values: which does one take and the other refuse?

Both sides are walked at once, field by field; at each field the values to try come from both. Where objects are of
several kinds, told apart by a property such as `role`, kind is compared with kind.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.document.operations import Schema
from specvino.document.unions import telling
from specvino.upstream.described import Described, Part
from specvino.upstream.differences import Difference, Only, What, field_name, joined, shown
from specvino.upstream.samples import example, plain, sizes
from specvino.upstream.side import Side, is_open, may_be

Schemas = Sequence[Schema]

OTHER = "any other"
"""Stands for a kind that neither side names, or for objects of no kind."""

ANY = "any kind"
"""Stands for all kinds, of an object whose kind may be any text."""


class Comparison:
    """Compares a document with a system. `levels` are what the dialect says of each field, by name."""

    def __init__(self, document: Described, system: Described, levels: Mapping[str, str]) -> None:
        self._document = Side(document)
        self._system = Side(system)
        self._levels = levels
        self.open: dict[Only, dict[str, None]] = {side: {} for side in Only}
        """The fields whose values one side leaves open: what the other says inside isn't compared."""
        self._compared: dict[str, set[str]] = {}

    def parts(self) -> list[Part]:
        """Returns the parts that both sides describe."""
        return [part for part in self._document.parts if part in self._system.parts]

    def of(self, part: Part) -> list[Difference]:
        """Returns the differences of a part that both sides describe.

        What an event has in common with the answers that were compared before isn't compared again.
        """
        known = self._compared.setdefault(part[0], set())
        walk = _Walk(self._document, self._system, part, self._levels, self.open, frozenset(known))
        found = joined(walk.at("", [self._document.parts[part]], [self._system.parts[part]], (), frozenset()))
        if part[1] != "request":
            known |= walk.met
        return found


class _Walk:
    def __init__(
        self,
        document: Side,
        system: Side,
        part: Part,
        levels: Mapping[str, str],
        left: dict[Only, dict[str, None]],
        known: frozenset[str],
    ) -> None:
        self._document = document
        self._system = system
        self._part = part
        self._levels = levels
        self._open = left
        self._known = known
        self.met: set[str] = set()

    def at(
        self, path: str, ours: Schemas, theirs: Schemas, kinds: tuple[str, ...], around: frozenset[str]
    ) -> Iterator[Difference]:
        """Yields the differences of what stands at a path, and inside it."""
        mine, others = self._document.leaves(ours), self._system.leaves(theirs)
        key = json.dumps([mine, others], sort_keys=True)
        if key in around:
            return  # inside itself
        around |= {key}
        our_objects, their_objects = _of_type(mine, "object"), _of_type(others, "object")
        if our_objects and their_objects:
            if key in self._known:
                return
            self.met.add(key)
        if any(map(is_open, others)):
            if not any(map(is_open, mine)):
                self._open[Only.SYSTEM][self._name(path)] = None
            return
        yield from self._values(path, What.VALUES, kinds, self._scalars(ours, theirs), ours, theirs)
        yield from self._lists(path, ours, theirs, mine, others, kinds, around)
        if our_objects and their_objects:
            yield from self._objects(path, our_objects, their_objects, kinds, around)
        elif our_objects or their_objects:
            yield self._one_sided(path, ours, theirs, our_objects, their_objects, kinds)

    def _scalars(self, ours: Schemas, theirs: Schemas) -> list[Any]:
        return plain(
            said for side, schemas in self._sides(ours, theirs) for schema in schemas for said in side.said(schema)
        )

    def _values(
        self, path: str, what: What, kinds: tuple[str, ...], values: Sequence[Any], ours: Schemas, theirs: Schemas
    ) -> Iterator[Difference]:
        taken = [(value, self._document.takes(ours, value), self._system.takes(theirs, value)) for value in values]
        for only, wanted in ((Only.SYSTEM, (False, True)), (Only.DOCUMENT, (True, False))):
            if found := [shown(value) for value, *by in taken if tuple(by) == wanted]:
                yield Difference(self._name(path), what, only, tuple(found), kinds)

    def _lists(
        self,
        path: str,
        ours: Schemas,
        theirs: Schemas,
        mine: Schemas,
        others: Schemas,
        kinds: tuple[str, ...],
        around: frozenset[str],
    ) -> Iterator[Difference]:
        our_lists, their_lists = _of_type(mine, "array"), _of_type(others, "array")
        if not (our_lists and their_lists):
            if our_lists or their_lists:
                yield self._one_sided(path, ours, theirs, our_lists, their_lists, kinds)
            return
        our_items, their_items = ([leaf.get("items", {}) for leaf in leaves] for leaves in (our_lists, their_lists))
        tried: list[Any] = [[]]
        if (element := self._common(our_items, their_items)) is not None:
            lengths = sizes(
                said for side, schemas in self._sides(ours, theirs) for schema in schemas for said in side.said(schema)
            )
            tried = [element * length for length in lengths]
        yield from self._values(path, What.VALUES, kinds, tried, ours, theirs)
        yield from self.at(f"{path}[]", our_items, their_items, kinds, around)

    def _common(self, ours: Schemas, theirs: Schemas) -> list[Any] | None:
        """Returns an element that both sides take, in a list; None where none comes to mind."""
        for side, schemas in self._sides(ours, theirs):
            for value in example(side, schemas):
                if self._document.takes(ours, value) and self._system.takes(theirs, value):
                    return [value]
        return None

    def _one_sided(
        self, path: str, ours: Schemas, theirs: Schemas, mine: Schemas, others: Schemas, kinds: tuple[str, ...]
    ) -> Difference:
        """Returns the difference where one side takes lists, or objects, and the other doesn't: the leaves that do are
        given of that side alone."""
        only = Only.DOCUMENT if mine else Only.SYSTEM
        side, schemas, found = (self._document, ours, mine) if mine else (self._system, theirs, others)
        values = (each for each in example(side, found) if isinstance(each, (list, dict)) and side.takes(schemas, each))
        fallback: Any = {} if _of_type(found, "object") else []
        return Difference(self._name(path), What.VALUES, only, (shown(next(values, fallback)),), kinds)

    def _objects(
        self, path: str, mine: Schemas, others: Schemas, kinds: tuple[str, ...], around: frozenset[str]
    ) -> Iterator[Difference]:
        key = self._key(mine, others)
        if key is None:
            yield from self._properties(path, mine, others, kinds, around, None)
            return
        name = f"{path}.{key}" if path else key
        kinds_of = [[_kinds(side, leaf, key) for leaf in leaves] for side, leaves in self._sides(mine, others)]
        known = dict.fromkeys(
            text for side in kinds_of for listed in side for text in listed if text not in (ANY, OTHER)
        )
        pairs: dict[str, tuple[list[Schema], list[Schema], list[str]]] = {}
        alone: dict[Only, list[str]] = {}
        for text in (*known, OTHER):
            ours, theirs = (
                [leaf for leaf, listed in zip(leaves, side, strict=True) if text in listed or ANY in listed]
                for leaves, side in zip((mine, others), kinds_of, strict=True)
            )
            if ours and theirs:
                same = json.dumps([ours, theirs], sort_keys=True)
                pairs.setdefault(same, (ours, theirs, []))[2].append(f"{key}: {text}")
            elif ours or theirs:
                only = Only.DOCUMENT if ours else Only.SYSTEM
                alone.setdefault(only, []).append(OTHER if text is OTHER else shown(text))
        for only, values in alone.items():
            yield Difference(self._name(name), What.VALUES, only, tuple(values), kinds)
        for ours, theirs, named in pairs.values():
            yield from self._properties(path, ours, theirs, kinds if len(pairs) == 1 else tuple(named), around, key)
        yield from self._absence(name, key, mine, others, kinds)

    def _key(self, mine: Schemas, others: Schemas) -> str | None:
        """Returns the property that tells the kinds of objects apart; None where none does."""
        for side, leaves in self._sides(mine, others):
            if len(leaves) > 1:
                listed = [[key for key in leaf.get("properties", {}) if side.texts(leaf, key)] for leaf in leaves]
                if key := telling(listed):
                    return key
        return None

    def _properties(
        self,
        path: str,
        mine: Schemas,
        others: Schemas,
        kinds: tuple[str, ...],
        around: frozenset[str],
        key: str | None,
    ) -> Iterator[Difference]:
        ours, theirs = _named(mine), _named(others)
        if not ours.keys() - {key} or not all(leaf.get("properties") for leaf in others):
            yield from self._free(path, mine, others, kinds, around, key)
            return
        for name in {**ours, **theirs}:
            if name == key:
                continue  # its values are the kinds
            inner = f"{path}.{name}" if path else name
            if name in ours and name in theirs:
                yield from self._absence(inner, name, mine, others, kinds)
                yield from self._default(inner, ours[name], theirs[name], kinds)
                yield from self.at(inner, ours[name], theirs[name], kinds, around)
            elif not self._is_said(inner, name, others):
                only = Only.DOCUMENT if name in ours else Only.SYSTEM
                yield Difference(self._name(inner), What.FIELD, only, (), kinds)
        closed = [all(leaf.get("additionalProperties") is False for leaf in leaves) for leaves in (mine, others)]
        if closed[0] != closed[1]:
            only = Only.SYSTEM if closed[0] else Only.DOCUMENT
            yield Difference(self._name(path), What.UNKNOWN_FIELDS, only, (), kinds)

    def _free(
        self,
        path: str,
        mine: Schemas,
        others: Schemas,
        kinds: tuple[str, ...],
        around: frozenset[str],
        key: str | None,
    ) -> Iterator[Difference]:
        """Compares where a side has objects without names of its own."""
        values, others_values = (
            [leaf["additionalProperties"] for leaf in leaves if isinstance(leaf.get("additionalProperties"), dict)]
            for leaves in (mine, others)
        )
        ours, theirs = _named(mine).keys() - {key}, _named(others).keys() - {key}
        if values and others_values:
            yield from self.at(f"{path}.*", values, others_values, kinds, around)
        elif ours or theirs:
            self._open[Only.SYSTEM if ours else Only.DOCUMENT][self._name(path)] = None

    def _absence(
        self, path: str, name: str, mine: Schemas, others: Schemas, kinds: tuple[str, ...]
    ) -> Iterator[Difference]:
        needed = [all(name in leaf.get("required", ()) for leaf in leaves) for leaves in (mine, others)]
        if needed[0] != needed[1]:
            only = Only.SYSTEM if needed[0] else Only.DOCUMENT
            yield Difference(self._name(path), What.ABSENCE, only, (), kinds)

    def _default(self, path: str, ours: Schemas, theirs: Schemas, kinds: tuple[str, ...]) -> Iterator[Difference]:
        if self._part[1] != "request":
            return
        mine, others = (
            [said["default"] for schema in schemas for said in side.said(schema) if said.get("default") is not None]
            for side, schemas in self._sides(ours, theirs)
        )
        if others and mine[:1] != others[:1]:
            yield Difference(self._name(path), What.DEFAULT, Only.SYSTEM, (shown(others[0]),), kinds)

    def _is_said(self, path: str, name: str, others: Schemas) -> bool:
        """Tells whether the dialect says itself why the document hasn't a field that the system names."""
        level = self._levels.get(self._name(path))
        if level in ("ignored", "refused"):
            return True
        # What the system is said never to send may be in its classes, if it can be left out.
        return level == "absent" and not all(name in leaf.get("required", ()) for leaf in others)

    def _sides(self, ours: Schemas, theirs: Schemas) -> tuple[tuple[Side, Schemas], tuple[Side, Schemas]]:
        return (self._document, ours), (self._system, theirs)

    def _name(self, path: str) -> str:
        return field_name(*self._part, path)


def _named(leaves: Schemas) -> dict[str, list[Schema]]:
    """Returns the schemas of each property, once for each object that has it."""
    found: dict[str, list[Schema]] = {}
    for leaf in leaves:
        for name, schema in leaf.get("properties", {}).items():
            found.setdefault(name, []).append(schema)
    return found


def _kinds(side: Side, leaf: Schema, key: str) -> list[str]:
    """Returns the kinds that an object can be of."""
    listed = side.texts(leaf, key)
    if listed is not None:
        return listed
    return [ANY] if key in leaf.get("properties", {}) else [OTHER]


def _of_type(leaves: Schemas, kind: str) -> list[Schema]:
    return [leaf for leaf in leaves if may_be(leaf, kind)]
