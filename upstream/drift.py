"""Runs a comparison: the result of `specvino spec drift`."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specvino.document.system_fields import SystemFields, system_name
from specvino.upstream import openapi_document, packages
from specvino.upstream.allow_list import Allowed, sift
from specvino.upstream.changes import Change, changes
from specvino.upstream.compare import Comparison
from specvino.upstream.described import Described, Part, Unreadable
from specvino.upstream.description import fields_of
from specvino.upstream.differences import Difference, Only, What, field_name, split_name
from specvino.upstream.modules import Sources
from specvino.upstream.table import Table, of_classes, of_sources, table, with_quoted


@dataclass(frozen=True, slots=True)
class Drift:
    """The result of a comparison. differences: those that aren't allowed, in the order of the document. allowed:
    the number of allowed ones. unused: entries of the allow-list without a difference in the compared parts. open: by
    side, fields without restrictions, so that the other side's schemas inside them weren't compared. unread: types of
    the system that couldn't be read and are treated as unrestricted. left: parts that only one side describes. listed:
    parts whose values aren't compared, but for what only the document accepts in requests.
    changed: fields whose lines differ from those of the described version.
    """

    system: str
    source: str
    parts: tuple[Part, ...]
    differences: tuple[Difference, ...]
    allowed: int
    unused: tuple[Allowed, ...]
    open: dict[Only, tuple[str, ...]]
    unread: tuple[str, ...]
    left: tuple[Part, ...]
    listed: tuple[Part, ...] = ()
    changed: tuple[Change, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not (self.differences or self.unused or self.changed)


def system_of(system: str, document: dict[str, Any], version: str | None, source: Path | None) -> tuple[str, Described]:
    """Returns a name for the source of a system and its schemas.

    The source is a folder, the system's own OpenAPI document, or the package of a version, by default the one that the
    document describes. Raises Unreadable.
    """
    if source is not None and source.is_file():
        return str(source), openapi_document.of_file(source, document)
    entry = table(system)
    if not isinstance(entry, Table):
        if source is None:
            raise Unreadable(f"{system} isn't on the package index; give the folder with its sources with --source")
        return str(source), with_quoted(of_sources(entry, source), entry.files, source)
    cache = packages.cache()
    if source is not None:
        folder, name = packages.in_folder(source, entry.package), str(source)
    elif entry.distribution is None:
        raise Unreadable(f"{system} has no wheels on the package index; give the folder with its sources with --source")
    else:
        version = version or entry.version or document.get("x-dialect", {}).get("version", {}).get("name")
        if version is None:
            raise Unreadable(f"the document of {system} names no version; give it with --package-version")
        name = f"{entry.distribution} {version}"
        folder = packages.from_index(entry.distribution, version, entry.package, cache)
    others = {package: packages.beside(source, package, number, cache) for package, number in entry.beside.items()}
    described = of_classes(entry, Sources({entry.package: folder, **others}))
    return name, with_quoted(described, entry.files, folder.parent)


def drift(
    system: str,
    document: dict[str, Any],
    everything: dict[str, Any],
    source: tuple[str, Described],
    entries: Iterable[Allowed],
    only: Collection[str] = (),
    before: SystemFields | None = None,
) -> Drift:
    """Compares the document of a system with the system's own schemas.

    everything: our complete document, which has the level of each field. only: the endpoints, or parts such as
    `chat.request`, to compare; by default all. before: the fields of the described version, to find those whose lines
    changed. Raises Unreadable if neither side has one of them.
    """
    name, described = source
    ours = openapi_document.of_document(document)
    levels = openapi_document.levels(everything, system_name(system), document.get("x-dialect", {}).get("levels"))
    comparison = Comparison(ours, described, levels)
    parts = [part for part in comparison.parts() if not only or {part[0], ".".join(part)} & {*only}]
    if unknown := {*only} - {name for part in parts for name in (part[0], ".".join(part))}:
        known = ", ".join(".".join(part) for part in comparison.parts())
        raise Unreadable(f"nothing to compare under {', '.join(sorted(unknown))}; there are {known}")
    differences = [difference for part in parts for difference in comparison.of(part)]
    differences += _refused(ours, described, levels, only)
    fields = fields_of(described)
    differences += _lacking(fields, levels, only, differences)
    left, unused = sift(differences, entries)
    if only:  # entries for other parts can't be checked now
        unused = []
    return Drift(
        system=system,
        source=name,
        parts=tuple(parts),
        differences=tuple(left),
        allowed=len(differences) - len(left),
        unused=tuple(unused),
        open={side: tuple(fields) for side, fields in comparison.open.items()},
        unread=described.unread,
        left=tuple(sorted((ours.parts.keys() ^ described.parts.keys()) - described.listed.keys())),
        listed=tuple(sorted(described.listed)),
        changed=() if before is None else tuple(changes(before, fields, levels)),
    )


def _refused(
    ours: Described, described: Described, levels: Mapping[str, str], only: Collection[str]
) -> Iterator[Difference]:
    """Yields what the document accepts and the classes of requests that are only listed don't. They aren't compared the
    other way around: one class has the fields of all kinds of objects."""
    requests = {part: schema for part, schema in described.listed.items() if part[1] == "request"}
    comparison = Comparison(ours, replace(described, parts=requests), levels)
    for part in comparison.parts():
        if not only or {part[0], ".".join(part)} & {*only}:
            for difference in comparison.of(part):
                if difference.only is Only.DOCUMENT and difference.what in (What.VALUES, What.ABSENCE):
                    yield difference


def _lacking(
    fields: SystemFields, levels: Mapping[str, str], only: Collection[str], known: Collection[Difference]
) -> Iterator[Difference]:
    """Yields the fields that a system supports by their level, but lacks by its sources, and that are neither known nor
    inside one that is: those of parts that aren't compared, or inside objects that only one side restricts."""
    reported = {difference.field for difference in known if difference.is_lacking}
    for name, level in sorted(levels.items()):
        endpoint, part, path = split_name(name)
        if only and not {endpoint, f"{endpoint}.{part}"} & {*only}:
            continue
        outer = {field_name(endpoint, part, path[: match.start()].rstrip("[]")) for match in re.finditer(r"\.", path)}
        if level in ("full", "partial") and not {name, *outer} & reported and fields.has(endpoint, part, path) is False:
            reported.add(name)
            yield Difference(name, What.FIELD, Only.DOCUMENT)
