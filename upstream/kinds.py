"""Pairs the kinds of objects of both sides: a message with `role: user` is compared with one of the same role."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from specvino.document.operations import Schema
from specvino.document.unions import telling
from specvino.upstream.side import Side

OTHER = "any other"
"""Stands for a kind that neither side names, or for objects that say no kind."""

_ANY = "any"
"""Stands for all kinds, of an object whose kind may be any text."""


@dataclass(slots=True)
class Kind:
    """One kind, or several that are the same on both sides.

    ours, theirs: the objects of this kind.
    beside: objects of the system that say no kind, so that a value of this one may be meant for them.
    is_named: whether the system has objects of this kind, and not only such that say none.
    """

    names: list[str]
    ours: list[Schema]
    theirs: list[Schema]
    beside: list[Schema]
    is_named: bool = True


@dataclass(slots=True)
class Kinds:
    """The kinds of objects at one place, which the property `key` tells apart, None where none does.

    both: those that both sides have.
    ours, theirs: the names of those that one side alone has.
    """

    key: str | None
    both: list[Kind]
    ours: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)


def paired(document: Side, system: Side, ours: Sequence[Schema], theirs: Sequence[Schema]) -> Kinds:
    """Returns the kinds of the objects of a document and of a system."""
    key = _key(document, ours) or _key(system, theirs)
    if key is None:
        return Kinds(None, [Kind([], list(ours), list(theirs), [])])
    our_names = [_names(document, leaf, key) for leaf in ours]
    their_names = [_names(system, leaf, key) for leaf in theirs]
    found, same = Kinds(key, []), dict[str, Kind]()
    named = dict.fromkeys(name for names in (*our_names, *their_names) for name in names if name not in (_ANY, OTHER))
    for name in (*named, OTHER):
        # Where no object is of this kind, one that says no kind takes it.
        mine = _of(name, ours, our_names) or _of(OTHER, ours, our_names)
        others = _of(name, theirs, their_names) or _of(OTHER, theirs, their_names)
        if mine and others:
            is_named = others == _of(name, theirs, their_names)
            beside = _of(OTHER, theirs, their_names) if is_named and name is not OTHER else []
            pair = json.dumps([mine, others, is_named], sort_keys=True)
            kind = same.setdefault(pair, Kind([], mine, others, beside, is_named))
            kind.names.append(f"{key}: {name}")
        elif mine:
            found.ours.append(name)
        elif others:
            found.theirs.append(name)
    found.both = list(same.values())
    return found


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
