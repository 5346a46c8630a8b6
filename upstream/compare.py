"""Finds the values that only one of two sides accepts. Both sides are walked together, field by field; both provide
values to try.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specvino.document.operations import Schema
from specvino.document.unions import telling, values
from specvino.upstream.described import Described, Part
from specvino.upstream.differences import Difference, Only, What, field_name, joined, shown
from specvino.upstream.samples import example, plain, sizes
from specvino.upstream.side import Side, is_open, may_be

OTHER = "any other"
"""The kind that neither side names, or the kind of objects without a kind."""

_ANY = "any"
"""All kinds: the kind of the object may be any text."""


@dataclass(slots=True)
class Kind:
    """One kind, or several that are the same on both sides. ours, theirs: the objects of this kind. beside: objects of
    the system without a kind, which may also accept values of this kind. is_named: whether the system has objects of
    this kind, not only objects without a kind.
    """

    names: list[str]
    ours: list[Schema]
    theirs: list[Schema]
    beside: list[Schema]
    is_named: bool = True


@dataclass(slots=True)
class Kinds:
    """The kinds of objects at one location, distinguished by the property `key` (None if no property does).

    both: those that both sides have.
    ours, theirs: the names of those that one side alone has.
    """

    key: str | None
    both: list[Kind]
    ours: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)


def paired(document: Side, system: Side, ours: Sequence[Schema], theirs: Sequence[Schema]) -> Kinds:
    """Returns the paired kinds of a document's and a system's objects."""
    key = _key(document, ours) or _key(system, theirs)
    if key is None:
        return Kinds(None, [Kind([], list(ours), list(theirs), [])])
    our_names = [_names(document, leaf, key) for leaf in ours]
    their_names = [_names(system, leaf, key) for leaf in theirs]
    kinds, same = Kinds(key, []), dict[str, Kind]()
    named = dict.fromkeys(name for names in (*our_names, *their_names) for name in names if name not in (_ANY, OTHER))
    for name in (*named, OTHER):
        # A value of an unknown kind is accepted by objects without a kind.
        mine = _of(name, ours, our_names) or _of(OTHER, ours, our_names)
        others = _of(name, theirs, their_names) or _of(OTHER, theirs, their_names)
        if mine and others:
            is_named = others == _of(name, theirs, their_names)
            beside = _of(OTHER, theirs, their_names) if is_named and name is not OTHER else []
            pair = json.dumps([mine, others, is_named], sort_keys=True)
            kind = same.setdefault(pair, Kind([], mine, others, beside, is_named))
            kind.names.append(f"{key}: {name}")
        elif mine:
            kinds.ours.append(name)
        elif others:
            kinds.theirs.append(name)
    kinds.both = list(same.values())
    return kinds


def _key(side: Side, leaves: Sequence[Schema]) -> str | None:
    if len(leaves) < 2:
        return None
    return telling([[key for key in leaf.get("properties", {}) if side.texts(leaf, key)] for leaf in leaves])


def _names(side: Side, leaf: Schema, key: str) -> list[str]:
    """Returns the kinds that an object can be of."""
    listed = side.texts(leaf, key)
    if listed is not None:
        return listed
    return [_ANY] if key in leaf.get("properties", {}) else [OTHER]


def _of(name: str, leaves: Sequence[Schema], names: Sequence[list[str]]) -> list[Schema]:
    return [leaf for leaf, listed in zip(leaves, names, strict=True) if name in listed or _ANY in listed]


Schemas = Sequence[Schema]


class Comparison:
    """A comparison of a document with a system. `levels` are the dialect's levels by field name."""

    def __init__(self, document: Described, system: Described, levels: Mapping[str, str]) -> None:
        self._document = Side(document)
        self._system = Side(system)
        self._levels = levels
        self._is_partial = system.is_partial
        self.open: dict[Only, dict[str, None]] = {side: {} for side in Only}
        """The fields whose values one side doesn't restrict, so that their contents aren't compared."""
        self._met: dict[str, set[str]] = {}
        self._roots: set[str] = set()

    def parts(self) -> list[Part]:
        """Returns the parts that both sides describe."""
        return [part for part in self._document.parts if part in self._system.parts]

    def of(self, part: Part) -> list[Difference]:
        """Returns the differences of a part that both sides describe.

        Schemas that an event shares with the answers of its endpoint, or that several endpoints share, are compared at
        their first occurrence.
        """
        endpoint, kind = part
        met = self._met.setdefault(endpoint, set())
        root = _pair(*(side.leaves([side.parts[part]]) for side in (self._document, self._system)))
        if kind != "request" and root in self._roots:
            return []
        walk = _Walk(self._document, self._system, part, self._levels, self.open, frozenset(met))
        differences = [
            difference
            for difference in joined(walk.differences())
            if not (self._is_partial and (difference.what, difference.only) == (What.FIELD, Only.DOCUMENT))
        ]
        if kind != "request":
            met |= walk.met
            self._roots.add(root)
        return differences


@dataclass(frozen=True, slots=True)
class _Location:
    """The location of a walk. kinds: the kind of the enclosing object, if there are several. around: the enclosing
    schemas of both sides, each pair as one text.
    """

    path: str = ""
    kinds: tuple[str, ...] = ()
    around: frozenset[str] = frozenset()

    def at(self, name: str) -> "_Location":
        return replace(self, path=f"{self.path}.{name}" if self.path else name)

    def elements(self) -> "_Location":
        return replace(self, path=f"{self.path}[]")


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

    def differences(self) -> Iterator[Difference]:
        return self._at(_Location(), [self._document.parts[self._part]], [self._system.parts[self._part]])

    def _at(self, location: _Location, ours: Schemas, theirs: Schemas) -> Iterator[Difference]:
        """Yields the differences at a location and inside it."""
        mine, others = self._document.leaves(ours), self._system.leaves(theirs)
        pair = _pair(mine, others)
        if pair in location.around:
            return  # recursive
        location = replace(location, around=location.around | {pair})
        our_objects, their_objects = _of_type(mine, "object"), _of_type(others, "object")
        if our_objects and their_objects:
            if pair in self._known:
                return
            self.met.add(pair)
        if any(map(is_open, others)):
            if not any(map(is_open, mine)):
                self._open[Only.SYSTEM][self._name(location)] = None
            return
        yield from self._values(location, plain(self._applicable(ours, theirs)), ours, theirs)
        our_lists, their_lists = _of_type(mine, "array"), _of_type(others, "array")
        if our_lists and their_lists:
            yield from self._lists(location, ours, theirs, our_lists, their_lists)
        elif our_lists or their_lists:
            yield self._one_sided(location, ours, theirs, our_lists, their_lists)
        if our_objects and their_objects:
            yield from self._objects(location, our_objects, their_objects)
        elif our_objects or their_objects:
            yield self._one_sided(location, ours, theirs, our_objects, their_objects)

    def _values(
        self, location: _Location, tried: Iterable[Any], ours: Schemas, theirs: Schemas
    ) -> Iterator[Difference]:
        alone: dict[Only, list[str]] = {}
        for value in tried:
            mine, others = self._document.takes(ours, value), self._system.takes(theirs, value)
            if mine != others:
                alone.setdefault(Only.DOCUMENT if mine else Only.SYSTEM, []).append(shown(value))
        for only, texts in alone.items():
            yield self._difference(location, What.VALUES, only, *texts)

    def _lists(
        self, location: _Location, ours: Schemas, theirs: Schemas, mine: Schemas, others: Schemas
    ) -> Iterator[Difference]:
        our_items, their_items = ([leaf.get("items", {}) for leaf in leaves] for leaves in (mine, others))
        tried: list[Any] = [[]]
        if element := self._common(our_items, their_items):
            tried = [element * length for length in sizes(self._applicable(ours, theirs))]
        yield from self._values(location, tried, ours, theirs)
        yield from self._at(location.elements(), our_items, their_items)

    def _common(self, ours: Schemas, theirs: Schemas) -> list[Any]:
        """Returns a list with an element that both sides accept, or an empty list."""
        for side, schemas in ((self._document, ours), (self._system, theirs)):
            for value in example(side, schemas):
                if self._document.takes(ours, value) and self._system.takes(theirs, value):
                    return [value]
        return []

    def _one_sided(
        self, location: _Location, ours: Schemas, theirs: Schemas, mine: Schemas, others: Schemas
    ) -> Difference:
        """Returns the difference if only one side accepts lists, or objects. Leaves are given for that side only."""
        side, schemas, leaves = (self._document, ours, mine) if mine else (self._system, theirs, others)
        tried = (
            value for value in example(side, leaves) if isinstance(value, (list, dict)) and side.takes(schemas, value)
        )
        fallback: Any = {} if _of_type(leaves, "object") else []
        only = Only.DOCUMENT if mine else Only.SYSTEM
        return self._difference(location, What.VALUES, only, shown(next(tried, fallback)))

    def _objects(self, location: _Location, mine: Schemas, others: Schemas) -> Iterator[Difference]:
        kinds = paired(self._document, self._system, mine, others)
        for only, names in ((Only.DOCUMENT, kinds.ours), (Only.SYSTEM, kinds.theirs)):
            if names and kinds.key:
                texts = [name if name is OTHER else shown(name) for name in names]
                yield self._difference(location.at(kinds.key), What.VALUES, only, *texts)
        for kind in kinds.both:
            of = location if len(kinds.both) == 1 else replace(location, kinds=tuple(kind.names))
            yield from self._properties(of, kind, kinds.key)
        if kinds.key:
            yield from self._absence(location, kinds.key, mine, others)

    def _properties(self, location: _Location, kind: Kind, key: str | None) -> Iterator[Difference]:
        ours, theirs, beside = _named(kind.ours), _named(kind.theirs), _named(kind.beside)
        if not ours.keys() - {key} or not all(leaf.get("properties") for leaf in kind.theirs):
            yield from self._free(location, kind, ours.keys() - {key}, theirs.keys() - {key})
            return
        for name in {**ours, **theirs} if kind.is_named else ours:
            if name == key:
                continue  # its values are the kinds
            others = [*theirs.get(name, ()), *beside.get(name, ())]
            if name in ours and others:
                named = [*kind.theirs, *(leaf for leaf in kind.beside if name in leaf.get("properties", {}))]
                yield from self._absence(location, name, kind.ours, named)
                yield from self._default(location.at(name), ours[name], others)
                yield from self._at(location.at(name), ours[name], others)
            elif not self._is_stated(location.at(name), name, kind.theirs):
                only = Only.DOCUMENT if name in ours else Only.SYSTEM
                yield self._difference(location.at(name), What.FIELD, only)
        closed = [all(leaf.get("additionalProperties") is False for leaf in side) for side in (kind.ours, kind.theirs)]
        if closed[0] != closed[1]:
            yield self._difference(location, What.UNKNOWN_FIELDS, Only.SYSTEM if closed[0] else Only.DOCUMENT)

    def _free(
        self, location: _Location, kind: Kind, ours: Iterable[str], theirs: Iterable[str]
    ) -> Iterator[Difference]:
        """Compares objects with free-form names; `ours` and `theirs` are the sides that have them."""
        our_values, their_values = (
            [leaf["additionalProperties"] for leaf in leaves if isinstance(leaf.get("additionalProperties"), dict)]
            for leaves in (kind.ours, kind.theirs)
        )
        if our_values and their_values:
            yield from self._at(location.at("*"), our_values, their_values)
        elif ours or theirs:
            self._open[Only.SYSTEM if ours else Only.DOCUMENT][self._name(location)] = None

    def _absence(self, location: _Location, name: str, mine: Schemas, others: Schemas) -> Iterator[Difference]:
        ours, theirs = (all(name in leaf.get("required", ()) for leaf in leaves) for leaves in (mine, others))
        if ours != theirs:
            yield self._difference(location.at(name), What.ABSENCE, Only.SYSTEM if ours else Only.DOCUMENT)

    def _default(self, location: _Location, ours: Schemas, theirs: Schemas) -> Iterator[Difference]:
        if self._part[1] != "request":
            return
        mine, others = _default(self._document, ours), _default(self._system, theirs)
        if others is not None and mine != others and not _is_one_value(self._system, theirs):
            yield self._difference(location, What.DEFAULT, Only.SYSTEM, shown(others))

    def _is_stated(self, location: _Location, name: str, others: Schemas) -> bool:
        """Returns whether the dialect itself explains why the document lacks a field that the system names."""
        level = self._levels.get(self._name(location))
        if level in ("ignored", "refused"):
            return True
        # The system's classes may have a field that is listed as never sent, if the field is optional.
        return level == "absent" and not all(name in leaf.get("required", ()) for leaf in others)

    def _applicable(self, ours: Schemas, theirs: Schemas) -> list[Schema]:
        """Returns all schemas of both sides that apply to the value at one location."""
        return [
            applied
            for side, schemas in ((self._document, ours), (self._system, theirs))
            for schema in schemas
            for applied in side.applicable(schema)
        ]

    def _difference(self, location: _Location, what: What, only: Only, *values: str) -> Difference:
        return Difference(self._name(location), what, only, values, location.kinds)

    def _name(self, location: _Location) -> str:
        return field_name(*self._part, location.path)


def _pair(mine: Schemas, others: Schemas) -> str:
    """Returns the same key for locations with the same schemas on both sides."""
    return json.dumps([mine, others], sort_keys=True)


def _default(side: Side, schemas: Schemas) -> Any:
    """Returns the default that schemas state; None if there is none, or null."""
    stated = (applied.get("default") for schema in schemas for applied in side.applicable(schema))
    return next((default for default in stated if default is not None), None)


def _is_one_value(side: Side, schemas: Schemas) -> bool:
    """Returns whether schemas allow only one value, for which a default is irrelevant."""
    listed = [values(leaf) for leaf in side.leaves(schemas)]
    return None not in listed and len([value for group in listed for value in group or ()]) == 1


def _named(leaves: Schemas) -> dict[str, list[Schema]]:
    """Returns the schemas of each property, once for each object that has it."""
    by_name: dict[str, list[Schema]] = {}
    for leaf in leaves:
        for name, schema in leaf.get("properties", {}).items():
            by_name.setdefault(name, []).append(schema)
    return by_name


def _of_type(leaves: Schemas, kind: str) -> list[Schema]:
    return [leaf for leaf in leaves if may_be(leaf, kind)]
