"""The rows of dialect files, completed: what is derived or shared is written out, so that the rest of codegen reads one
form, an entry or a level by endpoint, part and path."""

import copy
from collections.abc import Mapping
from typing import Any

from specvino.codegen.declared import declared
from specvino.codegen.fields import Field, around
from specvino.codegen.merge import STANDARD, WITHOUT, Entry
from specvino.codegen.room import has_kind, has_room, kind_path
from specvino.codegen.source import SpecError
from specvino.document.system_fields import SystemFields

Rows = dict[str, Entry]

# The keys of a completed row, in order.
KEYS = ("level", "kinds", "schema", "nullable", "default", "required", "like", "note")


def of_version(dialect: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns the dialect of an older version that a file describes by its differences: its keys replace those of the
    newest version, and its rows, of the same field, theirs."""
    older: dict[str, Any] = dialect["versions"][name]
    result = copy.deepcopy({key: value for key, value in dialect.items() if key != "versions"} | older)
    result["name"] = older.get("name") or f"{dialect['name']} {name}"
    result["fields"] = _endpoints(copy.deepcopy(dialect["fields"]))
    for endpoint, parts in older.get("fields", {}).items():
        at = result["fields"].get(endpoint)
        for part, rows in parts.items() if isinstance(parts, dict) and isinstance(at, dict) else [("", None)]:
            if not isinstance(rows, dict) or not isinstance(at, dict) or not isinstance(at.get(part, {}), dict):
                raise SpecError(f"versions.{name}.fields.{endpoint}: only rows can differ, of a part that has rows")
            of_part = _rows(at.get(part, {}))
            at[part] = of_part | {path: row | {"own": True} for path, row in _rows(rows).items()}
    return result


def complete(
    dialect: dict[str, Any],
    all_fields: list[Field],
    described: SystemFields | None,
    newest: SystemFields | None = None,
    document: Mapping[str, Any] = {},
) -> None:
    """Completes a dialect's rows in place.

    A row without a level is `full`, and a level may list its fields, or endpoints. Fields may share a row (`same`). A
    field that the system's sources don't have is `ignored` or `refused`, as unknown fields are, or `absent`. One inside
    a field whose own schema has no room for it, such as a list that is always empty, is `refused` or `absent`, and so
    is one of objects whose `type` the system doesn't have. Others without a row have that of the endpoint which theirs
    is `like`. What a row doesn't state is as the system's classes declare it, unless it is listed by its level. In the
    end, the fields inside one that is `like` another, such as `responses.input`, have the rows of the fields inside
    that one.

    `document` is ours, into which references of `all_fields` lead. `newest` has the fields of the newest version, where
    `dialect` is an older one: rows of what came later don't count.
    Raises SpecError for a field with two rows, and for what is neither a row nor a list of them.
    """
    dialect["fields"] = _endpoints(dialect["fields"])
    shared = {
        endpoint: parts.pop("like", None) for endpoint, parts in dialect["fields"].items() if isinstance(parts, dict)
    }
    for endpoint in shared:
        _require_end(shared, endpoint, dialect["fields"])
    written = _with_levels(dialect["fields"])
    dialect["fields"] = copy.deepcopy(written)
    levels: dict[tuple[str, str, str], str | None] = {}
    origins = {(field.endpoint, field.part, field.path): field.origins for field in all_fields}
    for field in all_fields:
        rows = dialect["fields"].get(field.endpoint)
        rows = rows.setdefault(field.part, {}) if isinstance(rows, dict) else None
        if not isinstance(rows, dict):  # a level for the whole endpoint or part
            continue
        at = (field.endpoint, field.part, field.path)
        outer = next((key for path in around(field.path) if (key := (*at[:2], path)) in levels), None)
        level = levels[outer] if outer else None
        lacks = level in (*WITHOUT, "unknown")
        copied = any("like" in rows.get(path, {}) for path in around(field.path))
        if field.path in rows and not rows[field.path].pop("own", False) and described and newest:
            came_later = described.has(*at) is False and newest.has(*at) is not False
            if lacks or came_later:
                del rows[field.path]
        if field.path not in rows and not lacks and not copied:
            kind = kind_path(field.path)
            types = (rows.get(kind) or _of_another(written, shared, *at[:2], kind) or {}).get("schema", {})
            around_it = rows.get(outer[2], {}).get("schema", {}) if outer else {}
            if not has_kind(field, types) or (outer and not has_room(around_it, field.path.removeprefix(outer[2]))):
                rows[field.path] = {"level": "refused" if field.part == "request" else "absent"}
            elif described is not None and described.has(*at) is False:
                rows[field.path] = {"level": dialect["unknown_fields"] if field.part == "request" else "absent"}
            elif (row := _of_another(written, shared, field.endpoint, field.part, field.path)) is not None:
                rows[field.path] = {key: value for key, value in row.items() if key != "own"}
        if field.path in rows:
            level = rows[field.path].get("level")
            if rows[field.path].pop("declared", False) and level in ("full", "partial") and described:
                rows[field.path] |= _declared(field, rows[field.path], described, shared, document)
            rows[field.path] = _in_order(rows[field.path])
        elif not lacks and not (outer and level == "full" and field.origins <= origins[outer]):
            unknown = dialect["unknown_fields"] if field.part == "request" else "absent"
            level = None if field.origins & STANDARD else unknown
        levels[at] = level
    _copy_like(dialect)


def _endpoints(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the endpoints with a list of them under a level, such as `absent`, written out."""
    return {
        endpoint: key if isinstance(parts, list) else parts
        for key, parts in fields.items()
        for endpoint in (parts if isinstance(parts, list) else [key])
    }


def _declared(
    field: Field, row: Entry, described: SystemFields, shared: dict[str, str | None], document: Mapping[str, Any]
) -> Entry:
    """Returns what the system's classes declare about a field: those of the endpoint that its endpoint is like, if its
    own aren't described."""
    endpoint: str | None = field.endpoint
    while endpoint:
        classes = described.classes(endpoint, field.part, field.path)
        if classes is not None:
            return declared(field, row, classes, described.document, document)
        endpoint = shared.get(endpoint)
    return {}


def _in_order(row: Entry) -> Entry:
    """Returns a row with its keys in one order, and without a default of null, which stands for none."""
    known = [key for key in KEYS if key in row and (key, row[key]) != ("default", None)]
    return {key: row[key] for key in [*known, *(key for key in row if key not in KEYS)]}


def _with_levels(endpoints: dict[str, Any]) -> dict[str, Any]:
    return {
        endpoint: {part: _rows(rows) if isinstance(rows, dict) else rows for part, rows in parts.items()}
        if isinstance(parts, dict)
        else parts
        for endpoint, parts in endpoints.items()
    }


def _rows(rows: dict[str, Any]) -> Rows:
    result: Rows = {}
    listed: list[tuple[str, list[str], Entry]] = []
    for key, row in rows.items():
        if key == "same":
            if not isinstance(row, list) or not all(isinstance(inner, dict) and inner.get("fields") for inner in row):
                raise SpecError(f"same is {row!r}, but must be a list of rows with their fields")
            listed += [(key, inner["fields"], {"level": "full", "declared": True, **inner}) for inner in row]
        elif isinstance(row, list):
            level = "full" if key == "declared" else key
            listed.append((key, row, {"level": level, "declared": key == "declared"}))
        elif isinstance(row, str):
            result[key] = {"level": row, "declared": False}
        elif isinstance(row, dict):
            result[key] = {"level": "full", "declared": True, **row}
        else:
            raise SpecError(f"the row of {key} is {row!r}, but must be a level or an object")
    for key, paths, row in listed:
        if twice := {path for path in paths if path in result or paths.count(path) > 1}:
            raise SpecError(f"fields listed as {key} have another row: {', '.join(sorted(twice))}")
        result |= {path: {name: value for name, value in row.items() if name != "fields"} for path in paths}
    return result


def _require_end(shared: dict[str, str | None], endpoint: str, known: dict[str, Any]) -> None:
    """Raises SpecError unless what an endpoint is like exists, and leads to one that isn't like another."""
    met = [endpoint]
    while other := shared.get(met[-1]):
        if other not in known or other in met:
            fault = "is like it" if other in met else "isn't an endpoint of this file"
            raise SpecError(f"{met[-1]} is like {other}, which {fault}")
        met.append(other)


def _of_another(
    written: dict[str, Any], shared: dict[str, str | None], endpoint: str, part: str, path: str
) -> Entry | None:
    """Returns the row of the same path in the endpoint that this one is like, or that this one is like."""
    other = shared.get(endpoint)
    if other is None:
        return None
    rows = written.get(other, {})
    row = rows.get(part, {}) if isinstance(rows, dict) else {}
    if isinstance(row, dict) and path in row:
        entry: Entry = row[path]
        return entry
    return _of_another(written, shared, other, part, path)


def _copy_like(dialect: dict[str, Any]) -> None:
    for parts in dialect["fields"].values():
        paths = parts.get("request") if isinstance(parts, dict) else None
        if not isinstance(paths, dict):  # a level for the whole endpoint or part
            continue
        for path, entry in list(paths.items()):
            if like := entry.pop("like", None):
                endpoint, _, model = like.partition(".")
                for other, inner in list(dialect["fields"][endpoint]["request"].items()):
                    if other.startswith((f"{model}[]", f"{model}.")):
                        paths.setdefault(f"{path}{other.removeprefix(model)}", inner)
