"""The description that a system's sources give, as a file: so that they can be compared without the sources.

`descriptions/SYSTEM.json` has JSON Schemas that were derived from one version of a system, a line for each class, the
places of all fields, and the quoted names of files. Classes have the shortest names that tell them apart. Codegen
derives from it which fields a system lacks (`document/system_fields.py`). A wheel has the files compressed
(`setup.py`).
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specvino.document.system_fields import SystemFields
from specvino.upstream.described import Described, Part

FOLDER = Path(__file__).parent / "descriptions"


def text(source: str, described: Described) -> str:
    """Returns the content of a file: the source, such as `vllm 0.33.0`, and the schemas that the parts lead to."""
    parts = {".".join(part): schema for part, schema in described.parts.items()}
    listed = {".".join(part): schema for part, schema in described.listed.items()}
    reached = dict(_reached(described.document, [parts, listed]))
    short = _short_names(reached)
    content = {
        "source": json.dumps(source),
        "unread": json.dumps(described.unread),
        "is_partial": json.dumps(described.is_partial),
        "parts": _lines({name: _renamed(schema, short) for name, schema in parts.items()}),
        "listed": _lines({name: _renamed(schema, short) for name, schema in listed.items()}),
        "$defs": _lines({short[name]: _renamed(schema, short) for name, schema in sorted(reached.items())}),
        "places": _lines(
            {
                short.get(name, name): places
                for name, places in sorted(described.places.items())
                if places and name in short.keys() | parts.keys()
            }
        ),
        "files": _lines({".".join(part): files for part, files in described.files.items()}),
        "quoted": _lines(described.quoted),
    }
    return "{\n" + ",\n".join(f'"{key}": {value}' for key, value in content.items()) + "\n}\n"


def read(system: str) -> tuple[str, Described]:
    """Returns the source and the schemas of a system. Raises FileNotFoundError."""
    content = json.loads(_content(system))

    def by_part(key: str) -> dict[Part, Any]:
        return {(name.partition(".")[0], name.partition(".")[2]): value for name, value in content[key].items()}

    return content["source"], Described(
        {"$defs": content["$defs"]},
        by_part("parts"),
        tuple(content["unread"]),
        content["is_partial"],
        by_part("listed"),
        content["places"],
        content["quoted"],
        {part: tuple(files) for part, files in by_part("files").items()},
    )


def fields_of(described: Described) -> SystemFields:
    """Returns the fields that sources describe."""
    parts, listed, files = (
        {".".join(part): value for part, value in of.items()}
        for of in (described.parts, described.listed, described.files)
    )
    return SystemFields(
        {
            **described.document,
            "parts": parts,
            "listed": listed,
            "files": files,
            "unread": described.unread,
            "is_partial": described.is_partial,
            "places": described.places,
            "quoted": described.quoted,
        }
    )


def read_fields(system: str) -> SystemFields | None:
    """Returns the fields of the described version; None if nothing describes the system."""
    return SystemFields(json.loads(_content(system))) if system in systems() else None


def systems() -> list[str]:
    """Returns the systems with a description."""
    return sorted(path.name.partition(".json")[0] for path in FOLDER.glob("*.json*"))


def _content(system: str) -> bytes:
    path = FOLDER / f"{system}.json"
    packed = path.with_name(f"{path.name}.xz")
    return lzma.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes()


def _lines(schemas: dict[str, Any]) -> str:
    lines = (f"{json.dumps(name)}: {json.dumps(schema)}" for name, schema in schemas.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for child in node:
            yield from _references(child)
    elif isinstance(node, dict):
        for key, child in node.items():
            if key == "$ref" and isinstance(child, str):
                yield child
            else:
                yield from _references(child)


def _reached(document: dict[str, Any], parts: Any) -> Iterator[tuple[str, Any]]:
    met: set[str] = set()
    left = [*_references(parts)]
    while left:
        reference = left.pop()
        if reference not in met:
            met.add(reference)
            _, _, reading, name = reference.split("/", 3)
            schema = document["$defs"][reading][name]
            yield reference, schema
            left += _references(schema)


def _short_names(references: dict[str, Any]) -> dict[str, str]:
    """Returns `reading.Class` for each reference, with as many of the module's names as it takes."""
    steps = {reference: reference.split("/", 3)[3].split(".") for reference in references}
    reading = {reference: reference.split("/", 3)[2] for reference in references}
    size = dict.fromkeys(references, 1)
    while True:
        names = {reference: ".".join([reading[reference], *steps[reference][-size[reference] :]]) for reference in size}
        count = Counter(names.values())
        longer = [
            reference
            for reference, name in names.items()
            if count[name] > 1 and size[reference] < len(steps[reference])
        ]
        if not longer:
            return names
        for reference in longer:
            size[reference] += 1


def _renamed(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, list):
        return [_renamed(child, names) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"#/$defs/{names[value]}" if key == "$ref" and isinstance(value, str) else _renamed(value, names)
        for key, value in node.items()
    }
