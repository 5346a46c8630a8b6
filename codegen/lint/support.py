"""Every field has a level for each system, dialect files contain nothing else, and notes match the schemas."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs

from specvino.codegen.fields import Field, around, field_name, fields, parts
from specvino.codegen.lint.problem import Problem
from specvino.codegen.lint.vocabulary import misfits
from specvino.codegen.merge import (
    LEVELS,
    WHOLE_ENDPOINT,
    WHOLE_PART,
    WITHOUT,
    applicable,
    own_entry,
    part_level,
    stated,
)
from specvino.codegen.own_schema import ALL_BOUNDS
from specvino.codegen.room import has_kind, kind_path
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema, operations
from specvino.document.pointers import resolved
from specvino.document.validator import Validators
from specvino.document.walk import descend

# The keys of an entry that describe a field which the system has.
DESCRIBING = ("schema", "nullable", "default", "required", "kinds")


def systems(spec: Spec) -> Iterator[Problem]:
    """There is one dialect file for each system that the vocabulary names."""
    named = spec.vocabulary["$defs"]["system"]["enum"]
    for system in named:
        if system not in spec.dialects:
            yield Problem("dialects", system, f"{_file(system)} does not exist")
    for system in spec.dialects:
        if system not in named:
            fault = f"{system} is not one of {', '.join(named)}: name it in openapi/vocabulary.yaml (system)"
            yield Problem("dialects", _file(system), fault)


def dialects(spec: Spec) -> Iterator[Problem]:
    """The top-level keys of each file are known ones."""
    for system, dialect in {**spec.dialects, **spec.versions}.items():
        words = misfits(spec.vocabulary, "Dialect", {key: value for key, value in dialect.items() if key != "fields"})
        for fault in words or _head(spec.document, dialect):
            yield Problem("dialects", _file(system), fault)


def _file(system: str) -> str:
    system, _, version = system.partition("@")
    return f"openapi/dialects/{system}.yaml" + (f" versions.{version}" if version else "")


def _head(document: dict[str, Any], dialect: dict[str, Any]) -> Iterator[str]:
    """The names in a head exist, and every stream of the system is described."""
    endpoints = {operation.endpoint for operation in operations(document)}
    named = {
        "at_root": dialect.get("at_root", ()),
        "websockets": dialect.get("websockets", ()),
        "auth": dialect["auth"].get("open", ()),
        "errors": dialect["errors"].get("at", ()),
        "stream": dialect["stream"],
        "rules": dialect.get("rules", ()),
        "other_operations": [
            operation["served_by"] for operation in dialect.get("other_operations", ()) if "served_by" in operation
        ],
    }
    for key, names in named.items():
        for name in names:
            if name not in endpoints:
                yield f"{key} names the unknown endpoint {name}"
    headers = {
        name
        for operation in operations(document)
        for answer in operation.definition["responses"].values()
        for name in resolved(document, answer).get("headers", ())
    }
    for name in dialect["headers"]:
        if name not in headers:
            yield f"no answer has the header {name}"
    for name in dialect.get("schemas", {}).keys() & document["components"]["schemas"].keys():
        yield f"schemas has {name}, which is the name of one of the document's"
    for endpoint, part in parts(document):
        if (
            part == "stream"
            and part_level(endpoint, part, dialect) not in WITHOUT
            and endpoint not in dialect["stream"]
        ):
            yield f"stream needs {endpoint}: how its events come"


def complete(spec: Spec) -> Iterator[Problem]:
    """Every field has a level in every dialect, its own or an inherited one that it doesn't contradict."""
    all_fields = fields(spec.document)
    by_key = {field.key: field for field in all_fields}
    for system, dialect in {**spec.dialects, **spec.versions}.items():
        entries = stated(all_fields, dialect)
        levels = applicable(all_fields, entries, dialect)
        for field in all_fields:
            location = f"{_file(system)} {field.name}"
            around_it = by_key.get((field.endpoint, field.part, next(around(field.path), "")))
            outer = around_it and around_it.name
            by_default = entries[field.key] is None
            sources = spec.sources.get(system)
            is_in_sources = by_default and sources is not None and sources.has(field.endpoint, field.part, field.path)
            if (by_default and system in field.origins) or is_in_sources or field.name not in levels:
                if outer is None or outer in levels:  # else all inside would be named as well
                    path = f"fields.{field.endpoint}.{field.part}"
                    levels_of_part = ", ".join(LEVELS[field.part])
                    why = ", since the sources have it" if is_in_sources else ""
                    yield Problem("support", location, f"needs a level in {path}{why}: {levels_of_part}")
            elif own := own_entry(field, dialect):
                yield from _entry(location, field, own)
                if outer and (level := levels.get(outer, {}).get("level")) in WITHOUT:
                    yield Problem("support", location, f"{outer} is {level}, so fields inside it can't have entries")
                kind = field_name(field.endpoint, field.part, kind_path(field.path))
                if own["level"] not in ("refused", "absent") and not has_kind(
                    field, levels.get(kind, {}).get("schema", {})
                ):
                    fault = f"all objects that have it are of types that the entry of {kind} excludes"
                    yield Problem("support", location, fault)


def surplus(spec: Spec) -> Iterator[Problem]:
    """Every entry is about an endpoint, a part or a field that exists."""
    known = {field.key for field in fields(spec.document)}
    known_parts = parts(spec.document)
    for system, dialect in {**spec.dialects, **spec.versions}.items():
        for endpoint, entry in dialect.get("fields", {}).items():
            location = f"{_file(system)} {endpoint}"
            if endpoint not in {name for name, _ in known_parts}:
                yield Problem("support", location, "there is no such endpoint")
            elif not isinstance(entry, dict):
                yield from _exact(location, entry, WHOLE_ENDPOINT)
            else:
                for part, paths in entry.items():
                    if (endpoint, part) not in known_parts:
                        yield Problem("support", f"{location} {part}", "there is no such part")
                    elif not isinstance(paths, dict):
                        yield from _exact(f"{location} {part}", paths, WHOLE_PART[part])
                    else:
                        for path in paths:
                            if (endpoint, part, path) not in known:
                                yield Problem("support", f"{location} {part} {path}", "there is no such field")


def _exact(location: str, level: Any, known: tuple[str, ...]) -> Iterator[Problem]:
    if level not in known:
        yield Problem("support", location, f"{level!r} is neither fields nor, for all of them, {' or '.join(known)}")


def _entry(location: str, field: Field, entry: dict[str, Any]) -> Iterator[Problem]:
    level = entry.get("level")
    if level not in LEVELS[field.part]:
        yield Problem("support", location, f"the level {level!r} is not one of {', '.join(LEVELS[field.part])}")
    if level == "partial" and not entry.get("note"):
        yield Problem("support", location, "partial needs a note that says what is missing")
    for key in entry.keys() - {"level", "note", *DESCRIBING}:
        yield Problem("support", location, f"{key!r} is not known (a text with a comma needs quotes inside {{…}})")
    for key in DESCRIBING:
        # Systems that refuse a field by its value take null instead of it.
        if key in entry and level in (*WITHOUT, "unknown") and (key, level) != ("nullable", "refused"):
            yield Problem("support", location, f"{key} is for fields that the system has")
    if "default" in entry and field.part != "request":
        yield Problem("support", location, "default is for fields of requests")
    schema = entry.get("schema", {})
    if not (isinstance(schema, dict) and jsonschema_rs.meta.is_valid(schema)):
        yield Problem("support", location, "schema is not a valid JSON Schema")
    elif schema.keys() & ALL_BOUNDS and schema.keys() <= ALL_BOUNDS:
        yield Problem("support", location, "a schema of bounds needs the type")
    for key in ("nullable", "required"):
        if not _of_kinds(entry.get(key, True)):
            yield Problem("support", location, f"{key} is true, false or the kinds of object in which it is")
    if "kinds" in entry and (isinstance(entry["kinds"], bool) or not _of_kinds(entry["kinds"])):
        yield Problem("support", location, "kinds is the kinds of object in which the field is")


def _of_kinds(value: Any) -> bool:
    """Returns whether a value is a boolean, or a list of kinds of objects."""
    return isinstance(value, bool) or (
        isinstance(value, list) and value != [] and all(isinstance(kind, str) for kind in value)
    )


# With more, the differences would no longer be easy to summarize.
MOST = 20

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ENTRY = {"cases": int, "reason": str}


def differences(spec: Spec) -> Iterator[Problem]:
    """There are few differences, and each has a name, a reason and the number of requests that show it. Those that stay
    where the system is emulated are marked."""
    for system, dialect in spec.dialects.items():
        rules = dialect.get("differences", {})
        if len(rules) > MOST:
            yield Problem("differences", system, f"has {len(rules)} differences, but may have {MOST}")
        for name, entry in rules.items():
            location = f"{system} {name}"
            if not NAME.fullmatch(name):
                yield Problem("differences", location, "is not named in small letters and hyphens")
            if entry.keys() - {"emulated"} != ENTRY.keys():
                yield Problem("differences", location, f"has {', '.join(entry)}, but must have {', '.join(ENTRY)}")
                continue
            if entry.get("emulated", True) is not True:
                yield Problem("differences", location, "emulated is true or absent")
            for key, kind in ENTRY.items():
                if type(entry[key]) is not kind or not entry[key]:
                    yield Problem("differences", location, f"{key} must be given, as {kind.__name__}")


# Returns whether a schema accepts a value.
Takes = Callable[[Schema, Any], bool]

NUMBER = r"(-?\d+(?:\.\d+)?)(?!\.?\w|%)"
ERROR = r"(?:an? (?:4|5)\d\d\b|an error|refused)"


def denied(system: str, dialect: dict[str, Any], projected: dict[str, Any]) -> Iterator[Problem]:
    """What a note states about null, single numbers and bounds matches the system's document."""
    validators = Validators(projected)
    described = fields(projected)
    for field in described:
        entry = own_entry(field, dialect) or {}
        for fault in _denied(entry.get("note", ""), field, lambda schema, value: validators.of(schema).fits(value)):
            yield Problem("note", f"openapi/dialects/{system}.yaml {field.name}", fault)
    # The document of a system doesn't have what it ignores, unless a rule validates it.
    names = {field.name for field in described}
    for endpoint, content in dialect["fields"].items():
        entries = content.get("request") if isinstance(content, dict) else None
        for path, entry in entries.items() if isinstance(entries, dict) else ():
            name = field_name(endpoint, "request", path)
            if isinstance(entry, dict) and entry["level"] == "ignored" and name not in names:
                for fault in _words(entry.get("note", ""), lambda value: True):
                    yield Problem("note", f"openapi/dialects/{system}.yaml {name}", fault)


def _denied(note: str, field: Field, takes: Takes) -> Iterator[str]:
    def taken(value: Any) -> bool:
        return any(takes(owner, value) for owner in field.owners)

    for match in re.finditer(rf"\bnull (?:is|counts|means|keeps|turns)\b(?: {ERROR})?", note):
        refused = re.search(ERROR, match.group())
        if taken(None) == bool(refused):
            yield f"the note says {match.group()!r}, the schema {'takes' if refused else 'refuses'} null"
    for match in re.finditer(rf"\b[Aa]lso {NUMBER}", note):
        if not taken(_number(match.group(1))):
            yield f"the note says {match.group()!r}, which the schema refuses"
    for match in re.finditer(rf"\b(?:[Aa]t most|[Uu]p to) {NUMBER}", note):
        most = _number(match.group(1))
        beyond = [more for just, more in _around(most) if taken(just)]
        if beyond and all(taken(more) for more in beyond):
            yield f"the note says {match.group()!r}, the schema has no such bound"
    yield from _words(note, taken)
    if re.search(r"\b(?:not checked|no bounds?|any number|without a bound)\b", note, re.IGNORECASE):
        bounds = {key for owner in field.owners for _, schema in descend(owner, "") for key in schema} & ALL_BOUNDS
        if bounds:
            yield f"the note says that nothing is checked, the schema has {', '.join(sorted(bounds))}"
    if re.search(r"\bmay be (?:left out|empty)\b", note, re.IGNORECASE):
        yield "required and schema state what may be left out or empty"


# A sentence of a note whose subject is a value, and which says without a condition that it is refused or accepted. One
# with a condition needs a rule, which can't be told from words.
VALUES = {"true": True, "false": False, "a list": [], "lists": [], "a string": "", "an object": {}}
OUTRIGHT = r"(?=$|[.;]|,(?! (?:if|unless|with)))"
SENTENCE = re.compile(
    rf"(?:^|(?<=[.;:,] ))(?P<value>{'|'.join(VALUES)}|others|-?\d+(?:\.\d+)?) (?:is|are) "
    rf"(?:(?P<refused>{ERROR}|rejected)|(?P<taken>(?:accepted|taken),? too)){OUTRIGHT}",
    re.IGNORECASE,
)
BEYOND = re.compile(
    rf"(?:^|(?<=[.;] ))(?:(?:a )?values? )?(?:(?P<low>less than|below)|more than|above) "
    rf"(?P<bound>-?\d[\d,]*(?:\.\d+)?) (?:is|are) (?:{ERROR}|rejected){OUTRIGHT}",
    re.IGNORECASE,
)
OTHERS = ("no such value", -7.5, {"no such member": 1}, ["no such element"])


def _words(note: str, taken: Callable[[Any], bool]) -> Iterator[str]:
    for match in SENTENCE.finditer(note):
        value = match["value"].lower()
        tried = OTHERS if value == "others" else (VALUES[value] if value in VALUES else _number(value),)
        if match["refused"] and all(map(taken, tried)):
            yield f"the note says {match.group()!r}, the schema accepts it"
        if match["taken"] and not any(map(taken, tried)):
            yield f"the note says {match.group()!r}, the schema refuses it"
    for match in BEYOND.finditer(note):
        bound = _number(match["bound"].replace(",", ""))
        beyond = [more for just, more in _around(bound, -1 if match["low"] else 1) if taken(just)]
        if beyond and all(map(taken, beyond)):
            yield f"the note says {match.group()!r}, the schema accepts it"
    for match in re.finditer(r"\b(\w+) (?:is|are) (?:accepted|taken),? too", note):
        is_named = match[1].islower() and match[1] not in (*VALUES, "others", "it", "they")
        if is_named and not taken(match[1]):
            yield f"the note says {match.group()!r}, which the schema refuses"


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _around(bound: float, step: int = 1) -> Iterator[tuple[Any, Any]]:
    """Yields values at a bound and just beyond it, of each type that can have one. step: -1 for a lower bound."""
    yield bound, bound + step
    if isinstance(bound, int) and max(0, -step) <= bound <= 10_000:
        for value in ("a", ["a"], [1]):
            yield value * bound, value * (bound + step)
        names = [str(index) for index in range(max(bound, bound + step))]
        yield dict.fromkeys(names[:bound], "a"), dict.fromkeys(names[: bound + step], "a")
